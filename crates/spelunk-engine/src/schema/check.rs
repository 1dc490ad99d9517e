//! Validates a value. Violations are sentences that a model can act on.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Map, Number, Value};
use spelunk_types::shorten;

use super::show::{canonical, named_list, pointer, shown, type_name};
use super::{Bound, BoundKind, Node, NodeIdx, Range, Rules, Type, Violation};

/// The most violations reported at once: a model fixes a few at a time.
const VIOLATIONS_MAX: usize = 10;
/// How many times subschemas may be applied to parts of the value. Nested alternatives multiply.
const STEPS_MAX: u64 = 1_000_000;
/// The maximum depth of schema and value together.
const DEPTH_MAX: u64 = 300;
const VALUE_DEPTH_MAX: usize = 128;
const STEP_BYTES: usize = 16;
const NAME_CHARS_MAX: usize = 100;
const LIST_CHARS_MAX: usize = 400;
const REASONS_MAX: usize = 3;

const TOO_DEEP: &str = "the value is nested too deeply";

pub(super) fn check(nodes: &[Node], value: &Value) -> Result<(), Vec<Violation>> {
    let mut check =
        Check { nodes, at: Vec::new(), violations: Vec::new(), n_steps: 0, depth: 0, gave_up: None };
    if is_deeper(value, VALUE_DEPTH_MAX) {
        check.gave_up = Some(TOO_DEEP);
    } else {
        check.node(0, value);
    }
    if let Some(why) = check.gave_up {
        return Err(vec![Violation { path: String::new(), message: why.to_owned() }]);
    }
    if check.violations.is_empty() { Ok(()) } else { Err(check.violations) }
}

struct Check<'a> {
    nodes: &'a [Node],
    at: Vec<String>,
    violations: Vec<Violation>,
    n_steps: u64,
    depth: u64,
    gave_up: Option<&'static str>,
}

