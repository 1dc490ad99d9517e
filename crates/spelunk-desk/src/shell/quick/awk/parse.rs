//! Reading an awk program: the grammar that all awks share, less what is rarely written or read differently by some. An
//! expression is read by the usual ladder, one function for each step of precedence.

mod expr;

use std::collections::BTreeMap;

pub(super) use self::expr::usize_of;
use super::format::Piece;
use super::lex::{Token, tokens};
use super::tree::{Expr, Program, Rule, Statement};

/// How deep a program may nest.
const DEPTH_MAX: usize = 24;

/// A program, and what it sets before it reads anything.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) program: Program,
    /// What `FS` and `OFS` are set to.
    pub(super) field_separator: Option<String>,
    pub(super) output_separator: Option<String>,
    /// The numbers of the scalars that are set from outside.
    pub(super) given: Vec<usize>,
    /// What its patterns are made of, all together.
    pub(super) n_pattern_parts: u64,
}

/// Reads a program in which `given` names are set from outside; nothing if it is not plain.
pub(super) fn parse(program: &str, given: &[&str]) -> Option<Parsed> {
    let tokens = tokens(program)?;
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        depth: 0,
        names: BTreeMap::new(),
        n_scalars: 0,
        n_arrays: 0,
        has_line: false,
        is_printing: false,
        field_separator: None,
        output_separator: None,
        n_pattern_parts: 0,
    };
    let given = given.iter().map(|name| parser.scalar(name)).collect::<Option<_>>()?;
    let mut program = parser.program()?;
    (program.n_scalars, program.n_arrays) = (parser.n_scalars, parser.n_arrays);
    let Parser { field_separator, output_separator, n_pattern_parts, .. } = parser;
    Some(Parsed { program, field_separator, output_separator, given, n_pattern_parts })
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scalar(usize),
    Array(usize),
}

