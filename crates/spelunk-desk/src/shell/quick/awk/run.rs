//! Running an awk program over lines.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

use super::super::text::{Output, Span};
use super::format::Piece;
use super::order;
use super::parse::usize_of;
use super::tree::{Expr, Function, Place, Program, Sign, Statement, Test};
use super::value::Value;

/// Bytes of one text that is made or kept.
const TEXT_BYTES_MAX: usize = 64 * 1024;
/// What an element of an array takes beside its key and its text.
const ELEMENT_BYTES: usize = 64;
/// Steps that it takes to find the order of an array, for each of its keys.
const ORDER_STEPS: u64 = 4;
/// Fields of one line.
const FIELDS_MAX: usize = 1_000_000;

/// What a statement did to the order of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    /// To the next line.
    Next,
}

/// A program that is running. `'t` is the life of the program and of what it reads.
pub(super) struct Machine<'t, 'o> {
    program: &'t Program,
    separator: Option<u8>,
    output_separator: &'t [u8],
    out: &'o mut Output,
    line: &'t [u8],
    /// The fields that were looked for so far, and where the next one begins.
    fields: Vec<Span>,
    next_field: Option<usize>,
    line_number: usize,
    file_line_number: usize,
    scalars: Vec<Value<'static>>,
    arrays: Vec<Array>,
    /// What its variables and arrays take.
    bytes_held: usize,
}

/// Where a value is kept.
#[derive(Debug, Clone, Copy)]
enum Spot {
    Scalar(usize),
    Element { array: usize, idx: usize },
}

/// An array, with its elements in the order they came to be.
#[derive(Debug, Default)]
struct Array {
    places: HashMap<Rc<[u8]>, usize>,
    keys: Vec<Rc<[u8]>>,
    values: Vec<Value<'static>>,
}

impl<'t, 'o> Machine<'t, 'o> {
    pub(super) fn new(
        program: &'t Program,
        separator: Option<u8>,
        output_separator: &'t [u8],
        out: &'o mut Output,
    ) -> Self {
        Self {
            program,
            separator,
            output_separator,
            out,
            line: b"",
            fields: Vec::new(),
            next_field: None,
            line_number: 0,
            file_line_number: 0,
            scalars: vec![Value::Unset; program.n_scalars],
            arrays: std::iter::repeat_with(Array::default).take(program.n_arrays).collect(),
            bytes_held: 0,
        }
    }

    /// Sets a variable from outside.
    pub(super) fn set(&mut self, scalar: usize, value: &str) -> Option<()> {
        self.put(Spot::Scalar(scalar), Value::Input(Cow::Owned(value.as_bytes().to_vec())))
    }

    pub(super) fn begin(&mut self) -> Option<()> {
        self.all(&self.program.first).map(drop)
    }

    pub(super) fn begin_file(&mut self) {
        self.file_line_number = 0;
    }

    pub(super) fn line(&mut self, line: &'t [u8]) -> Option<()> {
        self.spend(line.len())?;
        self.line = line;
        self.fields.clear();
        self.next_field = (!line.is_empty()).then_some(0);
        self.line_number += 1;
        self.file_line_number += 1;
        for rule in &self.program.rules {
            let is_due = match &rule.condition {
                None => true,
                Some(condition) => self.value(condition)?.is_true()?,
            };
            if is_due && self.all(&rule.body)? == Flow::Next {
                break;
            }
        }
        Some(())
    }

    pub(super) fn end(&mut self) -> Option<()> {
        self.all(&self.program.last).map(drop)
    }

    fn all(&mut self, statements: &'t [Statement]) -> Option<Flow> {
        for statement in statements {
            self.spend(0)?;
            let flow = match statement {
                Statement::Print(items) => self.print(items)?,
                Statement::Format(pieces, given) => self.format(pieces, given)?,
                Statement::Do(expr) => {
                    self.value(expr)?;
                    Flow::On
                }
                Statement::If { condition, then, otherwise } => {
                    let is_true = self.value(condition)?.is_true()?;
                    self.all(if is_true { then } else { otherwise })?
                }
                Statement::Each { scalar, array, body } => self.each(*scalar, *array, body)?,
                Statement::Next => Flow::Next,
            };
            if flow == Flow::Next {
                return Some(Flow::Next);
            }
        }
        Some(Flow::On)
    }

