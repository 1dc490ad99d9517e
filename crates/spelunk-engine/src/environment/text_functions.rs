//! Functions that look at text: `peek`, `lines`, `grep`, `chunk`, `search`, `outline`. Each reports
//! documents and lines, so that results can be cited. Functions that query rows are in `tables`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use spelunk_context::{
    ContentType, Detector, DocEntry, Extent, GrepQuery, LazyText, Reader, SourceError, boundaries, grep_view,
    pack,
};
use spelunk_index::{IndexError, Mode, RankOptions, rank};
use spelunk_sandbox::{HostCall, HostFunction, Value};

use super::objects::TextRange;
use super::{Arguments, Environment, FrameRetrieval, Refusal, dict, int, tables};

pub(super) const FUNCTIONS: [(&str, &str); 8] = [
    ("peek", "peek(start=0, end=2000, doc=None) -> str\n\nCharacters of a document."),
    (
        "lines",
        "lines(start=1, end=50, doc=None) -> str\n\nLines of a document with their numbers, end included.",
    ),
    (
        "grep",
        "grep(pattern, doc=None, ignore_case=False, context_lines=0, max=20) -> list\n\nLines that match a regular expression: dicts with doc, line, text, and before and after if context_lines is given.",
    ),
    (
        "chunk",
        "chunk(chars=50000, doc=None, overlap=0) -> list\n\nThe text in chunks of at most this many characters, split at headings, definitions or lines: dicts with doc, line, text.",
    ),
    (
        "search",
        "search(query, k=10, mode='words') -> list\n\nPassages that match the query by words ('words'), by meaning ('meaning') or both ('hybrid'): dicts with doc, line, text, score.",
    ),
    (
        "outline",
        "outline(doc=None) -> str\n\nAn overview: documents by kind and size, or the structure of one document.",
    ),
    (
        "tables",
        "tables() -> str\n\nThe tables that `query_rows` can read, as CREATE TABLE statements with the values of each column.",
    ),
    (
        "query_rows",
        "query_rows(sql) -> list\n\nThe rows of one SQLite SELECT over the rows of CSV, JSON and log documents, as dicts. `_document` and `_line` locate a row; `median(x)`, `percentile(x, 95)` and `stddev(x)` exist.",
    ),
];

const HEAD_BYTES: u64 = 64 * 1024;
const PASSAGES_BYTES_MAX: u64 = 200_000;
const CHUNK_CHARS_MIN: u64 = 100;
const CHUNK_CHARS: u64 = 50_000;

pub(super) fn functions() -> impl Iterator<Item = HostFunction> {
    let function = |(name, doc): &(&str, &str)| HostFunction {
        name: (*name).into(),
        doc: (*doc).into(),
        is_awaitable: false,
    };
    FUNCTIONS.iter().map(function)
}

pub(super) fn serve(environment: &Environment, call: &mut HostCall) -> Result<Value, Refusal> {
    match call.name.as_str() {
        "peek" => peek(environment, Arguments::of(call, &["start", "end", "doc"])?),
        "lines" => lines(environment, Arguments::of(call, &["start", "end", "doc"])?),
        "grep" => grep(
            environment,
            Arguments::of(call, &["pattern", "doc", "ignore_case", "context_lines", "max"])?,
        ),
        "chunk" => chunk(environment, Arguments::of(call, &["chars", "doc", "overlap"])?),
        "search" => search(environment, Arguments::of(call, &["query", "k", "mode"])?),
        "outline" => outline(environment, Arguments::of(call, &["doc"])?),
        "tables" => Arguments::of(call, &[]).and_then(|_| tables::tables(environment)),
        "query_rows" => tables::query_rows(environment, Arguments::of(call, &["sql"])?),
        other => Err(Refusal::new("NameError", format!("there is no function '{other}'"))),
    }
}

fn peek(environment: &Environment, mut arguments: Arguments<'_>) -> Result<Value, Refusal> {
    let start = arguments.count("start")?.unwrap_or(0);
    let end = arguments.count("end")?.unwrap_or(start.saturating_add(2000));
    let text = text_of(environment, arguments.text("doc")?.as_deref())?;
    Ok(Value::Str(text.slice(start..end.max(start)).map_err(refused)?))
}

fn lines(environment: &Environment, mut arguments: Arguments<'_>) -> Result<Value, Refusal> {
    let start = arguments.count("start")?.unwrap_or(1).max(1);
    let end = arguments.count("end")?.unwrap_or(start.saturating_add(environment.limits.page_lines - 1));
    let text = text_of(environment, arguments.text("doc")?.as_deref())?;
    let n_lines = text.n_lines().map_err(refused)?;
    if start > n_lines || end < start {
        return Ok(Value::Str(String::new()));
    }
    let end = end.min(n_lines);
    let from = text.char_of_line(start).map_err(refused)?;
    let to = if end == n_lines {
        text.chars().map_err(refused)?
    } else {
        text.char_of_line(end + 1).map_err(refused)?
    };
    let shown = text.slice(from..to).map_err(refused)?;
    let numbered = shown.lines().zip(start..).map(|(line, number)| format!("{number}| {line}\n"));
    Ok(Value::Str(numbered.collect()))
}

