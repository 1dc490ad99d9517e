//! The replies of the simulated reader in each of its roles.

use serde_json::json;

use super::asked::Question;
use super::notes::Notes;
use super::reader::Reader;

/// A count is a number even if nothing was noticed; any other answer is reported as missing.
fn value(asked: &Question, notes: &Notes) -> String {
    notes.value(asked).unwrap_or_else(|| "absent".to_owned())
}

/// An answer from the documents in the prompt.
pub(super) fn answer(asked: &Question, mut reader: Reader, text: &str, slips: bool) -> String {
    let value = value(asked, &reader.read(asked, text));
    // A slip is an answer in prose.
    if slips {
        format!("From what I read it seems to be {value}.")
    } else {
        format!("This is what the documents say.\n\nANSWER: {value}")
    }
}

pub(super) fn searches(asked: &Question) -> String {
    match asked {
        Question::Number { thing, place } => format!("registration number {thing} {place}\n{place}"),
        Question::Numbers { thing } => format!("registration number of the {thing}\n{thing} at"),
        Question::Keeper { thing, place } => format!("{thing} {place} kept by since the war\n{place}"),
        Question::Bridge { destination, year } => {
            format!(
                "expedition to {destination} {year} led by\n{destination}\nborn in youngest of four\nbridge was opened in"
            )
        }
        Question::Definition { name } | Question::Callers { name } | Question::Constant { name } => {
            name.clone()
        }
        Question::FirstError => "ERROR\nconnection pool exhausted".to_owned(),
        Question::Errors { service, .. } => format!("ERROR {service}"),
        Question::Declined { code } => format!("payment declined {code}\n{code}"),
        Question::Returned { region } => format!("{region} returned"),
        Question::Dearest { region } => region.clone(),
        Question::Customers { product } => product.clone(),
        Question::Count { topic } => topic.clone(),
        Question::Common => "topic".to_owned(),
        Question::Pairs { first, second } => format!("{first}\n{second}"),
    }
}

/// A report on a part. A slip is unclosed JSON; the retry is correct.
pub(super) fn analysis(asked: &Question, mut reader: Reader, text: &str, slips: bool) -> String {
    let notes = reader.read(asked, text).bearing(asked);
    let count = asked.is_count().then(|| notes.counts.values().sum::<u64>());
    let said = json!({
        "relevant": !notes.is_empty(),
        "summary": "What this part says to the question.",
        "answer": if notes.is_empty() { None } else { Some(notes.written()) },
        "count": count,
        "findings": [],
    })
    .to_string();
    if slips { said.chars().take(said.chars().count() * 2 / 3).collect() } else { said }
}

pub(super) fn synthesis(asked: &Question, mut reader: Reader, text: &str) -> String {
    // Notes are short and few, so almost none is overlooked.
    reader.noticed_permille = reader.noticed_permille.max(999);
    let notes = reader.read(asked, text).bearing(asked);
    let value = value(asked, &notes);
    format!("## Summary\n\nPut together, the parts say: {}.\n\nANSWER: {value}", notes.written())
}

/// A reply to code that reads part by part: JSON, or in the requested form.
pub(super) fn part(asked: &Question, mut reader: Reader, text: &str, slips: bool) -> String {
    let notes = reader.read(asked, text);
    if !text.contains("JSON") {
        return format!("ANSWER: {}", value(asked, &notes));
    }
    if slips {
        return format!("I found this: {}", notes.written());
    }
    json!({ "counts": notes.counts, "facts": notes.facts }).to_string()
}

/// The final answer of a session that ran out of turns.
pub(super) fn conclusion(asked: &Question, mut reader: Reader, text: &str) -> String {
    format!("ANSWER: {}", value(asked, &reader.read(asked, text)))
}
