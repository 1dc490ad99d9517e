//! JSON documents as records: a list of objects, the longest such list in an object, or an object of similar objects.

use std::collections::BTreeSet;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A record: its line, its key if it is in an object of objects, and its fields.
pub(super) type Record = (u64, Option<String>, Map<String, Value>);

/// Objects of objects with fewer entries are settings, not records.
const KEYED_MIN: usize = 3;

/// A record, with its offset instead of its line.
type Found = (usize, Option<String>, Map<String, Value>);

/// The records of a document; `None` if it has none.
pub(super) fn records(text: &str) -> Option<Vec<Record>> {
    let found = match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(list) => listed(text, &list),
        Err(_) => {
            let entries = entries(text)?;
            let lists = entries.iter().filter_map(|(_, value)| {
                let list = serde_json::from_str::<Vec<&RawValue>>(value.get()).ok()?;
                listed(text, &list)
            });
            lists.max_by_key(Vec::len).or_else(|| keyed(text, &entries))
        }
    };
    found.map(|found| with_lines(text, found))
}

fn listed(text: &str, list: &[&RawValue]) -> Option<Vec<Found>> {
    let record = |value: &&RawValue| Some((offset(text, value.get()), None, object(value.get())?));
    let records: Option<Vec<Found>> = list.iter().map(record).collect();
    records.filter(|records| !records.is_empty())
}

/// Objects that share half of their keys with the first one.
fn keyed(text: &str, entries: &[(String, &RawValue)]) -> Option<Vec<Found>> {
    let record = |(key, value): &(String, &RawValue)| {
        Some((offset(text, value.get()), Some(key.clone()), object(value.get())?))
    };
    let records: Vec<Found> = entries.iter().map(record).collect::<Option<_>>()?;
    let keys: BTreeSet<&String> = records.first()?.2.keys().collect();
    let is_alike =
        |(_, _, object): &Found| object.keys().filter(|key| keys.contains(key)).count() * 2 >= keys.len();
    let is_table = records.len() >= KEYED_MIN && !keys.is_empty() && records.iter().all(is_alike);
    is_table.then_some(records)
}

pub(super) fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// The entries of an object, in order, including those whose key occurs again.
fn entries(text: &str) -> Option<Vec<(String, &RawValue)>> {
    struct Entries<'t>(Vec<(String, &'t RawValue)>);
    impl<'t> serde::de::Visitor<'t> for Entries<'t> {
        type Value = Vec<(String, &'t RawValue)>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'t>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
            while let Some(entry) = map.next_entry()? {
                self.0.push(entry);
            }
            Ok(self.0)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let entries = serde::Deserializer::deserialize_map(&mut deserializer, Entries(Vec::new())).ok()?;
    deserializer.end().ok().map(|()| entries)
}

fn offset(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

/// Replaces offsets, which increase, by lines.
fn with_lines(text: &str, found: Vec<Found>) -> Vec<Record> {
    let (mut from, mut line) = (0, 1_u64);
    let mut with_line = |(offset, key, object): Found| {
        let between = text.as_bytes().get(from..offset).unwrap_or_default();
        line += memchr::memchr_iter(b'\n', between).count() as u64;
        from = offset;
        (line, key, object)
    };
    found.into_iter().map(&mut with_line).collect()
}
