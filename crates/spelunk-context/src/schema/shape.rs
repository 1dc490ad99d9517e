//! The shape of JSON values, folded from any number of them. Text is parsed as a stream and may end anywhere:
//! everything up to there counts, and an incomplete object says nothing about keys it may lack.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

pub(super) const DEPTH_MAX: usize = 6;
const KEYS_MAX: usize = 64;

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a place may hold values of several types")]
pub(super) struct Shape {
    pub(super) has_null: bool,
    pub(super) has_boolean: bool,
    pub(super) has_integer: bool,
    pub(super) has_fraction: bool,
    pub(super) has_string: bool,
    pub(super) object: Option<Box<Object>>,
    pub(super) array: Option<Box<Array>>,
}

#[derive(Debug, Default)]
pub(super) struct Object {
    /// In the order of their first occurrence.
    pub(super) keys: Vec<Key>,
    /// The values of keys beyond `KEYS_MAX`.
    pub(super) others: Option<Shape>,
    /// Complete objects only.
    pub(super) n_whole: u64,
}

#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) shape: Shape,
    n_in_whole: u64,
}

#[derive(Debug, Default)]
pub(super) struct Array {
    pub(super) element: Shape,
    /// The shortest and the longest of the complete arrays.
    pub(super) lengths: Option<(u64, u64)>,
    /// The longest of the incomplete ones.
    pub(super) n_seen_max: u64,
}

impl Object {
    pub(super) fn is_optional(&self, key: &Key) -> bool {
        key.n_in_whole < self.n_whole
    }

    fn key_idx(&mut self, name: String) -> Option<usize> {
        if let Some(idx) = self.keys.iter().position(|key| key.name == name) {
            return Some(idx);
        }
        (self.keys.len() < KEYS_MAX).then(|| {
            self.keys.push(Key { name, shape: Shape::default(), n_in_whole: 0 });
            self.keys.len() - 1
        })
    }

    fn close(&mut self, seen: &[usize]) {
        self.n_whole += 1;
        for &idx in seen {
            self.keys[idx].n_in_whole += 1;
        }
    }
}

impl Shape {
    /// Adds the value at the beginning of the text, as far as the text goes.
    pub(super) fn fold(&mut self, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut deserializer = serde_json::Deserializer::from_str(text);
        // If it ends early or is invalid, everything before that point was added.
        let _end = Fold { shape: self, depth: 0 }.deserialize(&mut deserializer);
    }

    pub(super) fn set_root_length(&mut self, n_elements: u64) {
        if let Some(array) = &mut self.array {
            array.lengths = Some((n_elements, n_elements));
        }
    }
}

/// Methods of the visitor that note the type of a value.
macro_rules! notes {
    ($($visit:ident($type:ty) => $flag:ident,)+) => {$(
        fn $visit<E>(self, _: $type) -> Result<(), E> {
            self.shape.$flag = true;
            Ok(())
        }
    )+};
}

/// Adds one value. Recursion ends at `DEPTH_MAX`; anything below is skipped.
struct Fold<'s> {
    shape: &'s mut Shape,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Fold<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Fold<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.shape.has_null = true;
        Ok(())
    }

    notes! {
        visit_bool(bool) => has_boolean, visit_u64(u64) => has_integer, visit_i64(i64) => has_integer,
        visit_f64(f64) => has_fraction, visit_str(&str) => has_string,
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let array = self.shape.array.get_or_insert_default();
        let mut length = 0;
        loop {
            let next = if self.depth < DEPTH_MAX {
                elements.next_element_seed(Fold { shape: &mut array.element, depth: self.depth + 1 })
            } else {
                elements.next_element::<IgnoredAny>().map(|element| element.map(|_| ()))
            };
            match next {
                Ok(Some(())) => length += 1,
                Ok(None) => break,
                Err(error) => {
                    array.n_seen_max = array.n_seen_max.max(length);
                    return Err(error);
                }
            }
        }
        let (shortest, longest) = array.lengths.unwrap_or((length, length));
        array.lengths = Some((shortest.min(length), longest.max(length)));
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let object = self.shape.object.get_or_insert_default();
        if self.depth >= DEPTH_MAX {
            while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        let mut seen = Vec::new();
        while let Some(name) = entries.next_key::<String>()? {
            let idx = object.key_idx(name);
            let shape = match idx {
                Some(idx) => &mut object.keys[idx].shape,
                None => object.others.get_or_insert_default(),
            };
            seen.extend(idx.filter(|idx| !seen.contains(idx)));
            entries.next_value_seed(Fold { shape, depth: self.depth + 1 })?;
        }
        object.close(&seen);
        Ok(())
    }
}
