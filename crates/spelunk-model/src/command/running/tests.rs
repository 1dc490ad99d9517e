//! Output means the same however it is split. Real programs are tested in `tests/command`.

use proptest::prelude::*;

use super::*;

/// The joined text of output that arrives in these pieces, or the error.
fn read(output: CommandOutput, pieces: &[&[u8]]) -> Result<String, ModelError> {
    let options = CommandOptions {
        program: "p".to_owned(),
        arguments: Vec::new(),
        name: "m".to_owned(),
        output,
        price: None,
    };
    let context = RequestContext::new("command:p".to_owned(), "m".to_owned(), Vec::new());
    let mut running = Running::new(Arc::new(options), Vec::new(), context);
    for piece in pieces {
        running.read(piece)?;
    }
    running.end(ExitStatus::default())?;
    let texts = running.ready.into_iter().filter_map(|delta| match delta {
        ModelDelta::Text(text) => Some(text),
        ModelDelta::Reasoning(_)
        | ModelDelta::ToolCall(_)
        | ModelDelta::Certainty(_)
        | ModelDelta::Done { .. } => None,
    });
    Ok(texts.collect())
}

#[test]
fn a_character_and_a_line_that_arrive_byte_by_byte_are_whole() {
    let bytes = "Grüße\n\n日本\n\n".as_bytes();
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(CommandOutput::Text, &single).unwrap(), "Grüße\n\n日本");
    let bytes = "{\"text\":\"ü\"}\n\n{\"text\":\"\"}\n{\"text\":\"b\"}".as_bytes();
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(CommandOutput::JsonLines, &single).unwrap(), "üb");
}

#[test]
fn a_line_without_end_is_refused() {
    let long = vec![b'x'; LINE_BYTES_MAX + 1];
    let bytes_max = LINE_BYTES_MAX as u64;
    assert_eq!(read(CommandOutput::JsonLines, &[&long]), Err(ModelError::ReplyTooLong { bytes_max }));
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same(text in "[a-zäß\n\r日]{0,30}", at in prop::collection::vec(0..60usize, 0..5)) {
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = at.into_iter().map(|at| at.min(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(read(CommandOutput::Text, &pieces), Ok(text.trim_end_matches(['\n', '\r']).to_owned()));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        drop(read(CommandOutput::Text, &[&bytes]));
        drop(read(CommandOutput::JsonLines, &[&bytes]));
    }
}