impl Check<'_> {
    fn node(&mut self, idx: NodeIdx, value: &Value) {
        self.n_steps += 1;
        if self.n_steps > STEPS_MAX {
            self.gave_up = Some("the value and the schema are too large to validate");
        } else if self.depth >= DEPTH_MAX {
            self.gave_up = Some(TOO_DEEP);
        }
        if self.gave_up.is_some() || self.is_full() {
            return;
        }
        self.depth += 1;
        match self.nodes.get(idx) {
            Some(Node::Rules(rules)) => self.rules(rules, value),
            Some(Node::Nothing) => self.say("no value is allowed here".to_owned()),
            Some(Node::Anything) | None => {}
        }
        self.depth -= 1;
    }

    fn rules(&mut self, rules: &Rules, value: &Value) {
        if let Some(types) = &rules.types
            && !types.iter().any(|expected| is_of(*expected, value))
        {
            let expected: Vec<_> = types.iter().map(|expected| type_name(*expected)).collect();
            self.say(format!("expected {}, found {}", named_list(&expected, "or"), shown(value)));
            // The other keywords apply to other types.
            return;
        }
        self.given_values(rules, value);
        match value {
            Value::Number(number) => self.number(rules, number),
            Value::String(text) => self.text(rules, text),
            Value::Array(items) => self.items(rules, items),
            Value::Object(object) => self.object(rules, object),
            Value::Null | Value::Bool(_) => {}
        }
        for part in &rules.all_of {
            self.node(*part, value);
        }
        if let Some(parts) = &rules.any_of {
            self.any_of(parts, value);
        }
        if let Some(parts) = &rules.one_of {
            self.one_of(parts, value);
        }
        if let Some(part) = rules.not
            && self.faults_of(part, value).is_empty()
        {
            self.say(format!("{} has a type that is not allowed", shown(value)));
        }
    }

    fn given_values(&mut self, rules: &Rules, value: &Value) {
        if rules.constant.is_none() && rules.choices.is_none() {
            return;
        }
        let given = self.canonical(value);
        if let Some(constant) = rules.constant.as_ref().filter(|constant| constant.canonical != given) {
            self.say(format!("expected {}, found {}", constant.shown, shown(value)));
        }
        if let Some(choices) = &rules.choices
            && !choices.iter().any(|choice| choice.canonical == given)
        {
            let choices: Vec<_> = choices.iter().map(|choice| choice.shown.as_str()).collect();
            let choices = choices.join(", ");
            let choices = shorten(&choices, LIST_CHARS_MAX);
            self.say(format!("expected one of {choices}, found {}", shown(value)));
        }
    }

    fn number(&mut self, rules: &Rules, number: &Number) {
        for Bound { kind, number: bound } in &rules.bounds {
            let order = compare(number, bound);
            let (holds, words) = match kind {
                BoundKind::AtLeast => (order != Ordering::Less, "at least"),
                BoundKind::MoreThan => (order == Ordering::Greater, "more than"),
                BoundKind::AtMost => (order != Ordering::Greater, "at most"),
                BoundKind::LessThan => (order == Ordering::Less, "less than"),
            };
            if !holds {
                self.say(format!("expected a number of {words} {bound}, found {number}"));
            }
        }
    }

    fn text(&mut self, rules: &Rules, text: &str) {
        self.charge(text.len());
        if rules.chars.min.is_some() || rules.chars.max.is_some() {
            self.count(rules.chars, text.chars().count(), ["character", "characters"]);
        }
        if let Some(pattern) = &rules.pattern
            && !pattern.is_match(text)
        {
            let found = shown(&Value::String(text.to_owned()));
            self.say(format!(
                "expected text that matches `{}`, found {found}",
                shorten(pattern.as_str(), LIST_CHARS_MAX)
            ));
        }
    }

    fn items(&mut self, rules: &Rules, items: &[Value]) {
        self.count(rules.n_items, items.len(), ["item", "items"]);
        if rules.has_unique_items {
            let mut seen = HashSet::new();
            let again = items.iter().find(|item| !seen.insert(self.canonical(item)));
            if let Some(item) = again {
                self.say(format!("expected different items, found {} twice", shown(item)));
            }
        }
        for (n, item) in items.iter().enumerate() {
            if let Some(part) = rules.first_items.get(n).copied().or(rules.items) {
                self.within(n.to_string(), part, item);
            }
        }
    }

    fn object(&mut self, rules: &Rules, object: &Map<String, Value>) {
        for name in rules.required.iter().filter(|name| !object.contains_key(*name)) {
            self.say(format!("the property `{}` is missing", shorten(name, NAME_CHARS_MAX)));
        }
        self.count(rules.n_properties, object.len(), ["property", "properties"]);
        for (name, value) in object {
            match rules.properties.get(name) {
                Some(part) => self.within(name.clone(), *part, value),
                None => self.other_property(rules, name, value),
            }
        }
    }

    fn other_property(&mut self, rules: &Rules, name: &str, value: &Value) {
        let Some(part) = rules.other_properties else { return };
        if !matches!(self.nodes.get(part), Some(Node::Nothing)) {
            self.within(name.to_owned(), part, value);
            return;
        }
        let known: Vec<_> = rules.properties.keys().map(|known| format!("`{known}`")).collect();
        let allowed = match known.as_slice() {
            [] => "no properties are allowed".to_owned(),
            known => format!("allowed properties are {}", shorten(&known.join(", "), LIST_CHARS_MAX)),
        };
        self.say(format!("the property `{}` is not allowed; {allowed}", shorten(name, NAME_CHARS_MAX)));
    }

    fn any_of(&mut self, parts: &[NodeIdx], value: &Value) {
        let mut reasons = Vec::new();
        for part in parts {
            match self.faults_of(*part, value).into_iter().next() {
                Some(fault) => reasons.push(fault),
                None => return,
            }
        }
        self.none_fits(parts.len(), &reasons);
    }

    fn one_of(&mut self, parts: &[NodeIdx], value: &Value) {
        let mut reasons = Vec::new();
        let mut fitting = Vec::new();
        for (n, part) in parts.iter().enumerate() {
            match self.faults_of(*part, value).into_iter().next() {
                Some(fault) => reasons.push(fault),
                None => fitting.push((n + 1).to_string()),
            }
        }
        match fitting.as_slice() {
            [] => self.none_fits(parts.len(), &reasons),
            [_] => {}
            [..] => {
                let fitting = named_list(&fitting, "and");
                self.say(format!("matches alternatives {fitting} of {}; only one may match", parts.len()));
            }
        }
    }

    fn none_fits(&mut self, n_parts: usize, reasons: &[Violation]) {
        let here = pointer(&self.at);
        let told = reasons.iter().take(REASONS_MAX).enumerate().map(|(n, reason)| {
            let below = reason.path.strip_prefix(&here).unwrap_or_default();
            let place = if below.is_empty() { String::new() } else { format!("at {} ", reason.path) };
            format!("{}: {place}{}", n + 1, reason.message)
        });
        let told: Vec<_> = told.collect();
        self.say(format!("matches none of the {n_parts} alternatives ({})", told.join("; ")));
    }

    /// The violations of a value under another schema, without reporting them.
    fn faults_of(&mut self, part: NodeIdx, value: &Value) -> Vec<Violation> {
        let said = std::mem::take(&mut self.violations);
        self.node(part, value);
        std::mem::replace(&mut self.violations, said)
    }

    fn within(&mut self, step: String, part: NodeIdx, value: &Value) {
        self.at.push(step);
        self.node(part, value);
        self.at.pop();
    }

    fn count(&mut self, range: Range, n: usize, [one, many]: [&str; 2]) {
        let word = |n: u64| if n == 1 { one } else { many };
        let n = n as u64;
        if let Some(min) = range.min.filter(|min| n < *min) {
            self.say(format!("expected at least {min} {}, found {n}", word(min)));
        }
        if let Some(max) = range.max.filter(|max| n > *max) {
            self.say(format!("expected at most {max} {}, found {n}", word(max)));
        }
    }

    fn canonical(&mut self, value: &Value) -> String {
        let text = canonical(value);
        self.charge(text.len());
        text
    }

    fn charge(&mut self, bytes: usize) {
        self.n_steps += (bytes / STEP_BYTES) as u64;
    }

    fn say(&mut self, message: String) {
        if !self.is_full() {
            self.violations.push(Violation { path: pointer(&self.at), message });
        }
    }

    fn is_full(&self) -> bool {
        self.violations.len() >= VIOLATIONS_MAX
    }
}

fn is_of(expected: Type, value: &Value) -> bool {
    match (expected, value) {
        (Type::Null, Value::Null)
        | (Type::Boolean, Value::Bool(_))
        | (Type::Number, Value::Number(_))
        | (Type::String, Value::String(_))
        | (Type::Array, Value::Array(_))
        | (Type::Object, Value::Object(_)) => true,
        // According to the standard, 1.0 is an integer.
        (Type::Integer, Value::Number(number)) => {
            number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
        }
        _ => false,
    }
}

fn is_deeper(value: &Value, depth_max: usize) -> bool {
    let mut level: Vec<&Value> = vec![value];
    for _ in 0..depth_max {
        level = level.into_iter().flat_map(children).collect();
        if level.is_empty() {
            return false;
        }
    }
    true
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(object) => object.values().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn compare(a: &Number, b: &Number) -> Ordering {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
    }
}