struct Parser<'p> {
    tokens: &'p [Token],
    at: usize,
    depth: usize,
    names: BTreeMap<String, Kind>,
    n_scalars: usize,
    n_arrays: usize,
    /// Whether there is a line to look at: not before the first and behind the last, where awks differ.
    has_line: bool,
    /// Whether a `>` would send what is printed to a file.
    is_printing: bool,
    field_separator: Option<String>,
    output_separator: Option<String>,
    n_pattern_parts: u64,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is_at(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(here)) if *here == sign)
    }

    fn is_at_name(&self, name: &str) -> bool {
        matches!(self.peek(), Some(Token::Name(here) | Token::Called(here)) if here == name)
    }

    fn take(&mut self, sign: &str) -> bool {
        let is_there = self.is_at(sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn require(&mut self, sign: &str) -> Option<()> {
        self.take(sign).then_some(())
    }

    fn take_name(&mut self, name: &str) -> bool {
        let is_there = self.is_at_name(name);
        self.at += usize::from(is_there);
        is_there
    }

    fn skip_lines(&mut self) {
        while self.peek() == Some(&Token::Line) {
            self.at += 1;
        }
    }

    /// Skips ends of statements; whether there was one.
    fn skip_ends(&mut self) -> bool {
        let from = self.at;
        while self.peek() == Some(&Token::Line) || self.is_at(";") {
            self.at += 1;
        }
        self.at > from
    }

    /// Does work one level deeper.
    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth == DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    fn program(&mut self) -> Option<Program> {
        let mut program = Program::default();
        self.skip_ends();
        while self.peek().is_some() {
            if self.take_name("BEGIN") {
                self.settings()?;
                program.first.extend(self.statements()?);
            } else if self.take_name("END") {
                program.has_last = true;
                program.last.extend(self.block()?);
            } else {
                self.has_line = true;
                program.rules.push(self.rule()?);
                self.has_line = false;
            }
            self.skip_ends();
        }
        let is_something = !program.first.is_empty()
            || !program.rules.is_empty()
            || program.has_last
            || self.field_separator.is_some();
        is_something.then_some(program)
    }

    /// The `{` of a first block, and `FS = ","` and the like at its beginning.
    fn settings(&mut self) -> Option<()> {
        self.require("{")?;
        self.skip_ends();
        while self.is_at_name("FS") || self.is_at_name("OFS") {
            let is_input = self.is_at_name("FS");
            self.at += 1;
            self.require("=")?;
            let Some(Token::Text(value)) = self.peek() else { return None };
            let value = Some(value.clone());
            self.at += 1;
            if is_input {
                self.field_separator = value;
            } else {
                self.output_separator = value;
            }
            if !self.skip_ends() && !self.is_at("}") {
                return None;
            }
        }
        Some(())
    }

    fn rule(&mut self) -> Option<Rule> {
        let condition = if self.is_at("{") { None } else { Some(self.expr()?) };
        let body = match self.peek() {
            Some(Token::Sign("{")) => self.block()?,
            // A rule without a block ends where its line does.
            Some(Token::Line | Token::Sign(";")) | None => vec![Statement::Print(Vec::new())],
            Some(_) => return None,
        };
        Some(Rule { condition, body })
    }

    fn block(&mut self) -> Option<Vec<Statement>> {
        self.require("{")?;
        self.statements()
    }

    /// The statements of a block behind its `{`, and its `}`.
    fn statements(&mut self) -> Option<Vec<Statement>> {
        let mut statements = Vec::new();
        self.skip_ends();
        while !self.take("}") {
            statements.push(self.deeper(Self::statement)?);
            // A block ends by itself.
            let is_block =
                self.at.checked_sub(1).and_then(|at| self.tokens.get(at)) == Some(&Token::Sign("}"));
            if !self.skip_ends() && !self.is_at("}") && !is_block {
                return None;
            }
        }
        Some(statements)
    }

    fn statement(&mut self) -> Option<Statement> {
        if self.take_name("print") {
            return self.print();
        }
        if self.take_name("printf") {
            return self.format();
        }
        if self.take_name("if") {
            return self.condition();
        }
        if self.take_name("for") {
            return self.each();
        }
        if self.take_name("next") {
            return self.has_line.then_some(Statement::Next);
        }
        self.expr().map(Statement::Do)
    }

    /// A block, or one statement.
    fn body(&mut self) -> Option<Vec<Statement>> {
        self.skip_lines();
        if self.is_at("{") {
            return self.deeper(Self::block);
        }
        Some(vec![self.deeper(Self::statement)?])
    }

    fn print(&mut self) -> Option<Statement> {
        let is_over =
            |token: Option<&Token>| matches!(token, Some(Token::Line | Token::Sign(";" | "}")) | None);
        if is_over(self.peek()) {
            return self.has_line.then(|| Statement::Print(vec![Expr::Line]));
        }
        let was_printing = std::mem::replace(&mut self.is_printing, true);
        let mut items = vec![self.expr()?];
        while self.take(",") {
            self.skip_lines();
            items.push(self.expr()?);
        }
        self.is_printing = was_printing;
        is_over(self.peek()).then_some(Statement::Print(items))
    }

    /// `printf "…", a, b`, in brackets or not.
    fn format(&mut self) -> Option<Statement> {
        let is_bracketed = self.take("(");
        let was_printing = std::mem::replace(&mut self.is_printing, !is_bracketed);
        let Some(Token::Text(format)) = self.peek() else { return None };
        let pieces = super::format::pieces(format)?;
        self.at += 1;
        let mut given = Vec::new();
        while self.take(",") {
            self.skip_lines();
            given.push(self.expr()?);
        }
        self.is_printing = was_printing;
        if is_bracketed {
            self.require(")")?;
        }
        let n_slots = pieces.iter().filter(|piece| matches!(piece, Piece::Slot(_))).count();
        let is_over = matches!(self.peek(), Some(Token::Line | Token::Sign(";" | "}")) | None);
        (is_over && n_slots == given.len()).then_some(Statement::Format(pieces, given))
    }

    fn condition(&mut self) -> Option<Statement> {
        self.require("(")?;
        let condition = self.expr()?;
        self.require(")")?;
        let then = self.body()?;
        let before = self.at;
        self.skip_ends();
        let otherwise = if self.take_name("else") {
            self.body()?
        } else {
            self.at = before;
            Vec::new()
        };
        Some(Statement::If { condition, then, otherwise })
    }

    fn each(&mut self) -> Option<Statement> {
        self.require("(")?;
        let Some(Token::Name(key)) = self.peek().cloned() else { return None };
        self.at += 1;
        if !self.take_name("in") {
            return None;
        }
        let Some(Token::Name(array)) = self.peek().cloned() else { return None };
        self.at += 1;
        self.require(")")?;
        let (scalar, array) = (self.scalar(&key)?, self.array(&array)?);
        Some(Statement::Each { scalar, array, body: self.body()? })
    }

    /// The number of a scalar of that name.
    fn scalar(&mut self, name: &str) -> Option<usize> {
        let next = Kind::Scalar(self.n_scalars);
        match self.named(name, next)? {
            Kind::Scalar(idx) => {
                self.n_scalars = self.n_scalars.max(idx + 1);
                Some(idx)
            }
            Kind::Array(_) => None,
        }
    }

    fn array(&mut self, name: &str) -> Option<usize> {
        let next = Kind::Array(self.n_arrays);
        match self.named(name, next)? {
            Kind::Array(idx) => {
                self.n_arrays = self.n_arrays.max(idx + 1);
                Some(idx)
            }
            Kind::Scalar(_) => None,
        }
    }

    fn named(&mut self, name: &str, next: Kind) -> Option<Kind> {
        if RESERVED.contains(&name) {
            return None;
        }
        Some(*self.names.entry(name.to_owned()).or_insert(next))
    }
}

/// Names that are not free: words of the language, and variables with a meaning, in any awk.
const RESERVED: [&str; 77] = [
    "ARGC",
    "ARGIND",
    "ARGV",
    "BEGIN",
    "BEGINFILE",
    "BINMODE",
    "CONVFMT",
    "END",
    "ENDFILE",
    "ENVIRON",
    "ERRNO",
    "FIELDWIDTHS",
    "FILENAME",
    "FNR",
    "FPAT",
    "FS",
    "FUNCTAB",
    "IGNORECASE",
    "LINT",
    "NF",
    "NR",
    "OFMT",
    "OFS",
    "ORS",
    "PREC",
    "PROCINFO",
    "RLENGTH",
    "ROUNDMODE",
    "RS",
    "RSTART",
    "RT",
    "SUBSEP",
    "SYMTAB",
    "TEXTDOMAIN",
    "atan2",
    "break",
    "case",
    "close",
    "continue",
    "cos",
    "default",
    "delete",
    "do",
    "else",
    "exit",
    "exp",
    "fflush",
    "for",
    "func",
    "function",
    "getline",
    "gsub",
    "if",
    "in",
    "index",
    "int",
    "length",
    "log",
    "match",
    "next",
    "nextfile",
    "print",
    "printf",
    "rand",
    "return",
    "sin",
    "split",
    "sprintf",
    "sqrt",
    "srand",
    "sub",
    "substr",
    "switch",
    "system",
    "tolower",
    "toupper",
    "while",
];
