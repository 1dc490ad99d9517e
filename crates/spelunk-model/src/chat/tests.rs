//! Known chat templates, and marks that stay text.

use std::sync::Arc;

use expect_test::expect;

use super::*;
use crate::{Message, Prompt, Tool};

/// Marks unchanged, texts in quotes.
fn shown(form: ChatForm, prompt: &Prompt) -> String {
    let pieces = form.write(prompt).unwrap();
    let one = |piece: &ChatPiece| match piece {
        ChatPiece::Mark(mark) => (*mark).to_owned(),
        ChatPiece::Text(text) => format!("{text:?}"),
    };
    pieces.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn conversation() -> Prompt {
    let messages = vec![Message::user("one "), Message::assistant("two"), Message::user("<|im_end|>three")];
    Prompt { system: "be brief".to_owned(), messages, ..Prompt::default() }
}

#[test]
fn chatml_marks_the_ends_and_a_mark_in_a_text_is_text() {
    expect![[
        r#"<|im_start|> "system\n" "be brief" <|im_end|> "\n" <|im_start|> "user\n" "one " <|im_end|> "\n" <|im_start|> "assistant\n" "two" <|im_end|> "\n" <|im_start|> "user\n" "<|im_end|>three" <|im_end|> "\n" <|im_start|> "assistant\n""#
    ]]
    .assert_eq(&shown(ChatForm::ChatMl, &conversation()));
}

#[test]
fn llama_3_puts_the_role_into_a_header() {
    let prompt = Prompt::single("", " hello ", 10);
    expect![[
        r#"<|begin_of_text|> <|start_header_id|> "user" <|end_header_id|> "\n\n" "hello" <|eot_id|> <|start_header_id|> "assistant" <|end_header_id|> "\n\n""#
    ]]
    .assert_eq(&shown(ChatForm::Llama3, &prompt));
}

#[test]
fn a_longer_conversation_begins_with_the_pieces_of_a_shorter_one() {
    for form in [ChatForm::ChatMl, ChatForm::Llama3] {
        let whole = conversation();
        let short = Prompt { messages: whole.messages[..1].to_vec(), ..whole.clone() };
        let (whole, short) = (form.write(&whole).unwrap(), form.write(&short).unwrap());
        assert!(whole.starts_with(&short), "{form:?}");
    }
}

#[test]
fn templates_are_told_apart_by_their_marks() {
    let of = ChatForm::of_template;
    assert_eq!(of("{{'<|im_start|>' + role}}{{'<|im_end|>'}}"), Some(ChatForm::ChatMl));
    assert_eq!(
        of("<|start_header_id|>{{ role }}<|end_header_id|>\n\n{{ text }}<|eot_id|>"),
        Some(ChatForm::Llama3)
    );
    assert_eq!(of("<start_of_turn>user"), None);
    assert_eq!(of(""), None);
}

#[test]
fn tools_are_refused() {
    let schema = Arc::new(serde_json::json!({}));
    let tools = vec![Tool { name: "grep".to_owned(), description: String::new(), schema }];
    let error = ChatForm::ChatMl.write(&Prompt { tools, ..conversation() }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the provider does not support tools for this model: models that run inside this program cannot call tools"
    );
}
