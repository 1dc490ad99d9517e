//! Reads the attachments of a question on the command line: a conversation file, and files to attach.
#![expect(clippy::disallowed_methods, reason = "the binary reads what the user names")]

use std::path::Path;

use spelunk_app::app::App;
use spelunk_app::asking::{ATTACHED_BYTES_MAX, ATTACHED_MAX, AttachmentError, Attachments, QuestionInput};
use spelunk_app::failure::{Failure, Usage};
use spelunk_engine::Conversation;

use super::AskArgs;

/// Reads the question. With a conversation, every positional argument is a path.
pub(super) fn asked(app: &App, args: &mut AskArgs) -> Result<QuestionInput, Failure> {
    let mut along = attached(app, &args.attach)?;
    let Some(file) = args.messages.clone() else {
        return Ok(QuestionInput {
            question: args.question.clone().unwrap_or_default(),
            attachments: along.into_inputs(),
        });
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
    let question = along.converse(&conversation);
    Ok(QuestionInput { question, attachments: along.into_inputs() })
}

fn attached(app: &App, files: &[String]) -> Result<Attachments, Failure> {
    if files.len() > ATTACHED_MAX {
        let message = format!("{} files are attached, at most {ATTACHED_MAX} can be", files.len());
        return Err(Usage { message, hint: "name their directory as a path".into() }.into());
    }
    let mut along = Attachments::default();
    for file in files {
        let refused = |why: String| Usage {
            message: format!("could not attach `{file}`: {why}"),
            hint: "name a file; directories and large files are named as paths".into(),
        };
        let bytes = read(&app.current_dir.join(file)).map_err(refused)?;
        let given = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        along.attach(&given, bytes).map_err(|error| refused(error.to_string()))?;
    }
    Ok(along)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let found = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("it is not a file".to_owned());
    }
    if found.len() > ATTACHED_BYTES_MAX {
        return Err(AttachmentError::Size { bytes: found.len() }.to_string());
    }
    std::fs::read(path).map_err(|error| error.to_string())
}
