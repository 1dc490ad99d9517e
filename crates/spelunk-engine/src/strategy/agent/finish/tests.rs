//! Which answers Finish accepts, and how it rejects the others.

use spelunk_desk::{Desk, DeskLimits};
use spelunk_types::Citation;

use super::{ANSWER_FILE, AnswerFileCheck, GivenAnswer, VERIFY, gap, is_placeholder, written_answer};
use crate::plain_answer::CodeAlone;
use crate::session::path;

fn desk(answer: &str) -> Desk {
    let mut desk = Desk::new(DeskLimits::default());
    desk.put(&path(ANSWER_FILE), answer.as_bytes().to_vec()).unwrap();
    desk
}

#[test]
fn what_stands_in_the_place_of_an_answer_is_none() {
    let placeholders = [
        "",
        "  \n",
        "TODO",
        "...",
        "[TBD]",
        "<your answer>",
        "# Answer\n",
        "**TODO**",
        "(placeholder)",
        "N/A",
    ];
    for text in placeholders {
        assert!(is_placeholder(text), "{text:?}");
        let refused =
            AnswerFileCheck::new(None, CodeAlone::IsNone, true).admit(&desk(text), Vec::new()).unwrap_err();
        assert!(refused.contains("empty or a placeholder"), "{refused}");
    }
    for text in ["42", "No.", "There is a TODO in line 3.", "The answer is 7."] {
        assert!(!is_placeholder(text), "{text:?}");
        assert_eq!(gap(text), None, "{text:?}");
    }
}

#[test]
fn a_place_to_fill_is_sent_back_once() {
    let mut check = AnswerFileCheck::new(None, CodeAlone::IsNone, true);
    let half = desk("Alpha is first.\n\nTODO: look at beta\n");
    assert!(check.admit(&half, Vec::new()).unwrap_err().contains("`TODO: look at beta`"));
    assert!(check.admit(&half, Vec::new()).is_ok());
}

#[test]
fn a_large_input_is_looked_at_and_its_answer_verified_first() {
    let mut check = AnswerFileCheck::new(None, CodeAlone::IsNone, false);
    let answer = desk("It is 42.");
    assert!(check.admit(&answer, Vec::new()).unwrap_err().contains("you have not looked at the input"));
    check.has_looked = true;
    assert_eq!(check.admit(&answer, Vec::new()).unwrap_err(), VERIFY);
    let given = GivenAnswer { text: "It is 42.".into(), claims: Vec::new() };
    assert_eq!(check.admit(&answer, Vec::new()), Ok(given));
    let mut last = AnswerFileCheck {
        has_looked: true,
        may_verify: false,
        ..AnswerFileCheck::new(None, CodeAlone::IsNone, false)
    };
    assert!(last.admit(&answer, Vec::new()).is_ok(), "there is no turn left to verify in");
}

#[test]
fn evidence_is_named_as_outside_of_the_desk() {
    let mut desk = desk("It is 42.");
    let line =
        r#"{"sequence":1,"tag":"n","content":"The number is 42.","source":"input/contexts/notes/a.md:2"}"#;
    desk.put(&path("state/evidence.jsonl"), format!("{line}\nbroken\n").into_bytes()).unwrap();
    let cited =
        |document: &str| Citation { document: document.into(), line: 2, quote: "The number is 42.".into() };
    let given = AnswerFileCheck::new(None, CodeAlone::IsNone, true).admit(&desk, Vec::new()).unwrap();
    assert_eq!(given.claims, [cited("notes/a.md")]);
    let block = "It is 42.\n\n```evidence\ninput/attachments/b.md:2: The number is 42.\n```\n";
    let given =
        AnswerFileCheck::new(None, CodeAlone::IsNone, true).admit(&self::desk(block), Vec::new()).unwrap();
    assert_eq!(given.text, "It is 42.\n\n```evidence\nattachments/b.md:2: The number is 42.\n```");
}

#[test]
fn code_and_calls_are_sent_back_however_often_they_are_written() {
    let call = "```json\n{\"name\": \"Read\", \"arguments\": {}}\n```";
    for (text, what) in [("```python\nprint(1)\n```", "only a code block"), (call, "a tool call")] {
        let mut check = AnswerFileCheck::new(None, CodeAlone::IsNone, true);
        for _ in 0..3 {
            let refused = check.admit(&desk(text), Vec::new()).unwrap_err();
            assert_eq!(
                refused,
                format!("`{ANSWER_FILE}` is {what}: write the answer itself, then call Finish")
            );
        }
        assert_eq!(check.so_far(&desk(text)), None);
        assert_eq!(
            written_answer(&desk(text)).unwrap_err(),
            format!("`{ANSWER_FILE}` is {what}: write the answer itself, then call Finish")
        );
    }
    let code = "```sh\nwc -l a.md\n```";
    let mut check = AnswerFileCheck::new(None, CodeAlone::IsNone, true);
    check.begin_anew("Write a command that counts the lines.");
    assert!(check.admit(&desk(code), Vec::new()).is_ok());
    let mut asked = desk(code);
    asked.put(&path("input/prompt.md"), b"Write a command that counts the lines.".to_vec()).unwrap();
    assert_eq!(written_answer(&asked).as_deref(), Ok(code));
}
