//! Transcripts with their complete messages.

use spelunk_model::{Message, Prompt};

use super::{Transcript, TranscriptLimits};

const LIMITS: TranscriptLimits = TranscriptLimits { prompt_tokens_max: 100, output_chars_max: 400 };

fn user(text: &str) -> Message {
    Message::user(text)
}

fn assistant(text: &str) -> Message {
    Message::assistant(text)
}

/// A transcript with one turn per pair.
fn transcript(limits: TranscriptLimits, turns: &[(&str, &str)]) -> Transcript {
    let mut transcript = Transcript::new("system".to_owned(), "question".to_owned(), limits);
    for (reply, said) in turns {
        transcript.push_reply(reply);
        transcript.push_user((*said).to_owned());
    }
    transcript
}

#[test]
fn a_prompt_is_the_system_the_question_and_the_turns() {
    let transcript = transcript(LIMITS, &[("look", "seen"), ("again", "seen again")]);
    let messages =
        vec![user("question"), assistant("look"), user("seen"), assistant("again"), user("seen again")];
    assert_eq!(transcript.messages(), messages);
    assert_eq!(
        transcript.prompt(512),
        Prompt { system: "system".to_owned(), messages, output_tokens_max: 512, ..Prompt::default() }
    );
    // 2 + 2 for the beginning, 1 + 1 and 2 + 3 for the turns.
    assert_eq!(transcript.tokens(), 11);
}

#[test]
fn every_prompt_is_the_beginning_of_the_next() {
    let mut transcript = transcript(LIMITS, &[]);
    let mut before = transcript.messages();
    for turn in 0..4 {
        transcript.push_reply(&format!("reply {turn}"));
        transcript.push_user(format!("output {turn}"));
        let after = transcript.messages();
        assert_eq!(after.get(..before.len()), Some(before.as_slice()));
        before = after;
    }
}

#[test]
fn a_compaction_keeps_the_beginning_and_the_last_three_turns() {
    let turns = [("a", "A"), ("b", "B"), ("c", "C"), ("d", "D"), ("e", "E")];
    let mut transcript = transcript(LIMITS, &turns);
    transcript.compact("  found it in a.md:3\n");
    assert_eq!(
        transcript.prompt(8),
        Prompt {
            system: "system".to_owned(),
            messages: vec![
                user("question"),
                assistant("Summary of my earlier turns:\nfound it in a.md:3"),
                user(
                    "Your summary replaces the turns before this point. All variables keep their values. Continue."
                ),
                assistant("c"),
                user("C"),
                assistant("d"),
                user("D"),
                assistant("e"),
                user("E"),
            ],
            output_tokens_max: 8,
            ..Prompt::default()
        }
    );
}

#[test]
fn a_second_summary_replaces_the_first() {
    let mut transcript = transcript(LIMITS, &[("a", "A"), ("b", "B"), ("c", "C"), ("d", "D")]);
    transcript.compact("one");
    transcript.push_reply("e");
    transcript.push_user("E".to_owned());
    transcript.compact("two");
    assert_eq!(
        transcript.messages(),
        vec![
            user("question"),
            assistant("Summary of my earlier turns:\ntwo"),
            user(
                "Your summary replaces the turns before this point. All variables keep their values. Continue."
            ),
            assistant("c"),
            user("C"),
            assistant("d"),
            user("D"),
            assistant("e"),
            user("E"),
        ]
    );
}

#[test]
fn turns_that_fill_half_of_the_room_are_not_kept_but_the_last_one_is() {
    // 100 characters are 25 tokens: two turns with one such message each fill the room of 50.
    let long = "x".repeat(100);
    let mut two = transcript(LIMITS, &[(&long, "A"), (&long, "B"), (&long, "C")]);
    two.compact("s");
    assert_eq!(two.messages()[3..], [assistant(&long), user("C")]);

    let longer = "x".repeat(300);
    let mut one = transcript(LIMITS, &[("a", "A"), (&longer, "B")]);
    one.compact("s");
    assert_eq!(one.messages()[3..], [assistant(&longer), user("B")]);
}

#[test]
fn a_turn_without_an_answer_yet_is_a_turn() {
    let mut transcript = transcript(LIMITS, &[("a", "A"), ("b", "B"), ("c", "C")]);
    transcript.push_reply("d");
    transcript.compact("s");
    assert_eq!(
        transcript.messages()[3..],
        [assistant("b"), user("B"), assistant("c"), user("C"), assistant("d")]
    );
}

#[test]
fn a_compaction_is_needed_when_it_is_too_long_and_would_help() {
    let long = "x".repeat(200);
    assert!(!transcript(LIMITS, &[("a", "A"), ("b", "B"), ("c", "C"), ("d", "D")]).needs_compaction());
    // Only the last turn: there is nothing to drop.
    assert!(!transcript(LIMITS, &[(&long, &long)]).needs_compaction());
    let mut two = transcript(LIMITS, &[(&long, "A"), (&long, "B")]);
    assert!(two.needs_compaction());
    // A summary and the last turn: another compaction would drop only the summary.
    two.compact(&long);
    assert!(two.tokens() > LIMITS.prompt_tokens_max);
    assert!(!two.needs_compaction());
    two.push_reply("c");
    two.push_user("C".to_owned());
    assert!(two.needs_compaction());
}

#[test]
fn speakers_alternate_whatever_is_pushed() {
    let mut transcript = transcript(LIMITS, &[]);
    transcript.push_user("more".to_owned());
    transcript.push_reply("a");
    transcript.push_reply("b");
    transcript.push_user(" ".to_owned());
    transcript.push_user("C".to_owned());
    transcript.push_reply("");
    assert_eq!(
        transcript.messages(),
        vec![user("question\n\nmore"), assistant("a\n\nb"), user("(nothing)\n\nC"), assistant("(nothing)")]
    );
}

#[test]
fn long_messages_are_cut_in_the_middle_and_say_so() {
    let mut transcript = transcript(LIMITS, &[]);
    let reply = format!("{}{}{}", "é".repeat(1_334), "-".repeat(5_000), "z".repeat(666));
    transcript.push_reply(&reply);
    // Eight outputs of 400 characters may be shown.
    let said = format!("{}{}{}", "a".repeat(2_134), "-".repeat(70), "z".repeat(1_066));
    transcript.push_user(said);
    let cut = "\n... [5000 of 7000 characters not shown] ...\n";
    let cut_said = "\n... [70 of 3270 characters not shown] ...\n";
    assert_eq!(
        transcript.messages(),
        vec![
            user("question"),
            assistant(&format!("{}{cut}{}", "é".repeat(1_334), "z".repeat(666))),
            user(&format!("{}{cut_said}{}", "a".repeat(2_134), "z".repeat(1_066))),
        ]
    );
}

#[test]
fn a_short_window_bounds_the_prompt_and_what_is_said_at_once() {
    let limits = spelunk_types::Limits { transcript_tokens_max: 100_000, ..spelunk_types::Limits::default() };
    let within = |room_tokens| TranscriptLimits::within(&limits, room_tokens);
    let usual = TranscriptLimits { prompt_tokens_max: 100_000, output_chars_max: limits.stdout_chars_max };
    assert_eq!(within(u64::MAX), usual);
    assert_eq!(within(4_000), TranscriptLimits { prompt_tokens_max: 4_000, output_chars_max: 1_000 });
    assert_eq!(within(0), TranscriptLimits { prompt_tokens_max: 0, output_chars_max: 250 });
}
