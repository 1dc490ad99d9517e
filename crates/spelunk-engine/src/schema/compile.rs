//! Parses a schema: every keyword is either supported, known not to affect validity, or refused.

use std::collections::BTreeMap;

use regex::RegexBuilder;
use serde_json::{Number, Value};
use spelunk_types::shorten;

use super::show::{canonical, pointer, shown};
use super::{Bound, BoundKind, Choice, Node, NodeIdx, Rules, SchemaError, Type};

const PATTERN_BYTES_MAX: usize = 1024 * 1024;

const CHOICE_CHARS_MAX: usize = 200;

/// Keywords that do not affect validity. According to the standard, `format` is one of them.
const ANNOTATIONS: &str = "$schema $id $comment title description default examples example deprecated readOnly writeOnly \
    format contentEncoding contentMediaType discriminator";

pub(super) fn compile(root: &Value) -> Result<Vec<Node>, SchemaError> {
    let mut compiler =
        Compiler { root, nodes: vec![Node::Anything], targets: BTreeMap::new(), waiting: Vec::new() };
    compiler.targets.insert("#".to_owned(), 0);
    compiler.nodes[0] = compiler.node(root, &mut Vec::new())?;
    while let Some((idx, value, mut at)) = compiler.waiting.pop() {
        compiler.nodes[idx] = compiler.node(value, &mut at)?;
    }
    compiler.refuse_loops()?;
    Ok(compiler.nodes)
}

struct Compiler<'a> {
    root: &'a Value,
    nodes: Vec<Node>,
    targets: BTreeMap<String, NodeIdx>,
    /// Referenced schemas that are not compiled yet: references may be circular.
    waiting: Vec<(NodeIdx, &'a Value, Vec<String>)>,
}

impl<'a> Compiler<'a> {
    fn node(&mut self, value: &'a Value, at: &mut Vec<String>) -> Result<Node, SchemaError> {
        match value {
            Value::Bool(true) => Ok(Node::Anything),
            Value::Bool(false) => Ok(Node::Nothing),
            Value::Object(object) => {
                let mut rules = Rules::default();
                for (keyword, value) in object {
                    at.push(keyword.clone());
                    self.keyword(&mut rules, keyword, value, at)?;
                    at.pop();
                }
                Ok(Node::Rules(Box::new(rules)))
            }
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(SchemaError::NotASchema { at: pointer_or_root(at), what: shown(value) })
            }
        }
    }

    fn keyword(
        &mut self,
        rules: &mut Rules,
        keyword: &str,
        value: &'a Value,
        at: &mut Vec<String>,
    ) -> Result<(), SchemaError> {
        match keyword {
            "type" => rules.types = Some(types(value, at)?),
            "enum" => rules.choices = Some(array(value, at)?.iter().map(choice).collect()),
            "const" => rules.constant = Some(choice(value)),
            "minimum" => rules.bounds.push(bound(BoundKind::AtLeast, value, at)?),
            "exclusiveMinimum" => rules.bounds.push(bound(BoundKind::MoreThan, value, at)?),
            "maximum" => rules.bounds.push(bound(BoundKind::AtMost, value, at)?),
            "exclusiveMaximum" => rules.bounds.push(bound(BoundKind::LessThan, value, at)?),
            "minLength" => rules.chars.min = Some(size(value, at)?),
            "maxLength" => rules.chars.max = Some(size(value, at)?),
            "pattern" => rules.pattern = Some(pattern(value, at)?),
            "minItems" => rules.n_items.min = Some(size(value, at)?),
            "maxItems" => rules.n_items.max = Some(size(value, at)?),
            "uniqueItems" => {
                rules.has_unique_items = value.as_bool().ok_or_else(|| wrong(at, "`true` or `false`"))?;
            }
            "minProperties" => rules.n_properties.min = Some(size(value, at)?),
            "maxProperties" => rules.n_properties.max = Some(size(value, at)?),
            "required" => rules.required = names(value, at)?,
            "prefixItems" => rules.first_items = self.list(value, at)?,
            "items" => rules.items = Some(self.part(value, at)?),
            "properties" => rules.properties = self.named(value, at)?,
            "additionalProperties" => rules.other_properties = Some(self.part(value, at)?),
            "allOf" => {
                let parts = self.list(value, at)?;
                rules.all_of.extend(parts);
            }
            "anyOf" => rules.any_of = Some(self.list(value, at)?),
            "oneOf" => rules.one_of = Some(self.list(value, at)?),
            "not" => rules.not = Some(self.part(value, at)?),
            "$ref" => {
                let target = self.target(value, at)?;
                rules.all_of.push(target);
            }
            // Compiled only to find unsupported keywords; references find them by name.
            "$defs" | "definitions" => drop(self.named(value, at)?),
            word if ANNOTATIONS.split(' ').any(|known| known == word) || word.starts_with("x-") => {}
            word => {
                let place = at.get(..at.len() - 1).unwrap_or_default();
                return Err(SchemaError::Unsupported {
                    at: pointer_or_root(place),
                    keyword: word.to_owned(),
                });
            }
        }
        Ok(())
    }

    fn part(&mut self, value: &'a Value, at: &mut Vec<String>) -> Result<NodeIdx, SchemaError> {
        let node = self.node(value, at)?;
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    fn list(&mut self, value: &'a Value, at: &mut Vec<String>) -> Result<Vec<NodeIdx>, SchemaError> {
        let mut parts = Vec::new();
        for (n, value) in array(value, at)?.iter().enumerate() {
            at.push(n.to_string());
            parts.push(self.part(value, at)?);
            at.pop();
        }
        Ok(parts)
    }

    fn named(
        &mut self,
        value: &'a Value,
        at: &mut Vec<String>,
    ) -> Result<BTreeMap<String, NodeIdx>, SchemaError> {
        let mut parts = BTreeMap::new();
        for (name, value) in value.as_object().ok_or_else(|| wrong(at, "an object of schemas"))? {
            at.push(name.clone());
            parts.insert(name.clone(), self.part(value, at)?);
            at.pop();
        }
        Ok(parts)
    }

    fn target(&mut self, value: &Value, at: &[String]) -> Result<NodeIdx, SchemaError> {
        let target = value.as_str().ok_or_else(|| wrong(at, "text"))?;
        if let Some(idx) = self.targets.get(target) {
            return Ok(*idx);
        }
        let no_target = || SchemaError::NoTarget { at: pointer_or_root(at), target: target.to_owned() };
        let path = ["$defs", "definitions"].into_iter().find_map(|group| {
            let name = target.strip_prefix("#/")?.strip_prefix(group)?.strip_prefix('/')?;
            (!name.contains('/')).then(|| [group.to_owned(), name.replace("~1", "/").replace("~0", "~")])
        });
        let [group, name] = path.ok_or_else(no_target)?;
        let schema = self.root.get(&group).and_then(|group| group.get(&name)).ok_or_else(no_target)?;
        let idx = self.nodes.len();
        self.nodes.push(Node::Anything);
        self.targets.insert(target.to_owned(), idx);
        self.waiting.push((idx, schema, vec![group, name]));
        Ok(idx)
    }

    /// Rejects references that lead back to themselves on the same value: validation would not terminate.
    fn refuse_loops(&self) -> Result<(), SchemaError> {
        let mut is_done = vec![false; self.nodes.len()];
        let mut is_open = vec![false; self.nodes.len()];
        for (target, start) in &self.targets {
            let mut stack = vec![(*start, false)];
            while let Some((idx, is_left)) = stack.pop() {
                if is_left {
                    (is_open[idx], is_done[idx]) = (false, true);
                } else if is_open[idx] {
                    return Err(SchemaError::Loop { target: target.clone() });
                } else if !is_done[idx] {
                    is_open[idx] = true;
                    stack.push((idx, true));
                    stack.extend(same_place(&self.nodes[idx]).map(|next| (next, false)));
                }
            }
        }
        Ok(())
    }
}

