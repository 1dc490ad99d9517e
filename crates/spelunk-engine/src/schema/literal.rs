//! Parses values as models write them: JSON with unambiguous deviations, which are single quotes,
//! `True`, `False`, `None`, trailing commas, and line breaks within strings.

use serde_json::{Map, Number, Value};

const DEPTH_MAX: u32 = 100;

/// Parses the value at the start of a text. Returns it with its length, or how far the text was parsed.
pub(super) fn read(text: &str) -> Result<(Value, usize), usize> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    match reader.value() {
        Some(value) => Ok((value, reader.at)),
        None => Err(reader.at),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl Reader<'_> {
    fn value(&mut self) -> Option<Value> {
        match self.peek()? {
            b'{' => self.nested(Self::object),
            b'[' => self.nested(Self::array),
            b'"' | b'\'' => self.string().map(Value::String),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.word(),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Option<Value>) -> Option<Value> {
        if self.depth >= DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Option<Value> {
        let mut object = Map::new();
        loop {
            self.skip_blank();
            if self.eat(b'}') {
                return Some(Value::Object(object));
            }
            if !matches!(self.peek()?, b'"' | b'\'') {
                return None;
            }
            let key = self.string()?;
            self.skip_blank();
            if !self.eat(b':') {
                return None;
            }
            self.skip_blank();
            let value = self.value()?;
            // Two values for one key are ambiguous.
            if object.insert(key, value).is_some() {
                return None;
            }
            self.skip_blank();
            if !self.eat(b',') && self.peek()? != b'}' {
                return None;
            }
        }
    }

    fn array(&mut self) -> Option<Value> {
        let mut items = Vec::new();
        loop {
            self.skip_blank();
            if self.eat(b']') {
                return Some(Value::Array(items));
            }
            items.push(self.value()?);
            self.skip_blank();
            if !self.eat(b',') && self.peek()? != b']' {
                return None;
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let quote = self.peek()?;
        self.at += 1;
        let mut string = String::new();
        loop {
            let rest = self.text.get(self.at..)?;
            let plain = rest.find([char::from(quote), '\\'])?;
            string.push_str(rest.get(..plain)?);
            self.at += plain + 1;
            if rest.as_bytes().get(plain) == Some(&quote) {
                return Some(string);
            }
            string.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Option<char> {
        let byte = self.peek()?;
        self.at += 1;
        match byte {
            b'n' => Some('\n'),
            b't' => Some('\t'),
            b'r' => Some('\r'),
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            b'"' | b'\'' | b'\\' | b'/' => Some(char::from(byte)),
            b'u' => {
                let unit = self.hex_digits()?;
                if !(0xd800..0xdc00).contains(&unit) {
                    return char::from_u32(unit);
                }
                if !(self.eat(b'\\') && self.eat(b'u')) {
                    return None;
                }
                let low = self.hex_digits()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                char::from_u32(0x10000 + ((unit - 0xd800) << 10) + low)
            }
            _ => None,
        }
    }

    fn hex_digits(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    fn number(&mut self) -> Option<Value> {
        let digits = self.run(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
        serde_json::from_str::<Number>(digits).ok().map(Value::Number)
    }

    fn word(&mut self) -> Option<Value> {
        match self.run(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            "null" | "None" => Some(Value::Null),
            _ => None,
        }
    }

    fn run(&mut self, belongs: impl Fn(u8) -> bool) -> &str {
        let start = self.at;
        self.at += self.rest().iter().take_while(|byte| belongs(**byte)).count();
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn skip_blank(&mut self) {
        self.at += self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    fn rest(&self) -> &[u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}
