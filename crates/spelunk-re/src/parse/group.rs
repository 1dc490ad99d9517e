//! Everything that begins with a parenthesis: groups, flags, look-around, conditions, comments.

use super::source::Token;
use super::{Flags, GROUPS_MAX, Node, Parser, PatternFault, Scope};

impl Parser {
    /// A group, after its parenthesis. `None` for a comment or for flags.
    pub(super) fn group(
        &mut self,
        scope: &mut Scope,
        may_set_flags: bool,
    ) -> Result<Option<Node>, PatternFault> {
        let start = self.source.tell() - 1;
        if !self.source.take('?')? {
            return self.capture(*scope, None, start).map(Some);
        }
        let token = self.required()?;
        let Token::Char(c) = token else { return Err(self.unknown_extension("?", token)) };
        match c {
            'P' => self.python_extension(*scope, start).map(Some),
            ':' => self.inside(*scope, start).map(Some),
            '>' => Ok(Some(Node::Atomic(Box::new(self.inside(*scope, start)?)))),
            '#' => self.comment(start).map(|()| None),
            '=' | '!' | '<' => self.look(c, *scope, start).map(Some),
            '(' => self.condition(*scope, start).map(Some),
            'i' | 'L' | 'm' | 's' | 'x' | 'a' | 'u' | 't' | '-' => {
                let Some((add, del)) = self.inline_flags(c)? else {
                    if !may_set_flags {
                        let message = "global flags not at the start of the expression";
                        return Err(self.source.fault(message, self.source.tell() - start));
                    }
                    scope.flags = self.flags;
                    return Ok(None);
                };
                let flags = scope.flags.scoped(add, del);
                self.inside(Scope { flags, ..*scope }, start).map(Some)
            }
            _ => Err(self.unknown_extension("?", token)),
        }
    }

    fn required(&mut self) -> Result<Token, PatternFault> {
        self.source.get()?.ok_or_else(|| self.source.fault("unexpected end of pattern", 0))
    }

    /// A fault about what was just read: `before` and a token.
    fn unknown_extension(&self, before: &str, token: Token) -> PatternFault {
        let message = format!("unknown extension {before}{}", token.text());
        self.source.fault(message, token.chars() + before.len())
    }

    /// The content of a group, and its closing parenthesis.
    fn inside(&mut self, scope: Scope, start: usize) -> Result<Node, PatternFault> {
        let node = self.alternation(scope.deeper())?;
        self.close(start)?;
        // A group is repeated as a unit, whatever it contains.
        Ok(Node::Concat(vec![node]))
    }

    fn close(&mut self, start: usize) -> Result<(), PatternFault> {
        if self.source.take(')')? {
            return Ok(());
        }
        let back = self.source.tell() - start;
        Err(self.source.fault("missing ), unterminated subpattern", back))
    }

    fn capture(&mut self, scope: Scope, name: Option<String>, start: usize) -> Result<Node, PatternFault> {
        let idx = self.widths.len();
        if idx >= GROUPS_MAX {
            return Err(self.source.fault("too many groups", 0));
        }
        self.widths.push(None);
        if let Some(name) = name {
            if let Some((_, other)) = self.names.iter().find(|(known, _)| *known == name) {
                let message =
                    format!("redefinition of group name '{name}' as group {idx}; was group {other}");
                return Err(self.source.fault(message, name.chars().count() + 1));
            }
            self.names.push((name, idx));
        }
        let node = self.alternation(scope.deeper())?;
        self.close(start)?;
        self.widths[idx] = Some(node.width(&self.widths));
        Ok(Node::Group { idx, node: Box::new(node) })
    }

    /// `(?P<name>…)` and `(?P=name)`, after the `P`.
    fn python_extension(&mut self, scope: Scope, start: usize) -> Result<Node, PatternFault> {
        if self.source.take('<')? {
            let name = self.source.take_until('>', "group name")?;
            self.check_name(&name)?;
            return self.capture(scope, Some(name), start);
        }
        if self.source.take('=')? {
            let name = self.source.take_until(')', "group name")?;
            self.check_name(&name)?;
            let idx = self.named(&name)?;
            if self.group_width(idx).is_none() {
                return Err(self.source.fault("cannot refer to an open group", name.chars().count() + 1));
            }
            self.check_behind(idx)?;
            return Ok(Node::Backref { idx, fold: scope.fold() });
        }
        let token = self.required()?;
        Err(self.unknown_extension("?P", token))
    }

    fn named(&self, name: &str) -> Result<usize, PatternFault> {
        let known = self.names.iter().find(|(known, _)| known == name).map(|(_, idx)| *idx);
        known.ok_or_else(|| {
            self.source.fault(format!("unknown group name '{name}'"), name.chars().count() + 1)
        })
    }

    fn check_name(&self, name: &str) -> Result<(), PatternFault> {
        if is_identifier(name) {
            return Ok(());
        }
        let message = format!("bad character in group name '{name}'");
        Err(self.source.fault(message, name.chars().count() + 1))
    }

