//! Halving, and what is left afterwards.

use proptest::prelude::*;
use spelunk_model::{Message, Part, Speaker, ToolCall, ToolResult};

use super::*;

const LIMITS: TranscriptLimits = TranscriptLimits { prompt_tokens_max: 100_000, output_chars_max: 4_000 };

fn transcript(turns: &[(&str, &str)]) -> Transcript {
    let mut transcript = Transcript::new("system".to_owned(), "question".to_owned(), LIMITS);
    for (reply, said) in turns {
        transcript.push_reply(reply);
        transcript.push_user((*said).to_owned());
    }
    transcript
}

#[test]
fn the_oldest_turns_go_first_and_a_note_says_so() {
    let long = "x".repeat(4_000);
    let mut transcript = transcript(&[("a", &long), ("b", &long), ("c", &long), ("d", &long), ("e", "E")]);
    assert!(transcript.halve());
    let said: Vec<String> =
        transcript.messages().iter().map(|message| message.text.chars().take(30).collect()).collect();
    assert_eq!(
        said,
        [
            "question",
            "Summary of my earlier turns:\n(",
            "Turns before this point were d",
            "d",
            &"x".repeat(30),
            "e",
            "E"
        ]
    );
    // The limits apply to later messages: half of what did not fit.
    assert_eq!(transcript.limits.prompt_tokens_max, 2_005);
    assert_eq!(transcript.limits.output_chars_max, 501);
    // A summary is kept, and the note is not added twice.
    transcript.push_reply("f");
    transcript.push_user("y".repeat(4_000));
    assert!(transcript.halve());
    let n_notes = transcript.messages().iter().filter(|message| message.text == LEFT_OUT_REPLY).count();
    assert_eq!(n_notes, 1);
}

#[test]
fn a_long_last_turn_and_a_long_first_message_are_cut_in_their_middles() {
    let mut transcript = transcript(&[]);
    let arguments = format!("{{\"text\": \"{}\"}}", "w".repeat(20_000));
    let call = ToolCall { id: "1".into(), name: "Write".into(), arguments, signature: None };
    transcript.push_calls("", vec![Part::ToolCall(call)]);
    let text = format!("begin{}end", "r".repeat(40_000));
    let result = ToolResult { call_id: "1".into(), name: "Write".into(), text, is_error: false };
    transcript.push_results(vec![Part::ToolResult(result)], String::new());
    let n_before = transcript.tokens();
    assert!(transcript.halve());
    assert!(transcript.tokens() <= n_before / 2 + 50, "{} of {n_before}", transcript.tokens());
    let messages = transcript.messages();
    let Some(Part::ToolResult(result)) = messages[2].parts.first() else { panic!("{messages:?}") };
    assert!(result.text.starts_with("beginrr") && result.text.ends_with("rrend"));
    assert_eq!(result.call_id, "1");
    let mut alone = Transcript::new("system".to_owned(), "q".repeat(9_000), LIMITS);
    assert!(alone.halve());
    assert!(alone.messages()[0].text.contains("characters not shown"));
}

#[test]
fn where_nothing_can_go_it_says_so() {
    let mut bare = Transcript::new("s".repeat(50_000), "question".to_owned(), LIMITS);
    assert!(!bare.halve());
    assert_eq!(bare.messages(), [Message::user("question")]);
}

proptest! {
    #[test]
    fn it_ends_shorter_with_speakers_in_turn_and_never_panics(
        turns in prop::collection::vec(("[a-zß€\n]{0,400}", "[a-zß€\n]{0,3000}"), 0..8),
        n_times in 1..6_u32,
    ) {
        let turns: Vec<(&str, &str)> = turns.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let mut transcript = transcript(&turns);
        for _ in 0..n_times {
            let n_before = transcript.tokens();
            if transcript.halve() {
                prop_assert!(transcript.tokens() < n_before);
            }
            let messages = transcript.messages();
            for (idx, message) in messages.iter().enumerate() {
                let speaker = if idx % 2 == 0 { Speaker::User } else { Speaker::Assistant };
                prop_assert_eq!(message.speaker, speaker);
                prop_assert!(!message.text.trim().is_empty());
            }
        }
    }
}
