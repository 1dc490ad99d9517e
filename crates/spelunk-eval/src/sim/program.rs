//! The program that the simulated reader writes in a session: code computes what it can, the rest is read part by part
//! in parallel, and merged by code.

use serde_json::json;

use super::asked::Asked;

const READ: &str = include_str!("program/read.py");
const ROWS: &str = include_str!("program/rows.py");
const LOGS: &str = include_str!("program/logs.py");
const FIND: &str = include_str!("program/find.py");
const HOPS: &str = include_str!("program/hops.py");

pub(super) fn program(asked: &Asked, question: &str) -> String {
    let fill = |program: &str, values: serde_json::Value| {
        let question = json!(question).to_string();
        format!("```repl\nquestion = {question}\nwanted = {values}\n{program}```")
    };
    match asked {
        Asked::Count { topic } => fill(READ, json!({ "count": topic })),
        Asked::Common => fill(READ, json!({ "common": "" })),
        Asked::Pairs { .. } => fill(READ, json!({ "facts": "" })),
        Asked::Returned { region } => fill(ROWS, json!({ "sum": region })),
        Asked::Dearest { region } => fill(ROWS, json!({ "top": region })),
        Asked::Customers { product } => fill(ROWS, json!({ "distinct": product })),
        Asked::FirstError => fill(LOGS, json!({ "first": "" })),
        Asked::Errors { service, from, until } => {
            fill(LOGS, json!({ "count": service, "from": from, "until": until }))
        }
        Asked::Declined { code } => fill(LOGS, json!({ "trace": code })),
        Asked::Number { thing, place } => {
            fill(FIND, json!({ "pattern": format!("number of the {thing} at {place}") }))
        }
        Asked::Numbers { thing } => fill(FIND, json!({ "pattern": format!("number of the {thing} at") })),
        Asked::Keeper { thing, place } => {
            fill(FIND, json!({ "pattern": format!("{thing} at {place} has been kept") }))
        }
        Asked::Definition { name } => {
            fill(FIND, json!({ "pattern": format!("(fn|def|func|function) {name}\\b") }))
        }
        Asked::Callers { name } => fill(FIND, json!({ "pattern": format!("\\b{name}\\b.*\\(") })),
        Asked::Constant { name } => fill(FIND, json!({ "pattern": format!("\\b{name}\\b.*=") })),
        Asked::Bridge { destination, year } => {
            fill(HOPS, json!({ "destination": destination, "year": year }))
        }
    }
}
