//! The embedded model before its file is opened: window, template, and what distinguishes two models.

use super::*;

fn options(template: Option<&str>, of_file: Option<u64>, wanted: Option<u64>) -> EmbeddedOptions {
    EmbeddedOptions {
        name: "m".to_owned(),
        path: PathBuf::from("/nowhere/m.gguf"),
        bytes: 12,
        header: GgufHeader {
            architecture: "qwen2".to_owned(),
            name: None,
            size_label: None,
            context_tokens: of_file,
            chat_template: template.map(str::to_owned),
        },
        context_tokens: wanted,
        temperature: 0.0,
        seed: 0,
        threads: None,
    }
}

const CHATML: Option<&str> = Some("<|im_start|> <|im_end|>");

#[test]
fn the_window_is_that_of_the_file_unless_a_shorter_one_is_asked_for() {
    let window = |of_file, wanted| {
        EmbeddedModel::new(options(CHATML, of_file, wanted)).unwrap().facts().window_tokens.unwrap()
    };
    assert_eq!(window(Some(8_192), None), 8_192);
    assert_eq!(window(Some(8_192), Some(2_000)), 2_000);
    assert_eq!(window(Some(8_192), Some(100_000)), 8_192);
    assert_eq!(window(Some(131_072), None), 32_768);
    assert_eq!(window(Some(131_072), Some(131_072)), 131_072);
    assert_eq!(window(None, None), 32_768);
}

#[test]
fn a_template_of_another_form_is_refused_with_what_to_do() {
    for template in [None, Some("<start_of_turn>")] {
        let error = EmbeddedModel::new(options(template, None, None)).unwrap_err();
        assert!(error.to_string().contains("neither ChatML nor that of Llama 3"), "{error}");
        assert!(!error.is_transient());
    }
}

#[test]
fn the_reference_tells_another_file_and_other_dice_apart() {
    let reference = |bytes, temperature| {
        let options = EmbeddedOptions { bytes, temperature, seed: 3, ..options(CHATML, None, None) };
        EmbeddedModel::new(options).unwrap().reference().clone().base_url
    };
    assert_eq!(reference(12, 0.0), "local:m#12");
    assert_eq!(reference(13, 0.0), "local:m#13");
    assert_eq!(reference(12, 0.5), "local:m#12?temperature=0.5&seed=3");
}

#[test]
fn the_reference_tells_the_size_that_the_file_tells() {
    let reference = |size: &str| {
        let mut options = options(CHATML, None, None);
        options.header.size_label = Some(size.to_owned());
        EmbeddedModel::new(options).unwrap().reference().clone().base_url
    };
    assert_eq!(reference("1.5B"), "local:m#12-1.5B");
    assert_eq!(reference("1.5B\n#"), "local:m#12");
    assert_eq!(reference(&"9".repeat(17)), "local:m#12");
}

#[tokio::test]
async fn a_file_that_is_gone_fails_the_call_and_the_next_one_tries_anew() {
    use futures_util::StreamExt as _;
    let model = EmbeddedModel::new(options(CHATML, None, None)).unwrap();
    let call = CallId { frame: spelunk_types::FrameId::root(), ordinal: 0 };
    for _ in 0..2 {
        let error = model.stream(&Prompt::single("", "hello", 5), &call).next().await.unwrap().unwrap_err();
        assert!(error.to_string().contains("its file does not exist"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_hears_every_second_that_the_thread_lives() {
    use futures_util::StreamExt as _;
    let (reply, deltas) = unbounded_channel();
    let runner = Arc::new(Runner { jobs: channel().0, n_calls: Arc::default() });
    let mut stream = Replies { deltas, _runner: runner }.into_stream();
    let sign = Some(Ok(ModelDelta::Reasoning(String::new())));
    assert_eq!(stream.next().await, sign);
    assert_eq!(stream.next().await, sign);
    let word = ModelDelta::Text("word".to_owned());
    reply.send(Ok(word.clone())).unwrap();
    assert_eq!(stream.next().await, Some(Ok(word)));
    assert_eq!(stream.next().await, sign);
    drop(reply);
    assert_eq!(stream.next().await, None);
}
