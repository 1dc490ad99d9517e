//! Arguments of a host call, bound to parameters by Python's rules. A mismatch raises an exception in the cell.
#![expect(clippy::wildcard_enum_match_arm, reason = "every other kind of value is treated alike")]

use spelunk_sandbox::{HostCall, HostReply, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: &'static str,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(crate) fn value(message: impl Into<String>) -> Self {
        Self::new("ValueError", message)
    }

    pub(crate) fn of_type(message: impl Into<String>) -> Self {
        Self::new("TypeError", message)
    }
}

impl From<Refusal> for HostReply {
    fn from(refusal: Refusal) -> Self {
        Self::Raise { kind: refusal.kind.to_owned(), message: refusal.message }
    }
}

#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    function: &'a str,
    params: &'static [&'static str],
    values: Vec<Option<Value>>,
}

impl<'a> Arguments<'a> {
    /// Binds the arguments of a call, moving them out of it.
    pub(crate) fn of(call: &'a mut HostCall, params: &'static [&'static str]) -> Result<Self, Refusal> {
        let function = call.name.as_str();
        let (args, kwargs) = (std::mem::take(&mut call.args), std::mem::take(&mut call.kwargs));
        if args.len() > params.len() {
            let (most, given) = (params.len(), args.len());
            return Err(Refusal::of_type(format!(
                "{function}() takes at most {most} arguments ({}), but {given} were given",
                params.join(", ")
            )));
        }
        let mut values: Vec<Option<Value>> = args.into_iter().map(Some).collect();
        values.resize(params.len(), None);
        for (name, value) in kwargs {
            let Some(idx) = params.iter().position(|param| *param == name) else {
                return Err(Refusal::of_type(format!(
                    "{function}() has no argument '{name}'; its arguments are {}",
                    params.join(", ")
                )));
            };
            if values[idx].is_some() {
                return Err(Refusal::of_type(format!("{function}() got '{name}' twice")));
            }
            values[idx] = Some(value);
        }
        Ok(Self { function, params, values })
    }

    /// The value of a parameter; `None` if it is not given or Python's `None`.
    pub(crate) fn take(&mut self, param: &str) -> Option<Value> {
        let idx = self.params.iter().position(|name| *name == param)?;
        self.values[idx].take().filter(|value| *value != Value::None)
    }

    pub(crate) fn need(&mut self, param: &str) -> Result<Value, Refusal> {
        let missing = || Refusal::of_type(format!("{}() needs '{param}'", self.function));
        let idx = self.params.iter().position(|name| *name == param).ok_or_else(missing)?;
        self.values[idx].take().ok_or_else(missing)
    }

    pub(crate) fn text(&mut self, param: &str) -> Result<Option<String>, Refusal> {
        self.take(param).map(|value| self.as_text(param, value)).transpose()
    }

    pub(crate) fn need_text(&mut self, param: &str) -> Result<String, Refusal> {
        let value = self.need(param)?;
        self.as_text(param, value)
    }

    fn as_text(&self, param: &str, value: Value) -> Result<String, Refusal> {
        match value {
            Value::Str(text) => Ok(text),
            other => Err(self.wrong(param, "a str", &other)),
        }
    }

    pub(crate) fn int(&mut self, param: &str) -> Result<Option<i64>, Refusal> {
        match self.take(param) {
            None => Ok(None),
            Some(Value::Int(n)) => Ok(Some(n)),
            Some(other) => Err(self.wrong(param, "an int", &other)),
        }
    }

    pub(crate) fn count(&mut self, param: &str) -> Result<Option<u64>, Refusal> {
        let Some(n) = self.int(param)? else { return Ok(None) };
        let refused = || Refusal::value(format!("{}(): '{param}' is {n}, less than 0", self.function));
        u64::try_from(n).map(Some).map_err(|_| refused())
    }

    pub(crate) fn flag(&mut self, param: &str) -> Result<Option<bool>, Refusal> {
        match self.take(param) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(Value::Int(n)) => Ok(Some(n != 0)),
            Some(other) => Err(self.wrong(param, "a bool", &other)),
        }
    }

    pub(crate) fn need_items(&mut self, param: &str) -> Result<Vec<Value>, Refusal> {
        match self.need(param)? {
            Value::List(items) | Value::Tuple(items) | Value::Set(items) => Ok(items),
            other => Err(self.wrong(param, "a list", &other)),
        }
    }

    pub(crate) fn wrong(&self, param: &str, expected: &str, found: &Value) -> Refusal {
        let (function, found) = (self.function, found.type_name());
        Refusal::of_type(format!("{function}(): '{param}' must be {expected}, not {found}"))
    }
}
