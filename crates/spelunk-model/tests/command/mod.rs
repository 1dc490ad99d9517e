//! Programs as models: their input, their output, and how they fail.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use spelunk_model::{
    CommandModel, CommandOptions, CommandOutput, Image, Message, Model, ModelDelta, ModelError, Part, Price,
    Prompt, collect,
};
use spelunk_types::{BlobId, Explain, StopReason, Usage};

use crate::adapter::{ask, call, deltas, stream};

fn options(script: &str, output: CommandOutput) -> CommandOptions {
    CommandOptions {
        program: "sh".to_owned(),
        arguments: vec!["-c".to_owned(), script.to_owned()],
        name: "scripted".to_owned(),
        output,
        price: None,
    }
}

fn text(script: &str) -> CommandModel {
    CommandModel::new(options(script, CommandOutput::Text)).unwrap()
}

fn lines(script: &str) -> CommandModel {
    CommandModel::new(options(script, CommandOutput::JsonLines)).unwrap()
}

#[tokio::test]
async fn a_program_gets_the_prompt_and_its_output_is_the_answer() {
    let reply = ask(&text("cat"), "0#0").await.unwrap();
    let told: Value = serde_json::from_str(&reply.text).unwrap();
    let messages = json!([{ "role": "user", "content": "User" }]);
    let expected =
        json!({ "model": "scripted", "system": "Sys", "messages": messages, "output_tokens_max": 100 });
    assert_eq!(told, expected);
    assert_eq!((reply.stop, reply.usage), (StopReason::Finished, None));
}

#[tokio::test]
async fn a_program_gets_images_in_base64() {
    let digest = BlobId::from_hash([0; 32]);
    let bytes = b"\x89PNG".as_slice().into();
    let image = Image {
        name: "a.png".to_owned(),
        media_type: "image/png",
        width: 2,
        height: 3,
        pages: 1,
        digest,
        bytes,
    };
    let messages = vec![Message::user("What?").with_parts([Part::Image(image)])];
    let prompt = Prompt { messages, ..Prompt::default() };
    let reply = collect(text("cat").stream(&prompt, &call("0#0")), 1000, |_| {}).await.unwrap();
    let told: Value = serde_json::from_str(&reply.text).unwrap();
    let images = json!([{ "media_type": "image/png", "data": "iVBORw==" }]);
    assert_eq!(told["messages"], json!([{ "role": "user", "content": "What?", "images": images }]));
}

#[tokio::test]
async fn line_ends_at_the_end_are_dropped_and_others_kept() {
    assert_eq!(ask(&text(r"printf 'a\n\nb\n\r\n\n'"), "0#0").await.unwrap().text, "a\n\nb");
}

#[tokio::test]
async fn a_program_that_prints_nothing_has_not_answered() {
    let empty = Err(ModelError::ReplyEmpty { stop: StopReason::Finished, usage: None });
    assert_eq!(ask(&text("exec true"), "0#0").await, empty);
    assert_eq!(ask(&text("echo; echo ' '"), "0#0").await, empty);
    let usage = Usage { input_tokens: 9, output_tokens: 5, ..Usage::default() };
    let cut = r#"echo '{"reasoning":"hm"}'; echo '{"done":{"stop":"length","usage":{"input_tokens":9,"output_tokens":5}}}'"#;
    let error = ask(&lines(cut), "0#0").await.unwrap_err();
    assert_eq!(error, ModelError::ReplyEmpty { stop: StopReason::Length, usage: Some(usage) });
    assert!(!error.is_transient());
    assert_eq!(
        error.to_string(),
        "the reply is empty: the model used up its output limit before it began to answer"
    );
}

