//! Sets: `[a-z]`. Inside a set, brackets, `&&`, `--` and `~~` are ordinary characters in Python.

use super::source::{Source, Token};
use super::{Item, Node, Parser, PatternFault, Scope};

impl Parser {
    /// A set, after its bracket.
    pub(super) fn set(&mut self, scope: Scope) -> Result<Node, PatternFault> {
        let here = self.source.tell() - 1;
        let negated = self.source.take('^')?;
        let mut items = Vec::new();
        loop {
            let first = self.set_token(here)?;
            if first == Token::Char(']') && !items.is_empty() {
                break;
            }
            let low = self.set_item(first, scope)?;
            if !self.source.take('-')? {
                items.push(low);
                continue;
            }
            let last = self.set_token(here)?;
            if last == Token::Char(']') {
                items.extend([low, Item::Range('-', '-')]);
                break;
            }
            let high = self.set_item(last, scope)?;
            match (low, high) {
                (Item::Range(low, _), Item::Range(high, _)) if low <= high => {
                    items.push(Item::Range(low, high));
                }
                _ => {
                    let message = format!("bad character range {}-{}", first.text(), last.text());
                    return Err(self.source.fault(message, first.chars() + 1 + last.chars()));
                }
            }
        }
        Ok(Node::Set { negated, items, fold: scope.fold() })
    }

    fn set_token(&mut self, here: usize) -> Result<Token, PatternFault> {
        let missing = |source: &Source| source.fault("unterminated character set", source.tell() - here);
        self.source.get()?.ok_or_else(|| missing(&self.source))
    }

    fn set_item(&mut self, token: Token, scope: Scope) -> Result<Item, PatternFault> {
        match token {
            Token::Char(c) => Ok(Item::Range(c, c)),
            Token::Escape(c) => self.set_escape(c, scope),
        }
    }
}
