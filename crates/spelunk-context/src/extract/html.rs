//! Converts HTML to readable Markdown: headings, lists, table rows and preformatted text are kept, links are reduced to
//! their text, scripts and styles are dropped. Uses its own tokenizer, in one pass and without a tree: it never fails
//! and does not recurse.

use crate::decode;

const DROPPED: [&str; 6] = ["script", "style", "template", "svg", "noscript", "iframe"];

pub(super) fn extract(bytes: &[u8]) -> String {
    let html = decode::decode(bytes.to_vec());
    let mut page = Page::default();
    let mut rest = html.as_str();
    while let Some((text, from_tag)) = rest.split_once('<') {
        page.push(text);
        rest = match Tag::parse(from_tag) {
            Some((tag, behind)) => {
                page.apply(&tag);
                if !tag.is_end && DROPPED.contains(&tag.name.as_str()) && !tag.is_empty {
                    behind_end_of(&tag.name, behind)
                } else {
                    behind
                }
            }
            // A lone `<` is an ordinary character.
            None => {
                page.push("<");
                from_tag
            }
        };
    }
    page.push(rest);
    page.finish()
}

struct Tag {
    /// In lower case; empty for comments and declarations.
    name: String,
    is_end: bool,
    /// `<br/>`.
    is_empty: bool,
    alt: Option<String>,
}

impl Tag {
    fn parse(text: &str) -> Option<(Self, &str)> {
        let nothing = Self { name: String::new(), is_end: false, is_empty: true, alt: None };
        if let Some(comment) = text.strip_prefix("!--") {
            let behind = comment.split_once("-->").map_or("", |(_, behind)| behind);
            return Some((nothing, behind));
        }
        if text.starts_with(['!', '?']) {
            return Some((nothing, text.split_once('>').map_or("", |(_, behind)| behind)));
        }
        let (is_end, inner) = match text.strip_prefix('/') {
            Some(inner) => (true, inner),
            None => (false, text),
        };
        if !inner.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let end = end_of_tag(inner);
        let (tag, behind) = inner.split_at_checked(end)?;
        let behind = behind.strip_prefix('>').unwrap_or(behind);
        let n_name = tag.find(|c: char| c.is_ascii_whitespace() || c == '/').unwrap_or(tag.len());
        let (name, attributes) = tag.split_at_checked(n_name)?;
        let name = name.to_ascii_lowercase();
        let alt = if name == "img" { alt_of(attributes) } else { None };
        Some((Self { name, is_end, is_empty: attributes.ends_with('/'), alt }, behind))
    }
}

fn end_of_tag(tag: &str) -> usize {
    let mut quote = None;
    let mut previous = b' ';
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at,
            (None, b'"' | b'\'') if previous == b'=' => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            (Some(_) | None, _) => {}
        }
        if !byte.is_ascii_whitespace() {
            previous = byte;
        }
    }
    tag.len()
}

fn alt_of(attributes: &str) -> Option<String> {
    let (_, value) = attributes.split_once("alt=")?;
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (alt, _) = value.strip_prefix(quote)?.split_once(quote)?;
    Some(alt.to_owned())
}

/// The text after the end tag of a dropped element; empty if there is no end tag.
fn behind_end_of<'a>(name: &str, text: &'a str) -> &'a str {
    let mut rest = text;
    while let Some((_, from_tag)) = rest.split_once("</") {
        let is_it = from_tag.get(..name.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(name));
        if is_it {
            return from_tag.split_once('>').map_or("", |(_, behind)| behind);
        }
        rest = from_tag;
    }
    ""
}

#[derive(Debug, Default)]
struct Page {
    text: String,
    /// Line breaks pending before the next text.
    breaks: usize,
    space: bool,
    /// The prefix of the next text of the block: `## `, `- `.
    lead: String,
    n_pre: usize,
    cells: usize,
}