#[tokio::test]
async fn json_lines_tell_reasoning_calls_and_usage() {
    let script = r#"cat >/dev/null
echo '{"reasoning":"hm"}'
echo
echo '{"text":"yes"}'
echo '{"tool_call":{"id":"c1","name":"grep","arguments":{"q":1}}}'
echo '{"tool_call":{"name":"now"}}'
printf '{"done":{"stop":"length","usage":{"input_tokens":1000,"output_tokens":10}}}'"#;
    let price = Price { input_microusd_per_mtok: 1_000_000, ..Price::FREE };
    let priced = CommandOptions { price: Some(price), ..options(script, CommandOutput::JsonLines) };
    let model = CommandModel::new(priced).unwrap();
    let (seen, error) = deltas(stream(&model, "0#0")).await;
    let call = |id: &str, name: &str, arguments: &str| {
        let [id, name, arguments] = [id, name, arguments].map(str::to_owned);
        ModelDelta::ToolCall(spelunk_model::ToolCall { id, name, arguments, signature: None })
    };
    let usage = Usage { input_tokens: 1000, output_tokens: 10, cost_microusd: 1000, ..Usage::default() };
    let expected = [
        ModelDelta::Reasoning("hm".to_owned()),
        ModelDelta::Text("yes".to_owned()),
        call("c1", "grep", r#"{"q":1}"#),
        call("call-1", "now", "{}"),
        ModelDelta::Done { stop: StopReason::Length, usage: Some(usage) },
    ];
    assert_eq!((seen.as_slice(), error), (expected.as_slice(), None));
}

#[tokio::test]
async fn a_program_that_fails_is_told_with_the_end_of_its_complaints() {
    let failed = |status: &str, detail: &str| {
        let [program, status, detail] = ["sh", status, detail].map(str::to_owned);
        Err(ModelError::CommandFailed { program, status, detail })
    };
    let script = "echo half; echo 'no such' >&2; echo model >&2; exit 3";
    assert_eq!(ask(&text(script), "0#0").await, failed("exit status: 3", "no such model"));
    let flood = "yes complaint | head -c 300000 >&2; echo end >&2; exit 1";
    let Err(ModelError::CommandFailed { detail, .. }) = ask(&text(flood), "0#0").await else {
        panic!("it failed")
    };
    assert!(detail.chars().count() <= 300, "{detail}");
    assert_eq!(ask(&lines(r#"echo '{"error":"no credit"}'"#), "0#0").await, failed("an error", "no credit"));
    let error = ask(&text("exit 1"), "0#0").await.unwrap_err();
    assert!(error.is_transient() && error.hint().is_some());
}

#[tokio::test]
async fn a_program_that_does_not_read_or_writes_nonsense_is_no_trouble() {
    assert_eq!(ask(&text("exec 0<&-; echo deaf"), "0#0").await.unwrap().text, "deaf");
    let malformed = |detail: &str| Err(ModelError::ReplyMalformed { detail: detail.to_owned() });
    assert_eq!(ask(&text(r"printf '\377'"), "0#0").await, malformed("it is not UTF-8"));
    assert_eq!(ask(&text(r"printf 'a\303'"), "0#0").await, malformed("it is not UTF-8"));
    let expected = malformed("a line is not valid: expected value at line 1 column 1");
    assert_eq!(ask(&lines("echo hello"), "0#0").await, expected);
    let missing =
        CommandOptions { program: "no-such-program".to_owned(), ..options("", CommandOutput::Text) };
    let detail = "could not start it: No such file or directory (os error 2)".to_owned();
    let base_url = "command:no-such-program".to_owned();
    let error = ask(&CommandModel::new(missing).unwrap(), "0#0").await;
    assert_eq!(error, Err(ModelError::Unreachable { base_url, detail }));
    let unnamed = CommandOptions { program: " ".to_owned(), ..options("", CommandOutput::Text) };
    assert!(CommandModel::new(unnamed).is_err());
}

/// A large prompt to a program that answers first: neither side may block the other.
#[tokio::test]
async fn input_and_output_flow_at_the_same_time() {
    let model = text("head -c 1000000 /dev/zero | tr '\\0' x; cat >/dev/null");
    let prompt = Prompt::single("s".repeat(2_000_000), "u", 1);
    let call = call("0#0");
    let reply = collect(model.stream(&prompt, &call), 2_000_000, |_| {}).await.unwrap();
    assert_eq!(reply.text.len(), 1_000_000);
}

/// The program prints its process id and would run for minutes; dropping the reply kills it.
#[tokio::test]
async fn a_reply_nobody_waits_for_ends_the_program() {
    let model = text("echo $$; exec sleep 600");
    let mut reply = stream(&model, "0#0");
    let Some(Ok(ModelDelta::Text(pid))) = reply.next().await else { panic!("it tells its id") };
    let process = std::path::PathBuf::from(format!("/proc/{}", pid.trim()));
    assert!(process.exists());
    drop(reply);
    // The runtime reaps it a moment later.
    let is_gone = async {
        while process.exists() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), is_gone).await.unwrap();
}

#[test]
fn the_reference_names_the_program_and_tells_commands_apart() {
    let model = text("true");
    let reference = model.reference();
    let (program, digest) = reference.base_url.rsplit_once('#').unwrap();
    assert_eq!((reference.provider.as_str(), program, digest.len()), ("command", "command:sh", 12));
    assert_eq!(model.facts().price, None);
    assert_eq!(text("true").reference(), reference);
    // Another argument, the same words split differently, another output format.
    assert_ne!(text("false").reference(), reference);
    assert_ne!(lines("true").reference(), reference);
    let of = |arguments: &[&str]| {
        let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        let options = CommandOptions { arguments, ..options("", CommandOutput::Text) };
        CommandModel::new(options).unwrap().reference().base_url.clone()
    };
    assert_ne!(of(&["a", "b"]), of(&["a b"]));
    assert_ne!(of(&["a"]), of(&["a", ""]));
    let secret = of(&["--token", "sk-secret"]);
    assert!(!secret.contains("sk-secret"), "{secret}");
    assert!(CommandModel::is_of_program(&secret, "command:sh"));
    assert!(!CommandModel::is_of_program(&secret, "command:s"));
    assert!(!CommandModel::is_of_program(&secret, &of(&["other"])));
}
