//! The JSON form of a [`Value`]: `null`, `true`, `1`, `1.5`, `"text"` and `[…]` for a list represent themselves;
//! everything else is an object with one `$` key. Plain objects do not occur, so no value of a cell can be mistaken for
//! a handle.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use spelunk_types::hex;

use crate::{Handle, Value};

/// The maximum nesting of values. A dictionary takes three brackets per level, and the parser allows 128.
pub(crate) const DEPTH_MAX: usize = 39;
/// The maximum digits of an integer.
const DIGITS_MAX: usize = 1 << 20;
/// Up to this length, a float is exact as a plain number in any parser.
const PLAIN_FLOAT_CHARS_MAX: usize = 16;

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Level { value: self, depth: 0 }.serialize(serializer)
    }
}

impl Serialize for Handle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.class, self.id).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Handle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (class, id) = Deserialize::deserialize(deserializer)?;
        Ok(Self { class, id })
    }
}

struct Level<'a> {
    value: &'a Value,
    depth: usize,
}

impl Serialize for Level<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::None => serializer.serialize_unit(),
            Value::Bool(bit) => serializer.serialize_bool(*bit),
            Value::Int(number) => serializer.serialize_i64(*number),
            Value::BigInt(digits) => tagged(serializer, "$i", digits),
            Value::Float(number) => float(serializer, *number),
            Value::Str(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => tagged(serializer, "$b", &hex(bytes)),
            // A value nested too deep is described, not sent: the receiver's parser would refuse the whole frame.
            Value::List(_) | Value::Tuple(_) | Value::Set(_) | Value::Dict(_) if self.depth >= DEPTH_MAX => {
                tagged(serializer, "$o", &(self.value.type_name(), "..."))
            }
            Value::List(items) => serializer.collect_seq(self.all_below(items)),
            Value::Tuple(items) => tagged(serializer, "$t", &self.all_below(items)),
            Value::Set(items) => tagged(serializer, "$set", &self.all_below(items)),
            Value::Dict(pairs) => {
                let pairs: Vec<_> =
                    pairs.iter().map(|(key, value)| (self.below(key), self.below(value))).collect();
                tagged(serializer, "$d", &pairs)
            }
            Value::Slice(from, to, step) => tagged(serializer, "$s", &(from, to, step)),
            Value::Handle(handle) => tagged(serializer, "$h", handle),
            Value::Opaque { type_name, repr } => tagged(serializer, "$o", &(type_name, repr)),
        }
    }
}

impl<'a> Level<'a> {
    fn below(&self, value: &'a Value) -> Self {
        Self { value, depth: self.depth + 1 }
    }

    fn all_below(&self, items: &'a [Value]) -> Vec<Self> {
        items.iter().map(|value| self.below(value)).collect()
    }
}

fn tagged<S: Serializer, T: Serialize + ?Sized>(
    serializer: S,
    tag: &'static str,
    content: &T,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(tag, content)?;
    map.end()
}

/// Long floats are sent as text: JSON number parsers, including ours, may be off by a bit.
fn float<S: Serializer>(serializer: S, number: f64) -> Result<S::Ok, S::Error> {
    let text = if number.is_nan() { "nan".to_owned() } else { format!("{number:?}") };
    if number.is_finite() && text.len() <= PLAIN_FLOAT_CHARS_MAX && !text.contains('e') {
        return serializer.serialize_f64(number);
    }
    tagged(serializer, "$f", &text)
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    rest.is_empty().then_some(())?;
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        AnyValue { is_plain: false }.deserialize(deserializer)
    }
}

/// The value of any JSON text, keeping the order of keys.
pub fn parse_json(text: &str) -> Result<Value, serde_json::Error> {
    let mut from = serde_json::Deserializer::from_str(text);
    let value = AnyValue { is_plain: true }.deserialize(&mut from)?;
    from.end().map(|()| value)
}

#[derive(Clone, Copy)]
struct AnyValue {
    /// Whether an object is a dictionary, and not a value with a tag.
    is_plain: bool,
}

impl<'de> DeserializeSeed<'de> for AnyValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::None)
    }

    fn visit_bool<E>(self, bit: bool) -> Result<Value, E> {
        Ok(Value::Bool(bit))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).map_or_else(|_| Value::BigInt(number.to_string()), Value::Int))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Str(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Str(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        if self.is_plain {
            let mut pairs = Vec::new();
            while let Some(key) = map.next_key::<String>()? {
                pairs.push((Value::Str(key), map.next_value_seed(self)?));
            }
            return Ok(Value::Dict(pairs));
        }
        let tag: String = map.next_key()?.ok_or_else(|| de::Error::custom("an object without a key"))?;
        let value = match tag.as_str() {
            "$t" => Value::Tuple(map.next_value()?),
            "$set" => Value::Set(map.next_value()?),
            "$d" => Value::Dict(map.next_value()?),
            "$i" => integer(map.next_value()?)?,
            "$f" => {
                let text: String = map.next_value()?;
                Value::Float(text.parse().map_err(|_| de::Error::custom("`$f` is not a number"))?)
            }
            "$b" => {
                let text: String = map.next_value()?;
                Value::Bytes(unhex(&text).ok_or_else(|| de::Error::custom("`$b` is not hexadecimal text"))?)
            }
            "$s" => {
                let (from, to, step) = map.next_value()?;
                Value::Slice(from, to, step)
            }
            "$h" => Value::Handle(map.next_value()?),
            "$o" => {
                let (type_name, repr) = map.next_value()?;
                Value::Opaque { type_name, repr }
            }
            other => return Err(de::Error::custom(format!("`{}` is not a known tag", other.escape_debug()))),
        };
        match map.next_key::<de::IgnoredAny>()? {
            None => Ok(value),
            Some(_) => Err(de::Error::custom("an object with two keys")),
        }
    }
}

fn integer<E: de::Error>(digits: String) -> Result<Value, E> {
    let unsigned = digits.strip_prefix('-').unwrap_or(&digits);
    let is_number = !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || digits.len() > DIGITS_MAX {
        return Err(E::custom("`$i` is not an integer"));
    }
    Ok(digits.parse().map_or(Value::BigInt(digits), Value::Int))
}