    fn print(&mut self, items: &'t [Expr]) -> Option<Flow> {
        if items.is_empty() {
            self.out.push_line(self.line)?;
            return Some(Flow::On);
        }
        // An item may change what the next one reads, so each is written in its turn.
        for (idx, item) in items.iter().enumerate() {
            if idx > 0 {
                self.out.push(self.output_separator)?;
            }
            let text = self.value(item)?.text()?;
            self.out.push(&text)?;
        }
        self.out.push(b"\n")?;
        Some(Flow::On)
    }

    fn format(&mut self, pieces: &'t [Piece], given: &'t [Expr]) -> Option<Flow> {
        let mut given = given.iter();
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.out.push(text.as_bytes())?,
                Piece::Slot(slot) => {
                    let value = self.value(given.next()?)?;
                    self.out.push(&slot.filled(value)?)?;
                }
            }
        }
        Some(Flow::On)
    }

    fn each(&mut self, scalar: usize, array: usize, body: &'t [Statement]) -> Option<Flow> {
        let n_keys = self.arrays.get(array)?.keys.len();
        self.out.work.spend((n_keys as u64).saturating_mul(ORDER_STEPS))?;
        // The keys as they are now are held until the loop is over.
        let bytes_taken = n_keys.saturating_mul(ELEMENT_BYTES);
        self.hold(bytes_taken)?;
        let keys = self.arrays.get(array)?.keys.clone();
        for idx in order::visited(&keys)? {
            let key = keys.get(idx)?;
            self.spend(key.len())?;
            self.put(Spot::Scalar(scalar), Value::Key(Cow::Owned(key.to_vec())))?;
            if self.all(body)? == Flow::Next {
                self.bytes_held -= bytes_taken;
                return Some(Flow::Next);
            }
        }
        self.bytes_held -= bytes_taken;
        Some(Flow::On)
    }

    /// A step, and going over a text.
    fn spend(&mut self, n_bytes: usize) -> Option<()> {
        self.out.work.spend(1)?;
        self.out.work.spend_bytes(n_bytes, 1)
    }

    /// Takes memory; nothing if that is too much.
    fn hold(&mut self, n_bytes: usize) -> Option<()> {
        self.bytes_held = self.bytes_held.saturating_add(n_bytes);
        (self.bytes_held <= self.out.bytes_max).then_some(())
    }

    /// A value. Whatever is done with a text goes over it about once.
    fn value(&mut self, expr: &'t Expr) -> Option<Value<'t>> {
        let value = self.evaluated(expr)?;
        self.spend(value.n_bytes())?;
        Some(value)
    }

    fn evaluated(&mut self, expr: &'t Expr) -> Option<Value<'t>> {
        Some(match expr {
            Expr::Number(n) => Value::Number(*n),
            Expr::Text(text) => Value::Text(Cow::Borrowed(text.as_bytes())),
            Expr::Line => Value::Input(Cow::Borrowed(self.line)),
            Expr::Field(idx) => self.field(*idx)?,
            Expr::FieldOf(idx) => match usize_of(self.value(idx)?.number()?)? {
                0 => Value::Input(Cow::Borrowed(self.line)),
                idx => self.field(idx)?,
            },
            Expr::FieldCount => {
                self.split_to(usize::MAX)?;
                number(self.fields.len())
            }
            Expr::LineNumber => number(self.line_number),
            Expr::FileLineNumber => number(self.file_line_number),
            Expr::Place(place) | Expr::Group(place) => self.read(place)?,
            Expr::IsIn(key, array) => {
                let key = self.value(key)?.key()?;
                Value::truth(self.arrays.get(*array)?.places.contains_key(&*key))
            }
            Expr::ArrayLength(array) => number(self.arrays.get(*array)?.keys.len()),
            Expr::Matches { text, pattern, is_negated } => {
                let text = self.value(text)?.text()?;
                // The ends of lines in a text are not those of the text.
                if memchr::memchr(b'\n', &text).is_some() {
                    return None;
                }
                pattern.spend(text.len(), &mut self.out.work)?;
                Value::truth(pattern.find_line(&text, 0).is_some() != *is_negated)
            }
            Expr::Not(of) => Value::truth(!self.value(of)?.is_true()?),
            Expr::Minus(of) => Value::Number(-self.value(of)?.number()?),
            Expr::Plus(of) => Value::Number(self.value(of)?.number()?),
            Expr::Compute(sign, left, right) => {
                let left = self.value(left)?.number()?;
                Value::Number(computed(*sign, left, self.value(right)?.number()?)?)
            }
            Expr::Compare(test, left, right) => {
                let left = self.value(left)?;
                Value::truth(holds(*test, left.compare(self.value(right)?)?))
            }
            Expr::And(left, right) => {
                Value::truth(self.value(left)?.is_true()? && self.value(right)?.is_true()?)
            }
            Expr::Or(left, right) => {
                Value::truth(self.value(left)?.is_true()? || self.value(right)?.is_true()?)
            }
            Expr::Choose(condition, then, otherwise) => {
                let is_true = self.value(condition)?.is_true()?;
                self.value(if is_true { then } else { otherwise })?
            }
            Expr::Join(parts) => self.joined(parts)?,
            Expr::Assign(place, sign, of) => self.assign(place, *sign, of)?,
            Expr::Step { place, by, gives_new } => self.step(place, *by, *gives_new)?,
            Expr::Call(function, given) => self.call(*function, given)?,
        })
    }

    fn joined(&mut self, parts: &'t [Expr]) -> Option<Value<'t>> {
        let mut all = Vec::new();
        for part in parts {
            let text = self.value(part)?.text()?;
            if text.len() > TEXT_BYTES_MAX - all.len() {
                return None;
            }
            all.extend_from_slice(&text);
        }
        Some(Value::Text(Cow::Owned(all)))
    }

    /// A field, from 1.
    fn field(&mut self, idx: usize) -> Option<Value<'t>> {
        self.split_to(idx)?;
        Some(match self.fields.get(idx - 1) {
            Some(field) => Value::Input(Cow::Borrowed(field.of(self.line))),
            None => Value::Missing,
        })
    }

    /// Finds the first fields of the line; nothing if they are too many.
    fn split_to(&mut self, n_fields: usize) -> Option<()> {
        while self.fields.len() < n_fields {
            let Some(from) = self.next_field else { return Some(()) };
            let rest = self.line.get(from..).unwrap_or_default();
            let (start, end) = match self.separator {
                Some(separator) => (0, rest.iter().position(|byte| *byte == separator)),
                None => {
                    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
                    let Some(start) = rest.iter().position(|byte| !is_blank(byte)) else {
                        self.next_field = None;
                        return Some(());
                    };
                    let n_bytes = rest.iter().skip(start).position(is_blank);
                    (start, n_bytes.map(|n_bytes| start + n_bytes))
                }
            };
            if self.fields.len() == FIELDS_MAX {
                return None;
            }
            self.fields.push(Span::between(from + start, from + end.unwrap_or(rest.len())));
            self.next_field = end.map(|end| from + end + 1);
        }
        Some(())
    }

    /// Where an element lies, which is there from now on.
    fn element(&mut self, array: usize, key: &'t Expr) -> Option<usize> {
        let key = self.value(key)?.key()?;
        if let Some(&idx) = self.arrays.get(array)?.places.get(&*key) {
            return Some(idx);
        }
        if key.len() > TEXT_BYTES_MAX {
            return None;
        }
        self.hold(ELEMENT_BYTES + key.len())?;
        let array = self.arrays.get_mut(array)?;
        let key: Rc<[u8]> = Rc::from(&*key);
        array.places.insert(Rc::clone(&key), array.keys.len());
        array.keys.push(key);
        array.values.push(Value::Unset);
        Some(array.keys.len() - 1)
    }

    /// Where a value is kept. What computes its key may change things, so this is asked once.
    fn spot(&mut self, place: &'t Place) -> Option<Spot> {
        Some(match place {
            Place::Scalar(idx) => Spot::Scalar(*idx),
            Place::Element(array, key) => Spot::Element { array: *array, idx: self.element(*array, key)? },
        })
    }

    fn at(&self, spot: Spot) -> Option<&Value<'static>> {
        match spot {
            Spot::Scalar(idx) => self.scalars.get(idx),
            Spot::Element { array, idx } => self.arrays.get(array)?.values.get(idx),
        }
    }

    fn put(&mut self, spot: Spot, value: Value<'static>) -> Option<()> {
        let n_bytes = value.n_bytes();
        let place = match spot {
            Spot::Scalar(idx) => self.scalars.get_mut(idx)?,
            Spot::Element { array, idx } => self.arrays.get_mut(array)?.values.get_mut(idx)?,
        };
        let was = std::mem::replace(place, value);
        self.bytes_held = self.bytes_held.saturating_sub(was.n_bytes());
        self.hold(n_bytes)
    }

    fn read(&mut self, place: &'t Place) -> Option<Value<'t>> {
        let spot = self.spot(place)?;
        let value = self.at(spot)?.clone();
        // An element that was looked at before it was set may be a text from then on.
        if let (Spot::Element { .. }, Value::Unset) = (spot, &value) {
            self.put(spot, Value::Missing)?;
        }
        Some(value)
    }

    fn assign(&mut self, place: &'t Place, sign: Option<Sign>, of: &'t Expr) -> Option<Value<'t>> {
        let given = self.value(of)?;
        let spot = self.spot(place)?;
        let value = match sign {
            None if given.n_bytes() > TEXT_BYTES_MAX => return None,
            None => given.kept(),
            Some(sign) => Value::Number(computed(sign, self.at(spot)?.number()?, given.number()?)?),
        };
        self.put(spot, value.clone())?;
        Some(value)
    }

    fn step(&mut self, place: &'t Place, by: f64, gives_new: bool) -> Option<Value<'t>> {
        let spot = self.spot(place)?;
        let was = self.at(spot)?.number()?;
        self.put(spot, Value::Number(was + by))?;
        Some(Value::Number(if gives_new { was + by } else { was }))
    }

    fn call(&mut self, function: Function, given: &'t [Expr]) -> Option<Value<'t>> {
        let mut given = given.iter().map(|given| self.value(given)).collect::<Option<Vec<_>>>()?.into_iter();
        let first = given.next()?;
        let is_copied = matches!(function, Function::ToLower | Function::ToUpper);
        if is_copied && first.n_bytes() > TEXT_BYTES_MAX {
            return None;
        }
        Some(match function {
            Function::Length => number(first.text()?.len()),
            Function::Int => Value::Number(first.number()?.trunc()),
            Function::ToLower => Value::Text(Cow::Owned(first.text()?.to_ascii_lowercase())),
            Function::ToUpper => Value::Text(Cow::Owned(first.text()?.to_ascii_uppercase())),
            Function::Index => {
                let (text, part) = (first.text()?, given.next()?.text()?);
                // Nothing stands at the first place to some, and nowhere to others.
                if part.is_empty() {
                    return None;
                }
                number(memchr::memmem::find(&text, &part).map_or(0, |at| at + 1))
            }
            Function::Substr => {
                let from = given.next()?.number()?;
                let n_chars = given.next().map(|n| n.number()).map_or(Some(None), |n| n.map(Some))?;
                Value::Text(Cow::Owned(substr(&first.text()?, from, n_chars)?))
            }
        })
    }
}

/// A part of a text from a character on, counted from 1. What stands before the first, and numbers that are not whole, are
/// counted in more than one way.
fn substr(text: &[u8], from: f64, n_chars: Option<f64>) -> Option<Vec<u8>> {
    let is_plain = |n: f64| n.fract() == 0.0 && n.abs() < 1e9;
    let end = match n_chars {
        Some(n_chars) if is_plain(n_chars) => from + n_chars,
        Some(_) => return None,
        None => 1e9,
    };
    if !is_plain(from) || from < 1.0 {
        return None;
    }
    let at = |n: f64| usize_of((n - 1.0).clamp(0.0, 1e9)).map(|at| at.min(text.len()));
    let part = text.get(at(from)?..at(end)?).unwrap_or_default();
    (part.len() <= TEXT_BYTES_MAX).then(|| part.to_vec())
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below the limit of whole numbers")]
fn number<'t>(n: usize) -> Value<'t> {
    Value::Number(n as f64)
}

/// The result of a sum or the like; nothing where there is none that can be written.
fn computed(sign: Sign, left: f64, right: f64) -> Option<f64> {
    let result = match sign {
        Sign::Add => left + right,
        Sign::Subtract => left - right,
        Sign::Multiply => left * right,
        Sign::Divide | Sign::Remainder if right == 0.0 => return None,
        Sign::Divide => left / right,
        Sign::Remainder => left % right,
    };
    result.is_finite().then_some(result)
}

fn holds(test: Test, order: Ordering) -> bool {
    match test {
        Test::Less => order.is_lt(),
        Test::LessOrEqual => order.is_le(),
        Test::Equal => order.is_eq(),
        Test::NotEqual => order.is_ne(),
        Test::Greater => order.is_gt(),
        Test::GreaterOrEqual => order.is_ge(),
    }
}
