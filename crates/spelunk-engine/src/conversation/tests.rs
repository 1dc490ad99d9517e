//! Conversations as questions and as files: roles, parts, attachments with hostile names.

use std::collections::BTreeSet;

use expect_test::expect;

use super::{Conversation, ConversationError};

#[test]
fn a_conversation_is_written_down_in_words_and_kept_as_it_was() {
    let text = r#"{"system": "Be brief.", "messages": [
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, {"type": "image", "source": {}}]},
        {"role": "assistant", "content": "A cave."},
        {"role": "user", "content": [{"type": "tool_result"}, "And this?"]}]}"#;
    let conversation = Conversation::read(text).unwrap();
    expect![[r"
        ## system
        Be brief.

        ## user
        What is this?
        [image]

        ## assistant
        A cave.

        ## user
        [tool_result]
        And this?
    "]]
    .assert_eq(&conversation.rendered());
    assert_eq!(Conversation::read(&conversation.json()), Ok(conversation));
}

#[test]
fn what_is_no_conversation_is_refused_with_its_place() {
    let refused = |text: &str| Conversation::read(text).unwrap_err();
    assert_eq!(refused("[]"), ConversationError::Empty);
    assert_eq!(refused("{}"), ConversationError::NotMessages);
    assert_eq!(refused("3"), ConversationError::NotMessages);
    assert!(matches!(refused("{"), ConversationError::NotJson { .. }));
    for message in
        ["{}", "3", r#"{"role": "user"}"#, r#"{"role": 1, "content": ""}"#, r#"{"role": "", "content": ""}"#]
    {
        let list = format!(r#"[{{"role": "user", "content": "a"}}, {message}]"#);
        assert_eq!(refused(&list), ConversationError::Malformed { number: 2 }, "{message}");
    }
}

#[test]
fn a_hostile_name_of_an_attachment_stays_in_its_folder() {
    let mut taken = BTreeSet::new();
    for given in
        ["../../etc/passwd", "/etc/passwd", "a/b\\c", "", "..", "CON", "x\u{202e}gpj.exe", "a\nb", "passwd"]
    {
        let (document, name) = Conversation::attachment(given, &taken);
        assert_eq!(document, format!("attachments/{name}"));
        assert!(!name.contains(['/', '\\', '\n']) && !name.starts_with('.'), "{given:?} became {name:?}");
        assert!(taken.insert(name.clone()), "{given:?} became {name:?}, which was there");
    }
}