    fn comment(&mut self, start: usize) -> Result<(), PatternFault> {
        while let Some(token) = self.source.get()? {
            if token == Token::Char(')') {
                return Ok(());
            }
        }
        Err(self.source.fault("missing ), unterminated comment", self.source.tell() - start))
    }

    fn look(&mut self, first: char, scope: Scope, start: usize) -> Result<Node, PatternFault> {
        let is_ahead = first != '<';
        let sign = if is_ahead {
            first
        } else {
            match self.required()? {
                Token::Char(sign @ ('=' | '!')) => sign,
                token @ (Token::Char(_) | Token::Escape(_)) => {
                    return Err(self.unknown_extension("?<", token));
                }
            }
        };
        let outer = self.behind_from;
        if !is_ahead && outer.is_none() {
            self.behind_from = Some(self.widths.len());
        }
        let node = self.alternation(scope.deeper())?;
        self.behind_from = outer;
        self.close(start)?;
        if !is_ahead {
            let width = node.width(&self.widths);
            if width.max != Some(width.min) {
                return Err(PatternFault::plain("look-behind requires fixed-width pattern"));
            }
        }
        Ok(Node::Look { node: Box::new(node), is_ahead, negated: sign == '!' })
    }

    /// `(?(1)yes|no)`, after the second parenthesis.
    fn condition(&mut self, scope: Scope, start: usize) -> Result<Node, PatternFault> {
        let name = self.source.take_until(')', "group name")?;
        let back = name.chars().count() + 1;
        let idx = if is_identifier(&name) {
            self.named(&name)?
        } else {
            let Ok(idx) = name.parse::<usize>() else {
                return Err(self.source.fault(format!("bad character in group name '{name}'"), back));
            };
            if idx == 0 {
                return Err(self.source.fault("bad group number", back));
            }
            self.conditions.push((idx, self.source.tell() - back));
            idx
        };
        self.check_behind(idx)?;
        let mut inner = scope.deeper();
        let yes = self.sequence(&mut inner, false)?;
        let no = if self.source.take('|')? { self.sequence(&mut inner, false)? } else { Node::empty() };
        if self.source.next() == Some(Token::Char('|')) {
            return Err(self.source.fault("conditional backref with more than two branches", 0));
        }
        self.close(start)?;
        Ok(Node::Condition { idx, yes: Box::new(yes), no: Box::new(no) })
    }

    /// `i-s:` and the like: flags on, flags off. `None` if they apply to the whole pattern.
    fn inline_flags(&mut self, first: char) -> Result<Option<(Flags, Flags)>, PatternFault> {
        let (mut add, mut del) = (Flags::NONE, Flags::NONE);
        let mut c = first;
        if c != '-' {
            loop {
                if c == 'L' {
                    let message = "bad inline flags: cannot use 'L' flag with a str pattern";
                    return Err(self.source.fault(message, 0));
                }
                add = add.with(Flags::of_letter(c).unwrap_or(Flags::NONE));
                if add.has(Flags::ASCII) && add.has(Flags::UNICODE) {
                    let message = "bad inline flags: flags 'a', 'u' and 'L' are incompatible";
                    return Err(self.source.fault(message, 0));
                }
                c = self.flag_char("missing -, : or )", &[')', '-', ':'])?;
                if matches!(c, ')' | '-' | ':') {
                    break;
                }
            }
        }
        if c == ')' {
            self.flags = self.flags.with(add);
            return Ok(None);
        }
        if c == '-' {
            c = self.flag_char("missing flag", &[])?;
            loop {
                if matches!(c, 'a' | 'u' | 'L') {
                    let message = "bad inline flags: cannot turn off flags 'a', 'u' and 'L'";
                    return Err(self.source.fault(message, 0));
                }
                del = del.with(Flags::of_letter(c).unwrap_or(Flags::NONE));
                c = self.flag_char("missing :", &[':'])?;
                if c == ':' {
                    break;
                }
            }
        }
        if add.overlaps(del) {
            return Err(self.source.fault("bad inline flags: flag turned on and off", 1));
        }
        Ok(Some((add, del)))
    }

    /// The next flag letter, or one of the terminators.
    fn flag_char(&mut self, missing: &'static str, ends: &[char]) -> Result<char, PatternFault> {
        match self.source.get()? {
            None => Err(self.source.fault(missing, 0)),
            Some(Token::Char(c)) if ends.contains(&c) || Flags::of_letter(c).is_some() => Ok(c),
            Some(Token::Char(c)) if c.is_alphabetic() => Err(self.source.fault("unknown flag", 1)),
            Some(token) => Err(self.source.fault(missing, token.chars())),
        }
    }
}

pub(crate) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_alphabetic())
        && chars.all(|c| c == '_' || c.is_alphanumeric())
}
