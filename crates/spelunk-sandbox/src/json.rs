//! Parses JSON into values of a session, keeping the order of keys.

use std::fmt;

use crate::Value;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// The value of a JSON text.
pub fn parse_json(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str::<Ordered>(text).map(|ordered| ordered.0)
}

struct Ordered(Value);

struct AnyValue;

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyValue)
    }
}

impl<'de> Visitor<'de> for AnyValue {
    type Value = Ordered;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered(Value::None))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Ordered, E> {
        Ok(Ordered(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Ordered, E> {
        Ok(Ordered(Value::Int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Ordered, E> {
        Ok(Ordered(i64::try_from(value).map_or_else(|_| Value::BigInt(value.to_string()), Value::Int)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Ordered, E> {
        Ok(Ordered(Value::Float(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Ordered, E> {
        Ok(Ordered(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Ordered, A::Error> {
        let mut items = Vec::new();
        while let Some(Ordered(item)) = from.next_element()? {
            items.push(item);
        }
        Ok(Ordered(Value::List(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Ordered, A::Error> {
        let mut pairs = Vec::new();
        while let Some((key, Ordered(value))) = from.next_entry::<String, Ordered>()? {
            pairs.push((Value::Str(key), value));
        }
        Ok(Ordered(Value::Dict(pairs)))
    }
}
