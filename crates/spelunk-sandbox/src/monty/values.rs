//! Converts values between the interpreter's heap and the host.

use std::collections::{BTreeSet, HashMap};

use monty_types::unstable::{MontyNode, child, node};
use monty_types::{MontyObject, MontyUuid, ObjectRef};

use crate::{Handle, Value};

/// Deeper nesting is sent as text. This keeps the recursion within the stack.
const DEPTH_MAX: usize = 200;
/// The length of the `repr` that represents a value which cannot be sent.
const REPR_CHARS_MAX: usize = 500;
/// Classes of host objects that a call may return although no variable is one.
const USUAL_CLASSES: [&str; 3] = ["Text", "Documents", "Records"];
/// Ids of handles and their classes begin here, where the sandbox's own never are.
const HANDLE_IDS: u128 = 0x5be1_0000_0000_0000_0000_0000_0000_0000;

/// The host objects given to a session. Nothing else can be a receiver.
#[derive(Debug, Default)]
pub(super) struct Handles {
    by_id: HashMap<MontyUuid, Handle>,
    ids: HashMap<Handle, MontyUuid>,
    classes: HashMap<String, MontyUuid>,
    /// Whether a large text that is not ASCII was among the values.
    pub(super) has_wide: bool,
}

impl Handles {
    /// The host object with this identity, if it was given to this session.
    pub(super) fn get(&self, id: MontyUuid) -> Option<&Handle> {
        self.by_id.get(&id)
    }

    pub(super) fn is_class(&self, id: MontyUuid) -> bool {
        self.classes.values().any(|class| *class == id)
    }

    /// The classes of host objects as Python shows them: existing ones, and those the host may return.
    pub(super) fn shown_classes(&self) -> MontyObject {
        let usual = USUAL_CLASSES.into_iter().filter(|_| !self.classes.is_empty());
        let names: BTreeSet<&str> = self.classes.keys().map(String::as_str).chain(usual).collect();
        MontyObject::list(names.into_iter().map(|name| MontyObject::string(format!("<class '{name}'>"))))
    }

    pub(super) fn n_classes(&self) -> usize {
        self.classes.len()
    }

    pub(super) fn has_texts_only(&self) -> bool {
        self.classes.keys().all(|class| class == "Text")
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    fn object(&mut self, handle: Handle) -> MontyObject {
        let n_classes = self.classes.len() as u128;
        let class_id = *self
            .classes
            .entry(handle.class.clone())
            .or_insert_with(|| MontyUuid::from_u128(HANDLE_IDS | (1 << 64) | n_classes));
        let n_handles = self.by_id.len() as u128;
        let id =
            *self.ids.entry(handle.clone()).or_insert_with(|| MontyUuid::from_u128(HANDLE_IDS | n_handles));
        let class = MontyObject::class_type(handle.class.clone(), class_id, true, false, []);
        self.by_id.insert(id, handle);
        MontyObject::class_instance(class, id, [])
    }
}

const LARGE_BYTES: usize = 32 * 1024;

pub(super) fn to_monty(value: Value, handles: &mut Handles) -> MontyObject {
    match value {
        Value::None | Value::Opaque { .. } => MontyObject::none(),
        Value::Bool(bool) => MontyObject::bool(bool),
        Value::Int(int) => MontyObject::int(int),
        // An invalid decimal comes from a broken host; its text is the most useful thing left.
        Value::BigInt(text) => match text.parse() {
            Ok(int) => MontyObject::bigint(int),
            Err(_) => MontyObject::string(text),
        },
        Value::Float(float) => MontyObject::float(float),
        Value::Str(text) => {
            handles.has_wide |= text.len() >= LARGE_BYTES && !text.is_ascii();
            MontyObject::string(text)
        }
        Value::Bytes(bytes) => MontyObject::bytes(bytes),
        Value::List(items) => MontyObject::list(all_to_monty(items, handles)),
        Value::Tuple(items) => MontyObject::tuple(all_to_monty(items, handles)),
        Value::Set(items) => MontyObject::set(all_to_monty(items, handles)),
        Value::Dict(pairs) => MontyObject::dict(
            pairs
                .into_iter()
                .map(|(key, value)| (to_monty(key, handles), to_monty(value, handles)))
                .collect::<Vec<_>>(),
        ),
        Value::Slice(start, end, step) => MontyObject::tuple(
            [start, end, step]
                .into_iter()
                .map(|bound| bound.map_or_else(MontyObject::none, MontyObject::int)),
        ),
        Value::Handle(handle) => handles.object(handle),
    }
}

fn all_to_monty(items: Vec<Value>, handles: &mut Handles) -> Vec<MontyObject> {
    items.into_iter().map(|item| to_monty(item, handles)).collect()
}

pub(super) fn from_monty(object: ObjectRef<'_>, handles: &Handles) -> Value {
    from_monty_at(object, handles, 0)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all other objects are opaque to the host")]
fn from_monty_at(object: ObjectRef<'_>, handles: &Handles, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Opaque { type_name: object.type_name().to_owned(), repr: "...".to_owned() };
    }
    let convert = |id| from_monty_at(child(object, id), handles, depth + 1);
    let all = |ids: &[monty_types::unstable::NodeId]| ids.iter().map(|id| convert(*id)).collect::<Vec<_>>();
    match node(object) {
        MontyNode::None => Value::None,
        MontyNode::Bool(bool) => Value::Bool(*bool),
        MontyNode::Int(int) => Value::Int(*int),
        MontyNode::BigInt(int) => Value::BigInt(int.to_string()),
        MontyNode::Float(float) => Value::Float(*float),
        MontyNode::String(text) | MontyNode::Path(text) => Value::Str(text.clone()),
        MontyNode::Bytes(bytes) => Value::Bytes(bytes.clone()),
        MontyNode::List(items) => Value::List(all(items)),
        MontyNode::Tuple(items) | MontyNode::NamedTuple { values: items, .. } => Value::Tuple(all(items)),
        MontyNode::Set(items) | MontyNode::FrozenSet(items) => Value::Set(all(items)),
        MontyNode::Dict(pairs) => {
            Value::Dict(pairs.iter().map(|(key, value)| (convert(*key), convert(*value))).collect())
        }
        MontyNode::ClassInstance { instance_id, .. } => {
            handles.get(*instance_id).map_or_else(|| opaque(object), |handle| Value::Handle(handle.clone()))
        }
        _ => opaque(object),
    }
}

fn opaque(object: ObjectRef<'_>) -> Value {
    // The interpreter's fallback already is a `repr`; other values have one.
    let repr = if let MontyNode::Repr(repr) = node(object) { repr.clone() } else { object.py_repr() };
    let repr: String = repr.chars().take(REPR_CHARS_MAX).collect();
    Value::Opaque { type_name: object.type_name().to_owned(), repr }
}