fn grep(environment: &Environment, mut arguments: Arguments<'_>) -> Result<Value, Refusal> {
    let context_lines = arguments.count("context_lines")?.unwrap_or(0);
    let query = GrepQuery {
        pattern: arguments.need_text("pattern")?,
        case_sensitive: !arguments.flag("ignore_case")?.unwrap_or(false),
        literal: false,
        context_lines: context_lines.min(environment.limits.grep_context_lines_max),
        matches_max: arguments
            .count("max")?
            .unwrap_or(environment.limits.grep_matches_max)
            .min(GrepQuery::MATCHES_MAX),
        pattern_bytes_max: environment.limits.pattern_bytes_max,
        extent: Extent::FirstMatches,
    };
    let doc = arguments.text("doc")?;
    if let Some(note) = environment.note_text(doc.as_deref()) {
        return grep_reader(&Reader::of_bytes("context", note.as_bytes().into()), &query);
    }
    let view = match doc {
        Some(name) => {
            let name = environment.document(Some(&name))?.name.clone();
            environment.view.narrow(|document| document.name == name)
        }
        None => environment.view.clone(),
    };
    let report = grep_view(&view, &query, &AtomicBool::new(false)).map_err(refused)?;
    let mut hits = Vec::new();
    for document in report.documents {
        hits.extend(document.matches.iter().map(|found| hit(&document.document, found, context_lines)));
    }
    hits.truncate(to_usize(query.matches_max));
    Ok(Value::List(hits))
}

fn grep_reader(reader: &Reader, query: &GrepQuery) -> Result<Value, Refusal> {
    let report = reader.grep(query, &AtomicBool::new(false)).map_err(refused)?;
    let name = reader.name().to_owned();
    Ok(Value::List(report.matches.iter().map(|found| hit(&name, found, query.context_lines)).collect()))
}

fn hit(name: &str, found: &spelunk_context::GrepMatch, context_lines: u64) -> Value {
    let mut fields = located(name, found.line, found.text.as_str());
    if context_lines > 0 {
        let texts =
            |lines: &[String]| Value::List(lines.iter().map(|line| Value::from(line.as_str())).collect());
        fields.extend([("before", texts(&found.before)), ("after", texts(&found.after))]);
    }
    dict(fields)
}

fn chunk(environment: &Environment, mut arguments: Arguments<'_>) -> Result<Value, Refusal> {
    let chars = arguments.count("chars")?.unwrap_or(CHUNK_CHARS);
    let overlap = arguments.count("overlap")?.unwrap_or(0);
    if chars < CHUNK_CHARS_MIN {
        return Err(Refusal::value(format!("chunk(): 'chars' is {chars}, less than {CHUNK_CHARS_MIN}")));
    }
    if overlap >= chars {
        return Err(Refusal::value(format!(
            "chunk(): 'overlap' is {overlap}, not less than 'chars' = {chars}"
        )));
    }
    let doc = arguments.text("doc")?;
    if let Some(note) = environment.note_text(doc.as_deref()) {
        return Ok(Value::List(pieces("context", note, chars, overlap)));
    }
    let documents: Vec<DocEntry> = match doc {
        Some(name) => vec![environment.document(Some(&name))?.clone()],
        None => environment.view.documents().cloned().collect(),
    };
    let mut chunks = Vec::new();
    for document in documents {
        if document.bytes > environment.limits.cell_context_bytes_max {
            chunks.extend(large_pieces(environment, &document, chars, overlap)?);
            continue;
        }
        let text = environment.view.read_owned(&document).map_err(unread)?;
        chunks.extend(pieces(&document.name, &text, chars, overlap));
    }
    Ok(Value::List(chunks))
}

/// Pieces of a text, each with its first line. `pack` counts bytes, which are never fewer than characters.
fn pieces(name: &str, text: &str, chars: u64, overlap: u64) -> Vec<Value> {
    let detected = Detector::default().detect(name, head(text));
    let boundaries = boundaries(&detected, text);
    let mut chunks = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for span in pack(text, &boundaries, chars - overlap) {
        let (start, end) = (to_usize(span.start), to_usize(span.end));
        let start = text.floor_char_boundary(start.saturating_sub(to_usize(overlap)));
        line += text.get(counted..start).unwrap_or_default().matches('\n').count() as u64;
        counted = start;
        chunks.push(dict(located(name, line, text.get(start..end).unwrap_or_default())));
    }
    chunks
}

