//! The arguments of a tool call, as sent by an untrusted client. Each is taken by name, validated and bounded; leftover
//! arguments are an error that lists the valid names.

use serde_json::{Map, Value};

use crate::config::nearest;
use crate::failure::Usage;

pub const SCHEMA_HINT: &str = "see the schema of the tool";

pub struct Arguments {
    given: Map<String, Value>,
    taken: Vec<&'static str>,
}

impl Arguments {
    pub fn new(given: Option<Map<String, Value>>) -> Self {
        Self { given: given.unwrap_or_default(), taken: Vec::new() }
    }

    /// Whether an argument of this name was sent and not yet taken.
    pub fn has(&self, name: &str) -> bool {
        self.given.get(name).is_some_and(|value| !value.is_null())
    }

    /// Any value; `null` counts as absent.
    pub fn value(&mut self, name: &'static str) -> Option<Value> {
        self.taken.push(name);
        self.given.remove(name).filter(|value| !value.is_null())
    }

    pub fn unless_given(&mut self, name: &'static str, value: Value) {
        if !self.has(name) {
            self.given.insert(name.to_owned(), value);
        }
    }

    /// Moves an argument to the name it is taken by.
    pub fn rename(&mut self, from: &str, to: &'static str) {
        if let Some(value) = self.given.remove(from) {
            self.given.insert(to.to_owned(), value);
        }
    }

    pub fn text(&mut self, name: &'static str, chars_max: usize) -> Result<Option<String>, Usage> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => bounded(name, text, chars_max).map(Some),
            Some(_) => Err(wrong(name, "must be a string")),
        }
    }

    pub fn needed(&mut self, name: &'static str, chars_max: usize) -> Result<String, Usage> {
        self.text(name, chars_max)?.ok_or_else(|| wrong(name, "is missing"))
    }

    pub fn flag(&mut self, name: &'static str) -> Result<bool, Usage> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(wrong(name, "must be true or false")),
        }
    }

    /// An integer up to `max`. Some clients send every number with a decimal point.
    pub fn whole(&mut self, name: &'static str, max: u64) -> Result<Option<u64>, Usage> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let number = whole_number(&value).ok_or_else(|| wrong(name, "must be a non-negative integer"))?;
        if number > max {
            return Err(wrong(name, &format!("is {number}; the maximum is {max}")));
        }
        Ok(Some(number))
    }

    pub fn texts(
        &mut self,
        name: &'static str,
        n_max: usize,
        chars_max: usize,
    ) -> Result<Vec<String>, Usage> {
        let list = self.list(name, n_max)?;
        let text = |value: Value| match value.as_str() {
            Some(text) => bounded(name, text.to_owned(), chars_max),
            None => Err(wrong(name, "must be a list of strings")),
        };
        list.into_iter().map(text).collect()
    }

    pub fn list(&mut self, name: &'static str, n_max: usize) -> Result<Vec<Value>, Usage> {
        let list = match self.value(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(list)) => list,
            Some(_) => return Err(wrong(name, "must be a list")),
        };
        if list.len() > n_max {
            return Err(wrong(name, &format!("has {} entries; the maximum is {n_max}", list.len())));
        }
        Ok(list)
    }

    pub fn object(&mut self, name: &'static str) -> Result<Option<Map<String, Value>>, Usage> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(wrong(name, "must be an object")),
        }
    }

    pub fn finish(self) -> Result<(), Usage> {
        let Some(name) = self.given.keys().next() else { return Ok(()) };
        let shown: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
        let hint = match nearest(&shown, self.taken.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if self.taken.is_empty() => "it takes no arguments".to_owned(),
            None => format!("the arguments are {}", self.taken.join(", ")),
        };
        Err(Usage { message: format!("there is no argument `{shown}`"), hint })
    }
}

pub fn wrong(name: &str, what: &str) -> Usage {
    Usage { message: format!("the argument `{name}` {what}"), hint: SCHEMA_HINT.into() }
}

fn bounded(name: &str, text: String, chars_max: usize) -> Result<String, Usage> {
    // The byte length is an upper bound on the character count, and free.
    if text.len() > chars_max && text.chars().count() > chars_max {
        return Err(wrong(name, &format!("has more than {chars_max} characters")));
    }
    Ok(text)
}

pub fn whole_number(value: &Value) -> Option<u64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if let Some(number) = value.as_u64() {
        return Some(number);
    }
    let number =
        value.as_f64().filter(|number| (0.0..=EXACT_MAX).contains(number) && number.fract() == 0.0)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just above")]
    Some(number as u64)
}

#[cfg(test)]
mod tests;
