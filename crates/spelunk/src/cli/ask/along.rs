//! What comes along with a question: a conversation in its place, and files that are attached to it. Both become texts of
//! the run, so that a resumed run finds them again and answers can cite them.
#![expect(clippy::disallowed_methods, reason = "the binary reads what the user names")]

use std::collections::BTreeSet;
use std::path::Path;

use spelunk_context::SourceInput;
use spelunk_engine::Conversation;

use super::AskArgs;
use crate::cli::app::{App, Failure, Usage};

/// The largest file that is attached; larger ones are named as paths, and stay where they are.
const ATTACHED_BYTES_MAX: u64 = 16_000_000;
/// Files that are attached at once.
const ATTACHED_MAX: usize = 200;

/// What is asked, and what came along.
pub(super) struct Asked {
    pub(super) question: String,
    pub(super) along: Vec<SourceInput>,
}

/// Reads what is asked. With a conversation, everything that is named besides is a path.
pub(super) fn asked(app: &App, args: &mut AskArgs) -> Result<Asked, Failure> {
    let mut along = attached(app, &args.attach)?;
    let Some(file) = args.messages.clone() else {
        return Ok(Asked { question: args.question.clone().unwrap_or_default(), along });
    };
    args.paths.splice(0..0, args.question.take());
    let read = std::fs::read_to_string(app.current_dir.join(&file)).map_err(|error| Usage {
        message: format!("could not read the conversation `{file}`: {error}"),
        hint: "name a file of JSON with a list of messages".into(),
    })?;
    let conversation = Conversation::read(&read).map_err(|error| Usage {
        message: format!("`{file}` is no conversation: {error}"),
        hint: "write it as `[{\"role\": \"user\", \"content\": \"...\"}]`".into(),
    })?;
    let bytes = conversation.json().into_bytes();
    along.push(SourceInput::Text { name: Conversation::DOCUMENT.to_owned(), bytes });
    Ok(Asked { question: conversation.rendered(), along })
}

fn attached(app: &App, files: &[String]) -> Result<Vec<SourceInput>, Failure> {
    if files.len() > ATTACHED_MAX {
        let message = format!("{} files are attached, at most {ATTACHED_MAX} can be", files.len());
        return Err(Usage { message, hint: "name their directory as a path".into() }.into());
    }
    let mut taken = BTreeSet::new();
    let mut along = Vec::new();
    for file in files {
        let bytes = read(&app.current_dir.join(file)).map_err(|why| Usage {
            message: format!("could not attach `{file}`: {why}"),
            hint: "name a file; directories and large files are named as paths".into(),
        })?;
        let given = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        let (document, name) = Conversation::attachment(&given, &taken);
        taken.insert(name);
        along.push(SourceInput::Text { name: document, bytes });
    }
    Ok(along)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let found = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("it is not a file".to_owned());
    }
    if found.len() > ATTACHED_BYTES_MAX {
        return Err(format!("it has {} bytes, at most {ATTACHED_BYTES_MAX} are attached", found.len()));
    }
    std::fs::read(path).map_err(|error| error.to_string())
}