/// Pieces of a document that is not copied into the session, cut at line ends; their text is read on access.
fn large_pieces(
    environment: &Environment,
    document: &DocEntry,
    chars: u64,
    overlap: u64,
) -> Result<Vec<Value>, Refusal> {
    let text = environment.objects.lazy(document.idx)?;
    let len = text.chars().map_err(refused)?;
    let (mut start, mut chunks) = (0, Vec::new());
    while start < len {
        let piece = text.slice(start..(start + chars - overlap).min(len)).map_err(refused)?;
        let whole = piece.chars().count() as u64;
        let is_last = start + whole >= len;
        let kept = match piece.rfind('\n') {
            Some(at) if !is_last => piece.get(..=at).map_or(whole, |piece| piece.chars().count() as u64),
            Some(_) | None => whole,
        };
        let from = start.saturating_sub(overlap);
        let part = TextRange { doc_idx: document.idx, chars: from..start + kept };
        let line = text.line_of_char(from).map_err(refused)?;
        chunks.push(dict(located(&document.name, line, environment.objects.part(part))));
        start += kept.max(1);
    }
    Ok(chunks)
}

pub(super) fn asks_index(call: &HostCall) -> bool {
    let named = call.kwargs.iter().find(|(name, _)| name == "mode").map(|(_, value)| value);
    let mode = named.or(call.args.get(2)).and_then(Value::as_str).and_then(Mode::from_name);
    call.name == "search" && matches!(mode, Some(Mode::Meaning | Mode::Hybrid))
}

fn search(environment: &Environment, mut arguments: Arguments<'_>) -> Result<Value, Refusal> {
    let query = arguments.need_text("query")?;
    let k = arguments.count("k")?.unwrap_or(10).min(1000);
    let word = arguments.text("mode")?.unwrap_or_else(|| "words".to_owned());
    let mode = Mode::from_name(&word).ok_or_else(|| {
        Refusal::value(format!("there is no mode '{word}': use 'words', 'meaning' or 'hybrid'"))
    })?;
    if let (Mode::Meaning | Mode::Hybrid, Some(retrieval)) = (mode, &environment.retrieval) {
        return by_meaning(environment, retrieval, &query, mode, k);
    }
    let options = RankOptions::new(k, PASSAGES_BYTES_MAX);
    let ranking = rank(&environment.view, &query, &options, &mut |_| {}).map_err(unread)?;
    let passages = ranking.passages.into_iter().map(|passage| {
        let mut fields = located(&passage.document, passage.line_start, passage.text);
        fields.push(("score", Value::Float(passage.score.into())));
        dict(fields)
    });
    Ok(Value::List(passages.collect()))
}

/// Searches the index, which is built on first use.
fn by_meaning(
    environment: &Environment,
    retrieval: &FrameRetrieval,
    query: &str,
    mode: Mode,
    k: u64,
) -> Result<Value, Refusal> {
    let found = retrieval.find(&environment.view, query, mode, to_usize(k)).map_err(|error| {
        let why =
            if let IndexError::Embed { source } = &error { source.to_string() } else { error.to_string() };
        Refusal::new("RuntimeError", why)
    })?;
    let passages = found.into_iter().map(|passage| {
        let similarity = passage.similarity.map_or(Value::None, |near| Value::Float(near.into()));
        let mut fields = located(&passage.document, passage.line_start, passage.text);
        fields.extend([("score", Value::Float(passage.score.into())), ("similarity", similarity)]);
        dict(fields)
    });
    Ok(Value::List(passages.collect()))
}

fn outline(environment: &Environment, mut arguments: Arguments<'_>) -> Result<Value, Refusal> {
    let doc = arguments.text("doc")?;
    if let Some(note) = environment.note_text(doc.as_deref()) {
        return Ok(Value::Str(format!("a text of {} characters", note.chars().count())));
    }
    if doc.is_none() && environment.view.documents().len() != 1 {
        return Ok(Value::Str(environment.view.outline().to_string()));
    }
    let document = environment.document(doc.as_deref())?;
    let reader = Reader::of_document(&environment.view, document).map_err(refused)?;
    let head = reader.slice(0..HEAD_BYTES.min(reader.bytes())).map_err(refused)?;
    let content_type: ContentType = Detector::default().detect(&document.name, &head).content_type;
    let landmarks = reader.structure(content_type).map_err(refused)?;
    let (name, bytes) = (&document.name, document.bytes);
    Ok(Value::Str(format!("{name}: {bytes} bytes, {}\n{landmarks}", content_type.name())))
}

impl Environment {
    /// The note, if `context` is a note and no document is named.
    fn note_text(&self, doc: Option<&str>) -> Option<&str> {
        if doc.is_some() { None } else { self.note.as_deref() }
    }
}

fn text_of(environment: &Environment, doc: Option<&str>) -> Result<Arc<LazyText>, Refusal> {
    match environment.note_text(doc) {
        Some(note) => Ok(Arc::new(LazyText::of_string("context", note))),
        None => environment.objects.lazy(environment.document(doc)?.idx),
    }
}

fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(to_usize(HEAD_BYTES))).unwrap_or(text)
}

fn located(doc: &str, line: u64, text: impl Into<Value>) -> Vec<(&'static str, Value)> {
    vec![("doc", doc.into()), ("line", int(line)), ("text", text.into())]
}

fn to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn refused(error: impl std::fmt::Display) -> Refusal {
    Refusal::value(error.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn unread(error: SourceError) -> Refusal {
    Refusal::new("NotFound", error.to_string())
}
