//! The scan: one pass over a reply. Each line either begins something that is taken whole, or is prose.

use super::close::Strings;
use super::opener::{Fence, FenceContent, FenceLine, Opener};
use super::{CELLS_MAX, CodeCell, ParsedReply, call, final_text, opener, python};

/// How much may be read ahead of the scan position, in multiples of the reply's length. An unclosed string reaches to
/// the end of the reply, and the next fence may begin another.
const LOOKAHEAD_PASSES: usize = 8;

const THINK_TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];
const CODE_TAGS: [(&str, &str); 2] = [("<python>", "</python>"), ("<repl>", "</repl>")];
/// Also used around words in prose.
const WORDS_TAG: (&str, &str) = ("<code>", "</code>");
const CALL_TAG: (&str, &str) = ("<tool_call>", "</tool_call>");

#[derive(Default)]
pub(super) struct Scan<'a> {
    reply: &'a str,
    /// The current offset and its line.
    at: usize,
    line: u32,
    paragraph: usize,
    lookahead_bytes: usize,
    /// Bytes examined, counting repetitions.
    work: u64,
    found: ParsedReply,
}

#[derive(Debug, Clone, Copy)]
struct CodeEnd {
    code: usize,
    next: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(reply: &'a str) -> Self {
        let lookahead_bytes = reply.len().saturating_mul(LOOKAHEAD_PASSES);
        Self { reply, line: 1, lookahead_bytes, ..Self::default() }
    }

    /// The result, and the number of bytes examined.
    pub(super) fn run(mut self) -> (ParsedReply, u64) {
        while self.at < self.reply.len() {
            let line = self.rest().split_inclusive('\n').next().unwrap_or_default();
            if self.take(line) {
                self.paragraph = self.at;
                continue;
            }
            self.found.prose.push_str(line);
            self.skip_to(self.at + line.len());
            if line.trim().is_empty() {
                self.paragraph = self.at;
            }
        }
        let prose = self.found.prose.trim();
        if prose.len() != self.found.prose.len() {
            self.found.prose = prose.to_owned();
        }
        (self.found, self.work)
    }

    /// Takes whatever begins on this line; `false` if it is prose.
    fn take(&mut self, line: &str) -> bool {
        let text = line.trim_start();
        let is_taken = match text.as_bytes().first() {
            Some(b'<') => self.take_tag(line.len() - text.len()),
            Some(b'{') => self.take_call(line.len() - text.len()),
            Some(b'F') => self.take_final(line.len() - text.len()),
            Some(_) => match Opener::read(line) {
                Some(opener) => self.take_fence(opener, line),
                None => false,
            },
            None => false,
        };
        is_taken || self.take_glued(line)
    }

    /// Takes a fence that opens at the end of a line of prose, if it is labelled and closed.
    fn take_glued(&mut self, line: &str) -> bool {
        let Some((prose, fence)) = opener::glued(line) else { return false };
        let Some(opener) = Opener::read(fence).filter(|_| self.lookahead_bytes > 0) else { return false };
        let body = self.at + line.len();
        let closing = fence_lines(self.reply, body, opener.fence, &[FenceLine::Closing]).next();
        let seen = closing.map_or(self.reply.len(), |end| end.next) - body;
        self.work += seen as u64;
        self.charge(seen);
        if closing.is_none() {
            return false;
        }
        self.found.prose.push_str(prose);
        self.found.prose.push('\n');
        self.skip_to(self.at + prose.len());
        self.take_fence(opener, fence)
    }

    fn take_fence(&mut self, opener: Opener<'_>, line: &str) -> bool {
        let body = self.at + line.len();
        match opener.holds() {
            FenceContent::Code => {
                let end = self.end_of_python(body, opener.fence, &[FenceLine::Closing, FenceLine::Opening]);
                self.skip_to(body);
                self.push_code(opener.indent, end);
            }
            FenceContent::Unknown => {
                let end = self.end_of_python(body, opener.fence, &[FenceLine::Closing]);
                let code_end = end.map_or(self.reply.len(), |end| end.code);
                self.work += (code_end - body) as u64;
                if python::does_something(self.piece(body, code_end), opener.indent) {
                    self.skip_to(body);
                    self.push_code(opener.indent, end);
                } else {
                    self.keep_other(body, opener.fence);
                    self.charge(code_end.saturating_sub(self.at));
                }
            }
            FenceContent::Other => self.keep_other(body, opener.fence),
        }
        true
    }

