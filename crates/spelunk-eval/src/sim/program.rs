//! The program that the simulated reader writes in a session: code computes what it can, the rest is read part by part
//! in parallel, and merged by code.

use serde_json::json;

use super::asked::Question;

const READ: &str = include_str!("program/read.py");
const ROWS: &str = include_str!("program/rows.py");
const LOGS: &str = include_str!("program/logs.py");
const FIND: &str = include_str!("program/find.py");
const HOPS: &str = include_str!("program/hops.py");

pub(super) fn program(asked: &Question, question: &str) -> String {
    let fill = |program: &str, values: serde_json::Value| {
        let question = json!(question).to_string();
        format!("```repl\nquestion = {question}\nwanted = {values}\n{program}```")
    };
    match asked {
        Question::Count { topic } => fill(READ, json!({ "count": topic })),
        Question::Common => fill(READ, json!({ "common": "" })),
        Question::Pairs { .. } => fill(READ, json!({ "facts": "" })),
        Question::Returned { region } => fill(ROWS, json!({ "sum": region })),
        Question::Dearest { region } => fill(ROWS, json!({ "top": region })),
        Question::Customers { product } => fill(ROWS, json!({ "distinct": product })),
        Question::FirstError => fill(LOGS, json!({ "first": "" })),
        Question::Errors { service, from, until } => {
            fill(LOGS, json!({ "count": service, "from": from, "until": until }))
        }
        Question::Declined { code } => fill(LOGS, json!({ "trace": code })),
        Question::Number { thing, place } => {
            fill(FIND, json!({ "pattern": format!("number of the {thing} at {place}") }))
        }
        Question::Numbers { thing } => fill(FIND, json!({ "pattern": format!("number of the {thing} at") })),
        Question::Keeper { thing, place } => {
            fill(FIND, json!({ "pattern": format!("{thing} at {place} has been kept") }))
        }
        Question::Definition { name } => {
            fill(FIND, json!({ "pattern": format!("(fn|def|func|function) {name}\\b") }))
        }
        Question::Callers { name } => fill(FIND, json!({ "pattern": format!("\\b{name}\\b.*\\(") })),
        Question::Constant { name } => fill(FIND, json!({ "pattern": format!("\\b{name}\\b.*=") })),
        Question::Bridge { destination, year } => {
            fill(HOPS, json!({ "destination": destination, "year": year }))
        }
    }
}
