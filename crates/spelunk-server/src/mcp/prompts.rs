//! Prompts that a client offers to its user: how to explore text with these tools, and how to review a directory.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use super::cut;

const SESSION: &str = include_str!("prompts/rlm-session.md");
const REVIEW: &str = include_str!("prompts/review-directory.md");
const ARGUMENT_CHARS_MAX: usize = 10_000;

pub(super) fn list() -> Vec<Prompt> {
    let question = PromptArgument::new("question").with_description("The question").with_required(true);
    let paths = PromptArgument::new("paths")
        .with_description("Files or directories, separated by commas; default: the registered contexts")
        .with_required(false);
    let path = PromptArgument::new("path").with_description("The directory").with_required(true);
    let focus = PromptArgument::new("focus")
        .with_description("general, security, architecture, performance or data")
        .with_required(false);
    let session = "Answer a question from text that is too large to read, by exploring it";
    let review = "Review every file of a directory and report the findings";
    vec![
        Prompt::new("rlm-session", Some(session), Some(vec![question, paths]))
            .with_title("Explore large text"),
        Prompt::new("review-directory", Some(review), Some(vec![path, focus]))
            .with_title("Review a directory"),
    ]
}

pub(super) fn get(name: &str, arguments: Option<&JsonObject>) -> Result<GetPromptResult, ErrorData> {
    let argument = |name: &str| -> Option<String> {
        let given = arguments?.get(name)?.as_str()?;
        Some(cut(given, ARGUMENT_CHARS_MAX).0)
    };
    let needed = |name: &str| {
        argument(name)
            .ok_or_else(|| ErrorData::invalid_params(format!("the argument `{name}` is missing"), None))
    };
    let text = match name {
        "rlm-session" => {
            let paths = argument("paths").unwrap_or_else(|| "the registered contexts".to_owned());
            SESSION.replace("{paths}", &paths).replace("{question}", &needed("question")?)
        }
        "review-directory" => {
            let focus = argument("focus").unwrap_or_else(|| "general".to_owned());
            REVIEW.replace("{focus}", &focus).replace("{path}", &needed("path")?)
        }
        _ => return Err(ErrorData::invalid_params("there is no prompt of that name", None)),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text.trim_end())]))
}