    /// Keeps a fence without code as prose. It also ends at a code fence, in case it was never closed.
    fn keep_other(&mut self, body: usize, fence: Fence) {
        let end = fence_lines(self.reply, body, fence, &[FenceLine::Closing, FenceLine::Opening]).next();
        let next = end.map_or(self.reply.len(), |end| end.next);
        self.found.prose.push_str(self.piece(self.at, next));
        self.skip_to(next);
    }

    /// The fence line that ends the Python that begins at `body`, or `None` if there is none.
    fn end_of_python(&mut self, body: usize, fence: Fence, kinds: &[FenceLine]) -> Option<CodeEnd> {
        let first = fence_lines(self.reply, body, fence, kinds).next()?;
        let limit = self.look_ahead(first);
        let candidates = fence_lines(self.piece(0, limit), body, fence, kinds);
        if let Some(end) = self.agreed(body, limit, candidates) {
            return Some(end);
        }
        self.charge(limit.saturating_sub(first.next));
        let closing = fence_lines(self.reply, body, fence, &[FenceLine::Closing]).next();
        self.work += closing.map_or(self.reply.len(), |end| end.next).saturating_sub(body) as u64;
        closing
    }

    /// The first candidate that is not within a string.
    fn agreed(
        &mut self,
        body: usize,
        limit: usize,
        candidates: impl Iterator<Item = CodeEnd>,
    ) -> Option<CodeEnd> {
        let mut strings = Strings::of(self.piece(body, limit));
        let mut agreed = None;
        // A line at the limit may be incomplete.
        let is_whole = |end: &CodeEnd| end.next < limit || limit == self.reply.len();
        for end in candidates.take_while(is_whole) {
            match strings.is_within(end.code - body) {
                Some(true) => {}
                Some(false) => {
                    agreed = Some(end);
                    break;
                }
                None => break,
            }
        }
        // The candidates were searched twice, plus once by the tokenizer.
        let seen = agreed.map_or(limit, |end| end.next).saturating_sub(body);
        self.work += (2 * seen + strings.bytes_read()) as u64;
        agreed
    }

    /// How far to read when code ends at `first` or later.
    fn look_ahead(&self, first: CodeEnd) -> usize {
        let limit = first.next.saturating_add(self.lookahead_bytes).min(self.reply.len());
        self.reply.floor_char_boundary(limit)
    }

    fn take_tag(&mut self, indent: usize) -> bool {
        let start = self.at + indent;
        let rest = self.piece(start, self.reply.len());
        for (open, close) in THINK_TAGS {
            if rest.starts_with(open) {
                let end = rest.find(close).map_or(self.reply.len(), |at| start + at + close.len());
                self.skip_to(end);
                return true;
            }
            // Some servers drop the opening tag: everything before belongs to the thinking.
            if rest.starts_with(close) {
                self.found = ParsedReply::default();
                self.skip_to(start + close.len());
                return true;
            }
        }
        for (open, close) in CODE_TAGS {
            if rest.starts_with(open) {
                self.take_tagged_code(start + open.len(), close);
                return true;
            }
        }
        if rest.starts_with(WORDS_TAG.0) && self.is_program(start + WORDS_TAG.0.len(), WORDS_TAG.1) {
            self.take_tagged_code(start + WORDS_TAG.0.len(), WORDS_TAG.1);
            return true;
        }
        let after = rest.strip_prefix(CALL_TAG.0).map(str::trim_start);
        after.is_some_and(|after| self.take_call(self.reply.len() - after.len() - self.at))
    }

    /// Whether the text up to a closing tag is a program, or a fence.
    fn is_program(&mut self, body: usize, close: &str) -> bool {
        if self.lookahead_bytes == 0 {
            return false;
        }
        let rest = self.piece(body, self.reply.len());
        let end = rest.find(close);
        let seen = end.unwrap_or(rest.len());
        self.work += 2 * seen as u64;
        self.charge(seen);
        let text = rest.get(..seen).unwrap_or_default();
        // `<code>context</code>` is a word of the prose.
        let may_be_code = end.is_some() && text.trim().contains(['\n', '(', '=']);
        let is_fence = text.trim_start().starts_with("```");
        may_be_code && (is_fence || python::does_something(text.trim_start_matches(['\r', '\n']), 0))
    }

