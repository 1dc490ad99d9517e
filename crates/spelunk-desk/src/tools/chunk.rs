//! Chunk: decides where to cut a file and records it in a manifest. The manifest contains lines and byte offsets but no
//! text, so it is small and the text is stored once; Read shows a chunk by its lines or bytes.

mod cut;

use serde::Serialize;
use serde_json::Value;
use spelunk_context::{ContentType, Detector, Heading, estimate_tokens, headings};
use spelunk_types::shorten;

use self::cut::{ChunkRange, ChunkRule};
use super::wire::ChunkBy;
use super::{arguments, refused, wire};
use crate::{Desk, DeskError, DeskPath, Zone, show};

/// The message if a file to be cut by headings has none.
pub const NO_HEADINGS: &str = "has no headings";
const SHOWN_MAX: usize = 12;
/// The maximum number of chunks of one file: a manifest of this many is as large as a file may be.
const CHUNKS_MAX: usize = 50_000;
/// Tokens, lines or paragraphs of a chunk.
const SIZE_MAX: u64 = 1_000_000;

pub(super) fn run(desk: &mut Desk, value: &Value) -> Result<String, DeskError> {
    let wire::Chunk { path, by, size, overlap } = arguments("Chunk", value)?;
    let path = DeskPath::parse(&path)?;
    let by = by.unwrap_or(ChunkBy::Tokens);
    let cut = ChunkRule {
        by,
        size: size.unwrap_or(default_size(by)),
        overlap: overlap.unwrap_or(default_overlap(by, size)),
    };
    check(cut)?;
    let text = desk.text(&path)?;
    let found = headings_of(&path, &text, by)?;
    let Some(pieces) = cut::pieces(&text, cut, &found, CHUNKS_MAX) else {
        let why = format!("`{path}` would be split into more than {CHUNKS_MAX} chunks; increase `size`");
        return Err(refused("Chunk", why));
    };
    let source_file = path.as_str();
    let manifest = wire::Manifest {
        source_file,
        total_lines: text.lines().count() as u64,
        total_bytes: text.len() as u64,
        total_tokens: estimate_tokens(text.len() as u64),
        chunk_method: by,
        chunk_size: cut.size,
        chunk_overlap: cut.overlap,
        chunk_count: pieces.len() as u64,
        chunks: pieces.iter().zip(0..).map(|(piece, index)| entry(&text, piece, index, &found)).collect(),
    };
    let mut files = vec![(index_path(desk, &path, "chunks")?, json(&manifest)?)];
    if by == ChunkBy::Headings {
        let entries = found.iter().map(|heading| wire::HeadingEntry {
            kind: "heading",
            level: heading.level,
            title: &heading.title,
            line: heading.line,
        });
        let index = wire::HeadingsIndex { source_file, entries: entries.collect() };
        files.push((index_path(desk, &path, "headings_index")?, json(&index)?));
    }
    let names: Vec<String> = files.iter().map(|(file, _)| format!("`{file}`")).collect();
    let shown = summary(&manifest);
    let mut written = desk.clone();
    for (file, content) in files {
        written.write(&file, content)?;
    }
    *desk = written;
    Ok(format!("{shown}[written to {}; read a chunk with Read, by its lines]\n", names.join(" and ")))
}

fn default_size(by: ChunkBy) -> u64 {
    match by {
        ChunkBy::Tokens | ChunkBy::Headings => 2000,
        ChunkBy::Lines => 100,
        ChunkBy::Paragraphs => 5,
    }
}

/// A small size without an explicit overlap gets a small overlap.
fn default_overlap(by: ChunkBy, size: Option<u64>) -> u64 {
    let usual = match by {
        ChunkBy::Tokens => 100,
        ChunkBy::Lines => 5,
        ChunkBy::Paragraphs | ChunkBy::Headings => 0,
    };
    size.map_or(usual, |size| usual.min(size / 10))
}

fn check(cut: ChunkRule) -> Result<(), DeskError> {
    if !(1..=SIZE_MAX).contains(&cut.size) {
        return Err(refused("Chunk", format!("`size` must be between 1 and {SIZE_MAX}, not {}", cut.size)));
    }
    // With more overlap than new text, chunks would repeat the same text over and over.
    if cut.overlap > cut.size / 2 {
        let why = format!("`overlap` ({}) must be at most half of `size` ({})", cut.overlap, cut.size);
        return Err(refused("Chunk", why));
    }
    Ok(())
}

