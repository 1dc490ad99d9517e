//! Which part of a conversation becomes the question, and which becomes documents.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn said(speaker: Speaker, texts: &[&str]) -> Message {
    Message { speaker, parts: texts.iter().map(|text| MessagePart::Text((*text).to_owned())).collect() }
}

#[track_caller]
fn check(messages: &[Message], expected: &Expect) {
    let shown = match Question::of(messages, 20) {
        Ok(Question { text, documents, .. }) => {
            let documents: Vec<String> =
                documents.iter().map(|(name, text)| format!("--- {name}\n{text}\n")).collect();
            format!("{text}\n{}", documents.concat())
        }
        Err(why) => format!("{why}\n"),
    };
    expected.assert_eq(&shown);
}

const LONG: &str = "a text of more than twenty characters";

#[test]
fn the_last_message_of_the_user_is_the_question_and_long_texts_are_documents() {
    use Speaker::{Assistant, System, User};
    check(
        &[said(User, &[LONG]), said(User, &["Why?"])],
        &expect![[r#"
        Why?
        --- message-1.md
        a text of more than twenty characters
    "#]],
    );
    check(
        &[
            said(System, &["Be brief."]),
            said(User, &["Hi."]),
            said(Assistant, &["Hello."]),
            said(User, &[LONG, "Why?"]),
        ],
        &expect![[r#"
            Be brief.

            The conversation so far:
            User: Hi.
            Assistant: Hello.

            Why?
            --- message-4-1.md
            a text of more than twenty characters
        "#]],
    );
    check(
        &[said(System, &[LONG]), said(User, &["Why?"])],
        &expect![[r#"
        Why?
        --- system-1.md
        a text of more than twenty characters
    "#]],
    );
    // A prefilled assistant message is not a question.
    check(
        &[said(User, &["Why?"]), said(Assistant, &["Because"])],
        &expect![[r#"
            The conversation so far:
            Assistant: Because

            Why?
        "#]],
    );
}

#[test]
fn a_question_that_is_too_long_is_a_document_and_stands_in_the_question_in_part() {
    check(
        &[said(Speaker::User, &[LONG])],
        &expect![[r#"
            Do what `message-1.md` asks for. The request is in its first or last part; the text in between is the material.

            It begins:

            a text of more than twenty characters

            […]

            and ends:

            a text of more than twenty characters
            --- message-1.md
            a text of more than twenty characters
        "#]],
    );
}

#[test]
fn many_short_messages_are_a_document_before_they_are_too_much_for_a_question() {
    let mut messages: Vec<Message> = Vec::new();
    for idx in 0..300 {
        let text = format!("{idx} {}", "x".repeat(400));
        messages.push(said(Speaker::System, &[&text]));
        messages.push(said(Speaker::Assistant, &[&text]));
    }
    let parts: Vec<String> = (0..300).map(|idx| format!("{idx} {}", "y".repeat(400))).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    messages.push(said(Speaker::User, &parts));
    let Question { text, documents, .. } = Question::of(&messages, 4_000).unwrap();
    let names: Vec<&str> = documents.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["instructions.md", "conversation.md", "question.md"]);
    assert!(documents.iter().all(|(_, text)| text.contains("0 ") && text.contains("299 ")));
    assert!(text.chars().count() < 3 * INCLUDED_CHARS_MAX + 500 && text.contains("299 yyy"));
}

#[test]
fn without_a_question_there_is_none() {
    use Speaker::{System, User};
    check(&[], &expect![["contains no user message\n"]]);
    check(&[said(System, &["Be brief."])], &expect![["contains no user message\n"]]);
    check(&[said(User, &["  \n"])], &expect![["ends with an empty message\n"]]);
    check(&[said(User, &[])], &expect![["ends with an empty message\n"]]);
}

#[test]
fn documents_keep_their_titles_and_no_title_leads_anywhere() {
    let document = |title: &str| MessagePart::Document {
        title: Some(title.to_owned()),
        text: "x".to_owned(),
        is_cited: false,
    };
    let parts = vec![
        document("Q3 (final).txt"),
        document("../../etc/passwd"),
        document("Q3 (final).txt"),
        document("/"),
        document("..."),
    ];
    let asked = Question::of(&[Message { speaker: Speaker::User, parts }], 20).unwrap();
    let names: Vec<&str> = asked.documents.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Q3 (final).txt", "_.._etc_passwd", "2-Q3 (final).txt", "_", "message-1-5.md"]);
    assert_eq!(asked.text, "Read the documents and report what is important in them.");
}

proptest! {
    #[test]
    fn nothing_that_was_said_is_lost_and_no_name_is_given_twice(
        texts in proptest::collection::vec("[a-zü☃ ]{0,60}", 1..130),
        long_chars in 1_usize..80,
    ) {
        let messages: Vec<Message> = texts.iter().map(|text| said(Speaker::User, &[text])).collect();
        let Ok(Question { text, documents, .. }) = Question::of(&messages, long_chars) else {
            prop_assert!(texts.last().unwrap().trim().is_empty());
            return Ok(());
        };
        let all = documents.iter().fold(text.clone(), |all, (_, text)| all + "\n" + text);
        for said in &texts {
            prop_assert!(all.contains(said.trim()), "{said:?}");
        }
        let mut names: Vec<&String> = documents.iter().map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), documents.len());
        prop_assert!(documents.len() <= DOCUMENTS_MAX);
    }
}
