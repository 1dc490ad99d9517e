//! The purpose of a field of a log record, determined by the words in its path: `requestId` and `request_id` both are
//! the words `request` and `id`. Words are matched whole: `context` does not match text, nor `resource` source.

/// The purpose of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum FieldClass {
    Timestamp,
    Level,
    Error,
    Identifier,
    Message,
    Status,
    Source,
}

/// The words of each class; words joined by `_` must follow each other. The first matching class wins.
const CLASSES: [(FieldClass, &str); 7] = [
    (FieldClass::Timestamp, "time timestamp datetime date created_at ts"),
    (FieldClass::Level, "level severity priority loglevel lvl"),
    (FieldClass::Error, "error errors exception stack traceback err"),
    (
        FieldClass::Identifier,
        "request_id trace_id correlation_id session_id span_id requestid traceid spanid",
    ),
    (FieldClass::Message, "message msg body text"),
    (FieldClass::Status, "status code statuscode"),
    (FieldClass::Source, "source service host hostname component logger"),
];

impl FieldClass {
    pub(super) fn of(keys: &[&str]) -> Option<Self> {
        let words: Vec<String> = keys.iter().flat_map(|key| words(key)).collect();
        let name = format!("_{}_", words.join("_"));
        let has = |words: &str| name.contains(&format!("_{words}_"));
        CLASSES.into_iter().find(|(_, listed)| listed.split(' ').any(has)).map(|(class, _)| class)
    }
}

spelunk_types::named! { FieldClass {
    Timestamp = "timestamp", Level = "level", Error = "error", Identifier = "identifier", Message = "message",
    Status = "status", Source = "source",
} }

pub(super) fn is_duration(keys: &[&str]) -> bool {
    const WORDS: [&str; 8] = ["duration", "elapsed", "latency", "took", "ms", "millis", "seconds", "micros"];
    keys.iter().flat_map(|key| words(key)).any(|word| WORDS.contains(&word.as_str()))
}

pub(super) fn is_id(keys: &[&str]) -> bool {
    keys.last().is_some_and(|key| words(key).last().is_some_and(|word| matches!(word.as_str(), "id" | "ids")))
}

/// The words of a key in lower case, split at punctuation and where a capital follows a lowercase letter.
pub(super) fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in key.chars() {
        let begins = was_small && c.is_uppercase();
        if (begins || !c.is_alphanumeric()) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests;