    fn take_tagged_code(&mut self, body: usize, close: &str) {
        self.skip_to(body);
        let inner = self.rest().trim_start();
        let blank = self.rest().len() - inner.len();
        // A fence in a tag: the fence takes precedence.
        if inner.starts_with("```") || inner.starts_with("~~~") {
            let line_start = self.piece(body, body + blank).rfind('\n').map_or(body, |at| body + at + 1);
            self.skip_to(line_start);
            return;
        }
        let to_end = |at: usize| CodeEnd { code: body + at, next: body + at + close.len() };
        let end = match self.rest().find(close).map(to_end) {
            None => None,
            Some(first) => {
                let limit = self.look_ahead(first);
                let candidates = self.piece(body, limit).match_indices(close).map(|(at, _)| to_end(at));
                let agreed = self.agreed(body, limit, candidates);
                if agreed.is_none() {
                    self.charge(limit.saturating_sub(first.next));
                }
                agreed.or(Some(first))
            }
        };
        let first_line = self.piece(body, self.reply.len()).split_inclusive('\n').next().unwrap_or_default();
        if first_line.trim().is_empty() && end.is_none_or(|end| end.code >= body + first_line.len()) {
            self.skip_to(body + first_line.len());
        }
        self.push_code(0, end);
    }

    fn take_call(&mut self, indent: usize) -> bool {
        if self.lookahead_bytes == 0 {
            return false;
        }
        let start = self.at + indent;
        let (outcome, read) = call::read(self.piece(start, self.reply.len()));
        self.work += read as u64;
        let Some(code) = outcome else {
            self.charge(read);
            return false;
        };
        let line = self.line;
        self.skip_to(start + read);
        let rest = self.rest().trim_start();
        if rest.starts_with(CALL_TAG.1) {
            self.skip_to(self.reply.len() - rest.len() + CALL_TAG.1.len());
        }
        self.push_cell(CodeCell { code, line, is_cut: false });
        true
    }

    fn take_final(&mut self, indent: usize) -> bool {
        let start = self.at + indent;
        let text = self.piece(start, self.reply.len());
        let is_wanted = self.found.final_text.is_none() && self.lookahead_bytes > 0;
        let margin = self.piece(self.at, start);
        if !is_wanted || !final_text::is_begun(margin, text) {
            return false;
        }
        let before = start - self.paragraph;
        let paragraph = final_text::paragraph(self.piece(self.paragraph, self.reply.len()), before);
        let (answer, read) = final_text::read(text);
        self.work += (read + 2 * paragraph.len()) as u64;
        self.charge(read + paragraph.len());
        match answer {
            Some((answer, len)) if !final_text::is_in_code_span(paragraph, before) => {
                self.skip_to(start + len);
                self.found.final_text = Some(answer);
                true
            }
            Some(_) | None => false,
        }
    }

    fn push_code(&mut self, indent: usize, end: Option<CodeEnd>) {
        let cell =
            CodeCell { code: self.code_before(self.at, indent, end), line: self.line, is_cut: end.is_none() };
        self.skip_to(end.map_or(self.reply.len(), |end| end.next));
        self.push_cell(cell);
    }

    fn push_cell(&mut self, cell: CodeCell) {
        if cell.code.trim().is_empty() {
            return;
        }
        if self.found.cells.len() < CELLS_MAX {
            self.found.cells.push(cell);
        } else {
            self.found.n_dropped += 1;
        }
    }

    fn charge(&mut self, bytes: usize) {
        self.lookahead_bytes = self.lookahead_bytes.saturating_sub(bytes);
    }

    fn code_before(&self, body: usize, indent: usize, end: Option<CodeEnd>) -> String {
        let end = end.map_or(self.reply.len(), |end| end.code);
        python::dedent(self.piece(body, end), indent)
    }

    fn rest(&self) -> &'a str {
        self.piece(self.at, self.reply.len())
    }

    fn piece(&self, start: usize, end: usize) -> &'a str {
        self.reply.get(start..end).unwrap_or_default()
    }

    fn skip_to(&mut self, at: usize) {
        let passed = self.piece(self.at, at);
        let n_lines = passed.bytes().filter(|byte| *byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(n_lines).unwrap_or(u32::MAX));
        self.work += passed.len() as u64;
        self.at = at;
    }
}

/// The fence lines of these kinds, starting at an offset. An opening line is left for the scan.
fn fence_lines<'a>(
    text: &'a str,
    body: usize,
    fence: Fence,
    kinds: &'a [FenceLine],
) -> impl Iterator<Item = CodeEnd> + use<'a> {
    let mut at = body;
    text.get(body..).unwrap_or_default().split_inclusive('\n').filter_map(move |line| {
        let code = at;
        at += line.len();
        let kind = fence.line(line);
        let next = if kind == FenceLine::Opening { code } else { at };
        kinds.contains(&kind).then_some(CodeEnd { code, next })
    })
}
