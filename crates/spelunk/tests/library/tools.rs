//! Functions of a program as tools of the model.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use spelunk::{EffectClass, ErrorCode, Question, Strategy, ToolError};
use spelunk_testkit::ModelServer;

use super::{block_on, builder};
use crate::scene::{NOTE, QUESTION, Scene};
use crate::tools::writing;

fn schema() -> Value {
    json!({
        "description": "Looks a word up.",
        "type": "object",
        "properties": { "word": { "type": "string" } },
        "required": ["word"],
    })
}

#[test]
fn a_function_of_the_program_is_a_function_of_the_session() {
    let code = "try:\n    look_up('no')\nexcept ToolError as error:\n    FINAL([look_up('yes'), str(error)])";
    let (scene, server) = (Scene::new(&NOTE), writing(&[code]));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let look_up = move |arguments: Value| {
        let word = arguments["word"].as_str().unwrap_or_default().to_owned();
        noted.lock().unwrap().push(word.clone());
        async move {
            if word == "yes" {
                Ok(json!({ "n": 42 }))
            } else {
                Err(ToolError::Failed(format!("no `{word}`")))
            }
        }
    };
    let built = builder(&scene, &server).worker(env!("CARGO_BIN_EXE_spelunk"));
    let built = built.tool("look_up", schema(), EffectClass::Read, look_up).build().unwrap();
    let question = Question::new(QUESTION).path("notes").strategy(Strategy::Repl);
    let answer = block_on(built.ask(question)).unwrap();
    let answer: Value = serde_json::from_str(&answer.answer.unwrap()).unwrap();
    assert_eq!(answer, json!([{ "n": 42 }, "no `no`"]));
    assert_eq!(*asked.lock().unwrap(), ["no", "yes"]);
    let prompt = &server.requests()[0].body;
    assert!(prompt.contains("- `look_up(word: str)`: Looks a word up."), "{prompt}");
}

#[test]
fn a_name_that_the_session_has_is_refused_by_the_builder() {
    let (scene, server) = (Scene::new(&NOTE), ModelServer::start_blocking([]));
    let none = |_| async { Ok(Value::Null) };
    let error =
        builder(&scene, &server).tool("print", schema(), EffectClass::Read, none).build().unwrap_err();
    assert_eq!(error.code(), ErrorCode::ToolUnavailable);
    let message =
        "the tool `print` of `program` cannot be a function: its name is already used or not an identifier";
    assert_eq!(error.to_string(), message);
}
