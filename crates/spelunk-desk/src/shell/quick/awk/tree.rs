//! An awk program as it is run: rules of statements of expressions.

use super::super::pattern::Pattern;
use super::format::Piece;

/// A program. Scalars and arrays are numbered in the order they are named.
#[derive(Debug, Default)]
pub(super) struct Program {
    /// Run before anything is read.
    pub(super) first: Vec<Statement>,
    pub(super) rules: Vec<Rule>,
    /// Run behind the last line.
    pub(super) last: Vec<Statement>,
    pub(super) has_last: bool,
    pub(super) n_scalars: usize,
    pub(super) n_arrays: usize,
}

/// What is done with lines.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) condition: Option<Expr>,
    pub(super) body: Vec<Statement>,
}

#[derive(Debug)]
pub(super) enum Statement {
    /// The whole line where nothing is named.
    Print(Vec<Expr>),
    /// As many values as the format has places.
    Format(Vec<Piece>, Vec<Expr>),
    Do(Expr),
    If {
        condition: Expr,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    /// `for (k in a)`.
    Each {
        scalar: usize,
        array: usize,
        body: Vec<Statement>,
    },
    Next,
}

#[derive(Debug)]
pub(super) enum Expr {
    Number(f64),
    Text(String),
    Line,
    /// A field that is known, from 1.
    Field(usize),
    /// A field whose number is computed.
    FieldOf(Box<Expr>),
    FieldCount,
    LineNumber,
    /// Counted from the beginning of its file.
    FileLineNumber,
    Place(Place),
    /// A place in brackets, which cannot be assigned to.
    Group(Place),
    IsIn(Box<Expr>, usize),
    ArrayLength(usize),
    Matches {
        text: Box<Expr>,
        pattern: Box<Pattern>,
        is_negated: bool,
    },
    Not(Box<Expr>),
    Minus(Box<Expr>),
    Plus(Box<Expr>),
    Compute(Sign, Box<Expr>, Box<Expr>),
    Compare(Test, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
    Join(Vec<Expr>),
    Assign(Place, Option<Sign>, Box<Expr>),
    /// `++` and `--`, before or behind.
    Step {
        place: Place,
        by: f64,
        gives_new: bool,
    },
    Call(Function, Vec<Expr>),
}

/// What can be assigned to.
#[derive(Debug)]
pub(super) enum Place {
    Scalar(usize),
    Element(usize, Box<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Test {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Length,
    Substr,
    Index,
    ToLower,
    ToUpper,
    Int,
}