/// The nodes that apply to the same value as this one.
fn same_place(node: &Node) -> impl Iterator<Item = NodeIdx> {
    let rules = match node {
        Node::Rules(rules) => Some(rules),
        Node::Anything | Node::Nothing => None,
    };
    rules.into_iter().flat_map(|rules| {
        let some_of = rules.any_of.iter().chain(&rules.one_of).flatten();
        rules.all_of.iter().chain(some_of).chain(&rules.not).copied()
    })
}

fn wrong(at: &[String], expected: &'static str) -> SchemaError {
    let (keyword, place) = at.split_last().map_or((String::new(), at), |(last, place)| (last.clone(), place));
    SchemaError::WrongValue { at: pointer_or_root(place), keyword, expected }
}

fn pointer_or_root(at: &[String]) -> String {
    if at.is_empty() { "/".to_owned() } else { pointer(at) }
}

fn array<'a>(value: &'a Value, at: &[String]) -> Result<&'a Vec<Value>, SchemaError> {
    value.as_array().filter(|array| !array.is_empty()).ok_or_else(|| wrong(at, "a non-empty array"))
}

fn choice(value: &Value) -> Choice {
    Choice { canonical: canonical(value), shown: shorten(&value.to_string(), CHOICE_CHARS_MAX).into_owned() }
}

fn names(value: &Value, at: &[String]) -> Result<Vec<String>, SchemaError> {
    let names = value.as_array().and_then(|names| {
        names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    });
    names.ok_or_else(|| wrong(at, "an array of strings"))
}

fn size(value: &Value, at: &[String]) -> Result<u64, SchemaError> {
    value.as_u64().ok_or_else(|| wrong(at, "a non-negative integer"))
}

fn bound(kind: BoundKind, value: &Value, at: &[String]) -> Result<Bound, SchemaError> {
    let number: &Number = value.as_number().ok_or_else(|| wrong(at, "a number"))?;
    Ok(Bound { kind, number: number.clone() })
}

fn pattern(value: &Value, at: &[String]) -> Result<regex::Regex, SchemaError> {
    let pattern = value.as_str().ok_or_else(|| wrong(at, "text"))?;
    RegexBuilder::new(pattern).size_limit(PATTERN_BYTES_MAX).build().map_err(|error| {
        let why = error.to_string();
        let last = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        SchemaError::Pattern { at: pointer_or_root(at), pattern: pattern.to_owned(), why: last }
    })
}

fn types(value: &Value, at: &[String]) -> Result<Vec<Type>, SchemaError> {
    const EXPECTED: &str = "a type name, or an array of type names";
    let one = |value: &Value| value.as_str().and_then(type_named).ok_or_else(|| wrong(at, EXPECTED));
    match value {
        Value::Array(names) if !names.is_empty() => names.iter().map(one).collect(),
        Value::String(_) => Ok(vec![one(value)?]),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(wrong(at, EXPECTED))
        }
    }
}

fn type_named(name: &str) -> Option<Type> {
    match name {
        "null" => Some(Type::Null),
        "boolean" => Some(Type::Boolean),
        "integer" => Some(Type::Integer),
        "number" => Some(Type::Number),
        "string" => Some(Type::String),
        "array" => Some(Type::Array),
        "object" => Some(Type::Object),
        _ => None,
    }
}
