//! An answer that is being written: decides what can be sent now. What a later check may change is held back.

use spelunk_app::units::safe;

use super::super::runs::SaidPiece;
use super::CompatRequest;

/// Beginnings of replies that are not answers: calls, code, tags, or that nothing was found.
const NO_ANSWERS: [&str; 5] = ["{", "[", "<", "```", "NOT FOUND"];
/// What ends the prose and begins evidence or code.
const FENCES: [&str; 2] = ["```", "~~~"];

#[derive(Debug, Default)]
pub(super) struct Draft {
    /// The call that is being answered, and its reply so far.
    ordinal: u32,
    reply: String,
    /// Bytes of the reply.
    n_sent: usize,
    has_sent: bool,
    /// Whether the whole reply is the answer, including code.
    is_free: bool,
    chars_left: usize,
    is_over: bool,
}

impl Draft {
    pub(super) fn of(asked: &CompatRequest) -> Self {
        Self {
            is_free: asked.tools.is_some(),
            chars_left: asked.answer_chars_max.unwrap_or(usize::MAX),
            // JSON is normalised once it is complete.
            is_over: asked.is_typed,
            ..Self::default()
        }
    }

    pub(super) fn take(&mut self, piece: SaidPiece) -> String {
        let (ordinal, text) = match piece {
            SaidPiece::More { ordinal, text } => (ordinal, text),
            SaidPiece::Anew => {
                self.is_over |= self.has_sent || !self.reply.is_empty();
                return String::new();
            }
        };
        let mut gap = "";
        if ordinal != self.ordinal {
            // A second reply is part of the answer only in a conversation with tools.
            self.is_over |= !self.is_free && self.has_sent;
            (self.ordinal, self.n_sent) = (ordinal, 0);
            self.reply.clear();
            gap = if self.has_sent { "\n\n" } else { "" };
        }
        self.reply += &if self.is_free { text } else { safe(&text) };
        if self.is_over {
            return String::new();
        }
        let end = self.safe_end();
        let more = self.reply.get(self.n_sent..end).unwrap_or_default();
        let more = if self.n_sent == 0 { more.trim_start() } else { more };
        if more.is_empty() {
            return String::new();
        }
        let more: String = gap.chars().chain(more.chars()).take(self.chars_left).collect();
        self.chars_left -= more.chars().count();
        (self.n_sent, self.has_sent, self.is_over) = (end, true, self.chars_left == 0);
        more
    }

    /// The end of the part that will not change. Spaces at the end may still be trimmed.
    fn safe_end(&self) -> usize {
        let reply = self.reply.trim_end();
        if self.is_free {
            return reply.len();
        }
        let begun = reply.trim_start();
        if NO_ANSWERS.iter().any(|no| begun.starts_with(no) || no.starts_with(begun)) {
            return 0;
        }
        let fence = FENCES.iter().filter_map(|fence| reply.find(fence)).min();
        let words = reply.get(..fence.unwrap_or(reply.len())).unwrap_or_default();
        words.trim_end_matches(['`', '~']).trim_end().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(draft: &mut Draft, pieces: &[(u32, &str)]) -> Vec<String> {
        let more =
            |(ordinal, text): &(u32, &str)| SaidPiece::More { ordinal: *ordinal, text: (*text).to_owned() };
        pieces.iter().map(|piece| draft.take(more(piece))).collect()
    }

    fn draft() -> Draft {
        Draft { chars_left: usize::MAX, ..Draft::default() }
    }

    #[test]
    fn words_are_sent_as_they_come_and_evidence_is_held_back() {
        let pieces =
            [(0, "The number"), (0, " is 42. "), (0, "Really.\n\n`"), (0, "``evidence\na:1: x\n```")];
        assert_eq!(sent(&mut draft(), &pieces), ["The number", " is 42.", " Really.", ""]);
    }

    #[test]
    fn what_may_be_no_answer_is_not_sent() {
        for reply in ["NOT FOUND: nothing", "{\"name\": \"Read\"}", "```python\nprint(1)\n```", "<tool_call>"]
        {
            assert_eq!(sent(&mut draft(), &[(0, reply)]), [""], "{reply}");
        }
        assert_eq!(sent(&mut draft(), &[(0, "NOT"), (0, "HING is said")]), ["", "NOTHING is said"]);
    }

    #[test]
    fn a_reply_that_begins_again_is_left_to_the_end() {
        let mut draft = draft();
        assert_eq!(sent(&mut draft, &[(0, "The num")]), ["The num"]);
        assert_eq!(draft.take(SaidPiece::Anew), "");
        assert_eq!(sent(&mut draft, &[(0, "The number is 42.")]), [""]);
    }

    #[test]
    fn with_tools_every_reply_is_sent_and_no_more_than_asked_for() {
        let mut draft = Draft { is_free: true, chars_left: 12, ..Draft::default() };
        let pieces = [(0, "I read. "), (1, "```x"), (1, "yz"), (1, "more")];
        assert_eq!(sent(&mut draft, &pieces), ["I read.", "\n\n```", "", ""]);
    }
}
