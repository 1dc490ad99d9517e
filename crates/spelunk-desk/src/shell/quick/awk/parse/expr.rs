//! The expressions of a program, from assignment down to a number.

use super::super::super::pattern::{Backslash, Manner, Pattern, Syntax};
use super::super::lex::Token;
use super::super::tree::{Expr, Function, Place, Sign, Test};
use super::Parser;

/// The highest field.
const FIELDS_MAX: f64 = 1000.0;

impl Parser<'_> {
    /// An expression, with an assignment at the top.
    pub(super) fn expr(&mut self) -> Option<Expr> {
        self.deeper(|parser| {
            let left = parser.choice()?;
            let sign = match parser.peek() {
                Some(Token::Sign("=")) => None,
                Some(Token::Sign("+=")) => Some(Sign::Add),
                Some(Token::Sign("-=")) => Some(Sign::Subtract),
                Some(Token::Sign("*=")) => Some(Sign::Multiply),
                Some(Token::Sign("/=")) => Some(Sign::Divide),
                Some(Token::Sign("%=")) => Some(Sign::Remainder),
                _ => return Some(left),
            };
            let Expr::Place(place) = left else { return None };
            parser.at += 1;
            Some(Expr::Assign(place, sign, Box::new(parser.expr()?)))
        })
    }

    fn choice(&mut self) -> Option<Expr> {
        let condition = self.or()?;
        if !self.take("?") {
            return Some(condition);
        }
        let then = self.expr()?;
        self.require(":")?;
        let otherwise = self.deeper(Self::choice)?;
        Some(Expr::Choose(Box::new(condition), Box::new(then), Box::new(otherwise)))
    }

    fn or(&mut self) -> Option<Expr> {
        let mut left = self.and()?;
        while self.take("||") {
            self.skip_lines();
            left = Expr::Or(Box::new(left), Box::new(self.and()?));
        }
        Some(left)
    }

    fn and(&mut self) -> Option<Expr> {
        let mut left = self.membership()?;
        while self.take("&&") {
            self.skip_lines();
            left = Expr::And(Box::new(left), Box::new(self.membership()?));
        }
        Some(left)
    }

    fn membership(&mut self) -> Option<Expr> {
        let mut left = self.matching()?;
        while self.take_name("in") {
            let Some(Token::Name(name)) = self.peek().cloned() else { return None };
            self.at += 1;
            left = Expr::IsIn(Box::new(left), self.array(&name)?);
        }
        Some(left)
    }

    fn matching(&mut self) -> Option<Expr> {
        let mut left = self.comparison()?;
        while self.is_at("~") || self.is_at("!~") {
            let is_negated = self.take("!~");
            self.at += usize::from(!is_negated);
            let pattern = Box::new(self.pattern()?);
            left = Expr::Matches { text: Box::new(left), pattern, is_negated };
        }
        Some(left)
    }

    fn pattern(&mut self) -> Option<Pattern> {
        let Some(Token::Regex(regex)) = self.peek() else { return None };
        let manner = Manner {
            syntax: Syntax::Extended,
            ignore_case: false,
            whole_line: false,
            in_brackets: Backslash::Escape,
        };
        let pattern = Pattern::compile(regex, manner)?;
        self.n_pattern_parts = self.n_pattern_parts.saturating_add(pattern.n_parts());
        self.at += 1;
        Some(pattern)
    }

    fn comparison(&mut self) -> Option<Expr> {
        let left = self.joined()?;
        let Some(test) = self.test() else { return Some(left) };
        self.at += 1;
        let right = self.joined()?;
        // What three in a row mean is not known to all.
        if self.test().is_some() {
            return None;
        }
        Some(Expr::Compare(test, Box::new(left), Box::new(right)))
    }

    fn test(&self) -> Option<Test> {
        match self.peek() {
            Some(Token::Sign("<")) => Some(Test::Less),
            Some(Token::Sign("<=")) => Some(Test::LessOrEqual),
            Some(Token::Sign("==")) => Some(Test::Equal),
            Some(Token::Sign("!=")) => Some(Test::NotEqual),
            Some(Token::Sign(">")) if !self.is_printing => Some(Test::Greater),
            Some(Token::Sign(">=")) => Some(Test::GreaterOrEqual),
            _ => None,
        }
    }

    /// Texts one behind the other.
    fn joined(&mut self) -> Option<Expr> {
        let first = self.sum()?;
        let mut all = vec![first];
        while self.is_operand() {
            all.push(self.sum()?);
        }
        if all.len() == 1 { all.pop() } else { Some(Expr::Join(all)) }
    }

    /// Whether an operand stands here that can only be joined to what is before it.
    fn is_operand(&self) -> bool {
        match self.peek() {
            Some(Token::Number(_) | Token::Text(_) | Token::Called(_) | Token::Sign("$" | "(")) => true,
            Some(Token::Name(name)) => name != "in",
            Some(Token::Regex(_) | Token::Sign(_) | Token::Line) | None => false,
        }
    }

    fn sum(&mut self) -> Option<Expr> {
        let mut left = self.product()?;
        loop {
            let sign = match self.peek() {
                Some(Token::Sign("+")) => Sign::Add,
                Some(Token::Sign("-")) => Sign::Subtract,
                _ => return Some(left),
            };
            // `"a" -1` joins for some and subtracts for others.
            if matches!(left, Expr::Text(_)) {
                return None;
            }
            self.at += 1;
            left = Expr::Compute(sign, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Option<Expr> {
        let mut left = self.signed()?;
        loop {
            let sign = match self.peek() {
                Some(Token::Sign("*")) => Sign::Multiply,
                Some(Token::Sign("/")) => Sign::Divide,
                Some(Token::Sign("%")) => Sign::Remainder,
                _ => return Some(left),
            };
            self.at += 1;
            let right = self.signed()?;
            // Dividing by a zero that is known is an error to some even where nothing is divided.
            let is_plain = matches!(right, Expr::Number(n) if n != 0.0) || !is_constant(&right);
            if sign != Sign::Multiply && !is_plain {
                return None;
            }
            left = Expr::Compute(sign, Box::new(left), Box::new(right));
        }
    }

    fn signed(&mut self) -> Option<Expr> {
        if self.take("!") {
            let denied = self.deeper(Self::signed)?;
            // `!x ~ y` and `!x y` are read in two ways.
            let is_clear = matches!(
                self.peek(),
                Some(Token::Line | Token::Sign(")" | "{" | "}" | "&&" | "||" | ";" | "," | "?" | ":")) | None
            );
            return is_clear.then(|| Expr::Not(Box::new(denied)));
        }
        if self.take("-") {
            return Some(Expr::Minus(Box::new(self.deeper(Self::signed)?)));
        }
        if self.take("+") {
            return Some(Expr::Plus(Box::new(self.deeper(Self::signed)?)));
        }
        self.stepped()
    }

    fn stepped(&mut self) -> Option<Expr> {
        for (sign, by) in [("++", 1.0), ("--", -1.0)] {
            if self.take(sign) {
                let Expr::Place(place) = self.primary()? else { return None };
                return Some(Expr::Step { place, by, gives_new: true });
            }
        }
        let value = self.primary()?;
        for (sign, by) in [("++", 1.0), ("--", -1.0)] {
            if self.take(sign) {
                let Expr::Place(place) = value else { return None };
                return Some(Expr::Step { place, by, gives_new: false });
            }
        }
        Some(value)
    }

    fn primary(&mut self) -> Option<Expr> {
        let token = self.peek()?.clone();
        if matches!(token, Token::Regex(_)) {
            let pattern = Box::new(self.pattern()?);
            let text = Box::new(self.has_line.then_some(Expr::Line)?);
            return Some(Expr::Matches { text, pattern, is_negated: false });
        }
        self.at += 1;
        match token {
            Token::Number(n) => Some(Expr::Number(n)),
            Token::Text(text) => text.is_ascii().then_some(Expr::Text(text)),
            Token::Name(name) => self.variable(&name),
            Token::Called(name) => self.call(&name),
            Token::Sign("(") => {
                let inner = self.within(")")?;
                Some(if let Expr::Place(place) = inner { Expr::Group(place) } else { inner })
            }
            Token::Sign("$") => self.field(),
            Token::Sign(_) | Token::Line | Token::Regex(_) => None,
        }
    }

    /// An expression up to a closing sign, where `>` compares.
    fn within(&mut self, end: &str) -> Option<Expr> {
        let was_printing = std::mem::replace(&mut self.is_printing, false);
        let inner = self.expr()?;
        self.is_printing = was_printing;
        self.require(end)?;
        Some(inner)
    }

    fn field(&mut self) -> Option<Expr> {
        if !self.has_line {
            return None;
        }
        if let Some(&Token::Number(n)) = self.peek() {
            self.at += 1;
            return match n {
                0.0 => Some(Expr::Line),
                n if n.fract() == 0.0 && n <= FIELDS_MAX => usize_of(n).map(Expr::Field),
                _ => None,
            };
        }
        let token = self.peek()?.clone();
        self.at += 1;
        let idx = match token {
            Token::Name(name) => self.variable(&name)?,
            Token::Sign("(") => self.within(")")?,
            Token::Number(_)
            | Token::Text(_)
            | Token::Regex(_)
            | Token::Called(_)
            | Token::Sign(_)
            | Token::Line => return None,
        };
        Some(Expr::FieldOf(Box::new(idx)))
    }

    fn variable(&mut self, name: &str) -> Option<Expr> {
        match name {
            "NR" => return Some(Expr::LineNumber),
            "NF" => return self.has_line.then_some(Expr::FieldCount),
            "FNR" => return self.has_line.then_some(Expr::FileLineNumber),
            // A blank may stand before the bracket of a function.
            "length" if self.is_at("(") => return self.call(name),
            "length" => return self.has_line.then(|| Expr::Call(Function::Length, vec![Expr::Line])),
            _ => {}
        }
        if self.take("[") {
            let array = self.array(name)?;
            return Some(Expr::Place(Place::Element(array, Box::new(self.within("]")?))));
        }
        Some(Expr::Place(Place::Scalar(self.scalar(name)?)))
    }

    fn call(&mut self, name: &str) -> Option<Expr> {
        let (function, n_least, n_most) = match name {
            "length" => (Function::Length, 1, 1),
            "substr" => (Function::Substr, 2, 3),
            "index" => (Function::Index, 2, 2),
            "tolower" => (Function::ToLower, 1, 1),
            "toupper" => (Function::ToUpper, 1, 1),
            "int" => (Function::Int, 1, 1),
            // A variable may stand right before what it is joined to, but few write it so.
            _ => return None,
        };
        self.require("(")?;
        if let (Function::Length, Some(Token::Name(name))) = (function, self.peek())
            && self.tokens.get(self.at + 1) == Some(&Token::Sign(")"))
            && let Some(super::Kind::Array(array)) = self.names.get(name).copied()
        {
            self.at += 2;
            return Some(Expr::ArrayLength(array));
        }
        let was_printing = std::mem::replace(&mut self.is_printing, false);
        let mut given = vec![self.expr()?];
        while self.take(",") {
            given.push(self.expr()?);
        }
        self.is_printing = was_printing;
        self.require(")")?;
        (n_least..=n_most).contains(&given.len()).then_some(Expr::Call(function, given))
    }
}

/// Whether an expression is the same each time. It is no deeper than a program may be.
fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) | Expr::Text(_) => true,
        Expr::Not(of) | Expr::Minus(of) | Expr::Plus(of) => is_constant(of),
        Expr::Compute(_, left, right)
        | Expr::Compare(_, left, right)
        | Expr::And(left, right)
        | Expr::Or(left, right) => is_constant(left) && is_constant(right),
        Expr::Choose(_, then, otherwise) => is_constant(then) || is_constant(otherwise),
        Expr::Join(parts) => parts.iter().all(is_constant),
        Expr::Line
        | Expr::Field(_)
        | Expr::FieldOf(_)
        | Expr::FieldCount
        | Expr::LineNumber
        | Expr::FileLineNumber
        | Expr::Place(_)
        | Expr::Group(_)
        | Expr::IsIn(..)
        | Expr::ArrayLength(_)
        | Expr::Matches { .. }
        | Expr::Assign(..)
        | Expr::Step { .. }
        | Expr::Call(..) => false,
    }
}

/// A whole number that is not negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "both are asked about")]
pub(in super::super) fn usize_of(n: f64) -> Option<usize> {
    (n >= 0.0 && n.fract() == 0.0 && n <= 1e9).then_some(n as usize)
}
