//! Attachments: the conversation that replaces a question, and the files attached to it. Both
//! become documents of the run, so that a resumed run finds them again and answers can cite them.
//! Clients choose the names, so each name is sanitized and stays in the attachments folder.

use std::collections::BTreeSet;

use spelunk_context::SourceInput;
use spelunk_engine::Conversation;

use super::prompt;
use crate::failure::Usage;

/// The largest attachment, in bytes; larger files must be passed as paths and are read in place.
pub const ATTACHED_BYTES_MAX: u64 = 16_000_000;
pub const ATTACHED_MAX: usize = 200;
const TOTAL_BYTES_MAX: u64 = 200_000_000;
const FOLDER: &str = "attachments/";
const PROMPT: &str = "prompt.md";

/// Longer conversations are shortened for strategies that show a model only the beginning of a question.
const CONVERSATION_BYTES_MAX: usize = 30_000;
const EARLIER: &str = "[earlier messages are in `messages.json`]\n\n";

/// The last messages of a conversation, including the one to answer. The whole conversation is a document of the run.
pub fn last_messages(conversation: String) -> String {
    if conversation.len() <= CONVERSATION_BYTES_MAX {
        return conversation;
    }
    let from = conversation.ceil_char_boundary(conversation.len() - (CONVERSATION_BYTES_MAX - EARLIER.len()));
    let tail = conversation.get(from..).unwrap_or_default();
    // Start at the first complete message; a single message longer than the limit is truncated.
    let whole = tail.find("\n## ").and_then(|at| tail.get(at + 1..)).unwrap_or(tail);
    format!("{EARLIER}{whole}")
}

#[derive(Debug, Default)]
pub struct Attachments {
    taken: BTreeSet<String>,
    inputs: Vec<SourceInput>,
    n_attached: usize,
    bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttachmentError {
    #[error("at most {ATTACHED_MAX} files can be attached")]
    Number,
    #[error("it has {bytes} bytes; the maximum is {ATTACHED_BYTES_MAX}")]
    Size { bytes: u64 },
    #[error("the attachments have more than {TOTAL_BYTES_MAX} bytes in total")]
    Total,
}

impl Attachments {
    /// Starts with sources that already have names, which may include attachments.
    pub(crate) fn beside(inputs: Vec<SourceInput>) -> Self {
        let mut attachments = Self::default();
        for input in &inputs {
            let SourceInput::Text { name, bytes } = input else { continue };
            if let Some(name) = name.strip_prefix(FOLDER) {
                attachments.taken.insert(name.to_owned());
                attachments.n_attached += 1;
                attachments.bytes = attachments.bytes.saturating_add(bytes.len() as u64);
            }
        }
        attachments.inputs = inputs;
        attachments
    }

    /// Attaches a file under its sanitized name.
    pub fn attach(&mut self, given: &str, bytes: Vec<u8>) -> Result<(), AttachmentError> {
        let n_bytes = bytes.len() as u64;
        if n_bytes > ATTACHED_BYTES_MAX {
            return Err(AttachmentError::Size { bytes: n_bytes });
        }
        if self.n_attached >= ATTACHED_MAX {
            return Err(AttachmentError::Number);
        }
        self.bytes = self.bytes.saturating_add(n_bytes);
        if self.bytes > TOTAL_BYTES_MAX {
            return Err(AttachmentError::Total);
        }
        let (document, name) = Conversation::attachment(given, &self.taken);
        self.taken.insert(name);
        self.n_attached += 1;
        self.inputs.push(SourceInput::Text { name: document, bytes });
        Ok(())
    }

    /// Takes a request of any length and returns the question. A long request becomes a document.
    pub fn request(&mut self, request: String) -> Result<String, Usage> {
        if !prompt::is_long(&request) {
            return Ok(request);
        }
        prompt::require_request(&request)?;
        let question = prompt::excerpt(PROMPT, &request);
        self.inputs.push(SourceInput::Text { name: PROMPT.to_owned(), bytes: request.into_bytes() });
        Ok(question)
    }

    /// Attaches a conversation and returns its text as the question. Its long messages become
    /// documents of their own.
    pub fn converse(&mut self, mut conversation: Conversation) -> Result<String, Usage> {
        let long = conversation.take_long(prompt::is_long, |name, text, is_request| {
            if !is_request {
                return Ok(prompt::beginning(name, text));
            }
            prompt::require_request(text)?;
            Ok(prompt::excerpt(name, text))
        })?;
        let bytes = conversation.json().into_bytes();
        self.inputs.push(SourceInput::Text { name: Conversation::DOCUMENT.to_owned(), bytes });
        let document = |(name, text): (String, String)| SourceInput::Text { name, bytes: text.into_bytes() };
        self.inputs.extend(long.into_iter().map(document));
        Ok(conversation.rendered())
    }

    pub fn into_inputs(self) -> Vec<SourceInput> {
        self.inputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(attachments: Attachments) -> Vec<String> {
        let name = |input: SourceInput| match input {
            SourceInput::Text { name, .. } => name,
            SourceInput::Path(_)
            | SourceInput::Typed { .. }
            | SourceInput::Kept { .. }
            | SourceInput::Database(_)
            | SourceInput::Objects(_) => "another".to_owned(),
        };
        attachments.into_inputs().into_iter().map(name).collect()
    }

    #[test]
    fn names_stay_in_their_folder_and_apart() {
        let given = SourceInput::Text { name: "attachments/a.md".into(), bytes: Vec::new() };
        let mut attachments = Attachments::beside(vec![given]);
        for name in ["../../etc/passwd", "A.md", "a.md", "", "..", "con", "x\0y\n.txt", "/"] {
            attachments.attach(name, Vec::new()).unwrap();
        }
        let names = names(attachments);
        assert!(names.iter().all(|name| name.starts_with("attachments/")), "{names:?}");
        assert!(
            names.iter().all(|name| !name.contains("..") && !name.contains(char::is_control)),
            "{names:?}"
        );
        let lower: BTreeSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(lower.len(), names.len(), "{names:?}");
        assert_eq!(names[1], "attachments/passwd");
    }

    #[test]
    fn a_long_conversation_is_asked_by_its_end() {
        let short = "## user\nWhy?\n".to_owned();
        assert_eq!(last_messages(short.clone()), short);
        let long = format!("## user\n{}\n\n## user\nWhy?\n", "é".repeat(20_000));
        assert_eq!(last_messages(long), format!("{EARLIER}## user\nWhy?\n"));
        let one = format!("## user\n{}Why?\n", "é".repeat(20_000));
        let cut = last_messages(one);
        assert!(cut.len() <= CONVERSATION_BYTES_MAX && cut.starts_with(EARLIER) && cut.ends_with("éWhy?\n"));
    }

    #[test]
    fn number_and_size_are_bounded() {
        let mut attachments = Attachments::default();
        let large = vec![b'x'; usize::try_from(ATTACHED_BYTES_MAX).unwrap() + 1];
        assert_eq!(
            attachments.attach("a", large),
            Err(AttachmentError::Size { bytes: ATTACHED_BYTES_MAX + 1 })
        );
        for _ in 0..ATTACHED_MAX {
            attachments.attach("a", Vec::new()).unwrap();
        }
        assert_eq!(attachments.attach("a", Vec::new()), Err(AttachmentError::Number));
        assert_eq!(names(attachments).len(), ATTACHED_MAX);
        let mut attachments = Attachments { bytes: TOTAL_BYTES_MAX, ..Attachments::default() };
        assert_eq!(attachments.attach("a", vec![b'x']), Err(AttachmentError::Total));
    }
}
