//! What a prompt is made of, and where a text is cut.

use super::*;

#[test]
fn a_text_is_cut_between_characters_only() {
    assert_eq!(cut("abcdef", 3), ["ab", "cd", "ef"]);
    assert_eq!(cut("äöü", 2), ["äö", "ü"]);
    assert_eq!(cut("a", 3), ["a"]);
    assert_eq!(cut("", 3), Vec::<&str>::new());
}

#[test]
fn the_prompt_of_either_format_is_its_system_text_and_its_messages() {
    let openai =
        json!({ "messages": [{ "role": "system", "content": "S" }, { "role": "user", "content": "U" }] });
    assert_eq!(prompt_of(&openai), "S\nU");
    let anthropic = json!({ "system": [{ "type": "text", "text": "S" }], "messages": [{ "role": "user", "content": "U" }] });
    assert_eq!(prompt_of(&anthropic), "S\nU");
}
