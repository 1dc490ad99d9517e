//! What a prompt consists of, and where a text is split.

use super::*;

#[test]
fn a_text_is_cut_between_characters_only() {
    assert_eq!(cut("abcdef", 3), ["ab", "cd", "ef"]);
    assert_eq!(cut("äöü", 2), ["äö", "ü"]);
    assert_eq!(cut("a", 3), ["a"]);
    assert_eq!(cut("", 3), Vec::<&str>::new());
}

#[test]
fn the_prompt_of_every_format_is_its_system_text_and_its_messages() {
    let openai =
        json!({ "messages": [{ "role": "system", "content": "S" }, { "role": "user", "content": "U" }] });
    assert_eq!(prompt_of(&openai), "S\nU");
    let anthropic = json!({ "system": [{ "type": "text", "text": "S" }], "messages": [{ "role": "user", "content": "U" }] });
    assert_eq!(prompt_of(&anthropic), "S\nU");
    let responses = json!({ "instructions": "S", "input": [{ "role": "user", "content": "U" }] });
    assert_eq!(prompt_of(&responses), "S\nU");
    let gemini = json!({ "systemInstruction": { "parts": [{ "text": "S" }] }, "contents": [{ "parts": [{ "text": "U" }] }] });
    assert_eq!(prompt_of(&gemini), "S\nU");
    let bedrock = json!({ "system": [{ "text": "S" }, { "cachePoint": {} }], "messages": [{ "content": [{ "text": "U" }] }] });
    assert_eq!(prompt_of(&bedrock), "S\nU");
}

#[test]
fn a_path_tells_its_dialect() {
    let paths = [
        ("/v1/chat/completions", Some(Dialect::OpenAi)),
        ("/v1/openai/deployments/d/chat/completions?api-version=v", Some(Dialect::OpenAi)),
        ("/v1/messages", Some(Dialect::Anthropic)),
        ("/v1/responses", Some(Dialect::Responses)),
        ("/v1/models/m:streamGenerateContent?alt=sse", Some(Dialect::Gemini)),
        ("/v1/model/m%3A0/converse-stream", Some(Dialect::Bedrock)),
        ("/v1/models", None),
        ("/", None),
    ];
    for (path, dialect) in paths {
        assert_eq!(Dialect::of_path(path), dialect, "{path}");
    }
}