/// The headings, if needed. In source code a `#` begins a comment, so code has none.
fn headings_of(path: &DeskPath, text: &str, by: ChunkBy) -> Result<Vec<Heading>, DeskError> {
    if by != ChunkBy::Headings {
        return Ok(Vec::new());
    }
    let found = match Detector::default().detect(path.as_str(), text).content_type {
        ContentType::Prose | ContentType::Markup | ContentType::Unknown => headings(text),
        ContentType::SourceCode
        | ContentType::StructuredData
        | ContentType::Json
        | ContentType::Jsonl
        | ContentType::Log
        | ContentType::Config => Vec::new(),
    };
    if found.is_empty() {
        return Err(refused("Chunk", format!("`{path}` {NO_HEADINGS}; split it by tokens or lines")));
    }
    Ok(found)
}

fn entry<'a>(text: &str, piece: &ChunkRange, index: u64, found: &'a [Heading]) -> wire::ManifestChunk<'a> {
    let bytes = piece.end - piece.start;
    let hash = blake3::hash(text.as_bytes().get(piece.start..piece.end).unwrap_or_default()).to_hex();
    let n_before = found.partition_point(|heading| heading.at <= piece.start as u64);
    let heading = n_before.checked_sub(1).and_then(|idx| found.get(idx));
    wire::ManifestChunk {
        index,
        chunk_id: format!("{index:04}-{}", hash.as_str().get(..12).unwrap_or_default()),
        start_line: piece.start_line,
        end_line: piece.end_line,
        start_byte: piece.start as u64,
        end_byte: piece.end as u64,
        token_estimate: estimate_tokens(bytes as u64),
        heading: heading.map(|heading| heading.title.as_str()),
    }
}

/// The path of a file's index of this kind: `chunks` or `headings_index`. Two files with the same name do not share an
/// index: the second gets a hash of its path.
pub fn index_path(desk: &Desk, of: &DeskPath, kind: &str) -> Result<DeskPath, DeskError> {
    let name = shorten(of.name(), 80).replace('…', "");
    let plain = DeskPath::parse(&format!("{}/{name}_{kind}.json", Zone::INDEXES))?;
    let is_free = match desk.entry(&plain) {
        Some(_) => serde_json::from_slice::<wire::IndexOf>(&desk.read(&plain)?)
            .is_ok_and(|index| index.source_file == of.as_str()),
        None => true,
    };
    if is_free {
        return Ok(plain);
    }
    let hash = blake3::hash(of.as_str().as_bytes()).to_hex();
    let hash = hash.as_str().get(..8).unwrap_or_default();
    Ok(DeskPath::parse(&format!("{}/{name}-{hash}_{kind}.json", Zone::INDEXES))?)
}

fn json(value: &impl Serialize) -> Result<String, DeskError> {
    let text = serde_json::to_string(value).map_err(|error| refused("Chunk", error.to_string()))?;
    Ok(text + "\n")
}

fn summary(manifest: &wire::Manifest) -> String {
    let mut text = format!(
        "`{}` ({} lines, {} bytes, about {} tokens) in {}\n",
        manifest.source_file,
        manifest.total_lines,
        manifest.total_bytes,
        manifest.total_tokens,
        show::counted(manifest.chunk_count, "chunk", "chunks"),
    );
    for chunk in manifest.chunks.iter().take(SHOWN_MAX) {
        let title =
            chunk.heading.map(|title| format!("  {}", show::on_one_line(title, 60))).unwrap_or_default();
        text.push_str(&format!(
            "{:>5}  lines {}-{}  bytes {}-{}  ~{} tokens{title}\n",
            chunk.index,
            chunk.start_line,
            chunk.end_line,
            chunk.start_byte,
            chunk.end_byte,
            chunk.token_estimate
        ));
    }
    let n_more = manifest.chunks.len().saturating_sub(SHOWN_MAX);
    if n_more > 0 {
        text.push_str(&format!("    … {n_more} more in the manifest\n"));
    }
    text
}