impl Page {
    fn apply(&mut self, tag: &Tag) {
        let name = tag.name.as_str();
        match (name, tag.is_end) {
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", is_end) => {
                self.break_to(2);
                let level = name.bytes().last().map_or(1, |digit| usize::from(digit - b'0'));
                self.lead = if is_end { String::new() } else { format!("{} ", "#".repeat(level)) };
            }
            ("br", _) => self.break_to(1),
            ("li", is_end) => {
                self.break_to(1);
                self.lead = if is_end { String::new() } else { "- ".to_owned() };
            }
            ("tr", _) => {
                self.break_to(1);
                self.cells = 0;
            }
            ("td" | "th", false) => {
                if self.cells > 0 {
                    self.text.push('\t');
                    self.space = false;
                }
                self.cells += 1;
            }
            ("pre", false) => {
                self.break_to(2);
                self.n_pre += 1;
            }
            ("pre", true) => {
                self.n_pre = self.n_pre.saturating_sub(1);
                self.break_to(2);
            }
            ("img", false) => {
                if let Some(alt) = &tag.alt {
                    self.push(&format!(" {alt} "));
                }
            }
            // Elements that begin and end a block.
            (
                "address" | "article" | "aside" | "blockquote" | "body" | "caption" | "dd" | "div" | "dl"
                | "dt" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "header" | "hr" | "main"
                | "nav" | "ol" | "p" | "section" | "table" | "title" | "ul" | "tbody",
                _,
            ) => self.break_to(2),
            (_, _) => {}
        }
    }

    fn push(&mut self, raw: &str) {
        let text = unescape(raw);
        if self.n_pre > 0 {
            self.begin();
            self.text += &text;
            return;
        }
        self.space |= text.starts_with(|c: char| c.is_whitespace());
        for word in text.split_whitespace() {
            self.begin();
            self.text += word;
            self.space = true;
        }
        self.space &= text.is_empty() || text.ends_with(|c: char| c.is_whitespace());
    }

    fn begin(&mut self) {
        let breaks = std::mem::take(&mut self.breaks);
        if self.text.is_empty() {
            self.space = false;
        } else if breaks > 0 {
            self.text.extend(std::iter::repeat_n('\n', breaks));
            self.space = false;
        }
        if std::mem::take(&mut self.space) {
            self.text.push(' ');
        }
        self.text += &std::mem::take(&mut self.lead);
    }

    fn break_to(&mut self, breaks: usize) {
        self.breaks = self.breaks.max(breaks);
    }

    fn finish(mut self) -> String {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text
    }
}

/// Converts entities to characters: numeric ones, and the named ones that prose uses. Others are kept unchanged.
fn unescape(raw: &str) -> String {
    /// The longest name below, with room for a number.
    const NAME_BYTES_MAX: usize = 10;
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, from_entity)) = rest.split_once('&') {
        text += before;
        // The search for `;` is bounded, so that a page full of `&` takes linear time.
        let end = from_entity.bytes().take(NAME_BYTES_MAX + 1).position(|byte| byte == b';');
        let named = end.and_then(|end| Some((from_entity.get(..end)?, from_entity.get(end + 1..)?)));
        match named.and_then(|(name, behind)| Some((entity(name)?, behind))) {
            Some((c, behind)) => {
                text.push(c);
                rest = behind;
            }
            None => {
                text.push('&');
                rest = from_entity;
            }
        }
    }
    text + rest
}

fn entity(name: &str) -> Option<char> {
    const NAMES: &str = "amp lt gt quot apos nbsp copy reg trade hellip mdash ndash lsquo rsquo ldquo \
        rdquo laquo raquo bull middot deg times euro pound sect para";
    /// In the order of the names.
    const CHARS: &str = "&<>\"' ©®™…—–‘’“”«»•·°×€£§¶";
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|c| *c != '\0');
    }
    NAMES.split(' ').zip(CHARS.chars()).find(|(known, _)| *known == name).map(|(_, c)| c)
}
