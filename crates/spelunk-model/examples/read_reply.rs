//! Sends one question to an Anthropic server and prints what the adapter read of the reply, as JSON:
//! `read_reply BASE_URL`. `.ci/providers` compares it with what the provider's own client reads.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program whose output is its purpose")]

use std::process::ExitCode;

use serde_json::json;
use spelunk_model::{AnthropicModel, Model as _, ModelOptions, Prompt, Secret, collect};
use spelunk_types::Explain as _;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(base_url) = std::env::args().nth(1) else {
        eprintln!("usage: read_reply BASE_URL");
        return ExitCode::from(2);
    };
    let options = ModelOptions {
        base_url,
        name: "recorded".to_owned(),
        key: Some(Secret::new("key")),
        price: None,
        label_calls: false,
    };
    let model = AnthropicModel::new(options).expect("the address is a URL");
    let stream = model.stream(&Prompt::single("", "Hello", 1_000), &"0#0".parse().expect("an id"));
    let read = match collect(stream, 1_000_000, |_| {}).await {
        Ok(reply) => json!({
            "text": reply.text,
            "stop": reply.stop,
            "usage": reply.usage,
            "tool_calls": reply.tool_calls.iter().map(|call| json!([call.name, call.arguments])).collect::<Vec<_>>(),
        }),
        Err(error) => json!({ "error": error.code().name(), "message": error.to_string() }),
    };
    println!("{read}");
    ExitCode::SUCCESS
}
