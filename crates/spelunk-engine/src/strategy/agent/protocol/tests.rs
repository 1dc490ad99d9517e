//! Tool calls in the text of a reply.

use super::read_block;

#[test]
fn a_block_of_text_is_a_call() {
    let call =
        read_block("I will look.\n\n```tool\n{\"name\": \"Read\", \"arguments\": {\"path\": \"a\"}}\n```\n")
            .unwrap();
    assert_eq!((call.name.as_str(), call.arguments.as_str()), ("Read", r#"{"path":"a"}"#));
    let bare = read_block("```tool\n{\"tool\": \"Finish\"}").unwrap();
    assert_eq!((bare.name.as_str(), bare.arguments.as_str()), ("Finish", "{}"));
    assert_eq!(read_block("no block"), None);
}

#[test]
fn a_block_that_is_no_call_is_told_so_by_its_name() {
    let broken = read_block("```tool\n{\"name\": Read}\n```").unwrap();
    assert_eq!((broken.name.as_str(), broken.arguments.as_str()), ("tool", "{\"name\": Read}"));
}
