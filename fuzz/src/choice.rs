//! The first bytes of an input choose what a target does, and the rest is the text: a fuzzer that only knows bytes then
//! reaches every type, mode and limit.

use spelunk_context::{ContentType, Detected, Mode, Via};
use spelunk_types::Limits;

/// The number of bytes that choose.
const CHOICE_BYTES: usize = 8;

/// Some languages, and none.
const LANGUAGES: [Option<&str>; 8] = [
    None,
    Some("rust"),
    Some("python"),
    Some("typescript"),
    Some("cpp"),
    Some("go"),
    Some("ruby"),
    Some("bash"),
];

/// Limits so small that a few lines are many chunks.
const TOKENS_MAX: [u64; 8] = [1, 2, 5, 16, 20, 60, 300, 50_000];

/// What to do, and with which text.
pub(crate) struct Choice {
    pub(crate) detected: Detected,
    pub(crate) mode: Mode,
    pub(crate) limits: Limits,
    pub(crate) text: String,
}

impl Choice {
    pub(crate) fn of(data: &[u8]) -> Self {
        let byte = |idx: usize| usize::from(data.get(idx).copied().unwrap_or_default());
        let content_type = ContentType::ALL[byte(0) % ContentType::ALL.len()];
        let language = LANGUAGES[byte(1) % LANGUAGES.len()];
        let detected = Detected { content_type, via: Via::Override, language, custom: None };
        let mode = if byte(2) % 8 == 7 { Mode::Plain } else { Mode::ByType };
        let target = 1 + byte(3) as u64 % 40;
        let limits = limits(target, TOKENS_MAX[byte(4) % TOKENS_MAX.len()], byte(5) as u64 % 30);
        Self { detected, mode, limits, text: text_of(data) }
    }
}

/// The choice as a number.
pub(crate) fn number_of(data: &[u8]) -> u64 {
    data.iter().take(CHOICE_BYTES).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The rest of the input.
pub(crate) fn body_of(data: &[u8]) -> &[u8] {
    data.get(CHOICE_BYTES..).unwrap_or_default()
}

/// The bytes in pieces, as a network delivers them: of any length, determined by the number.
pub(crate) fn pieces(mut number: u64, mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Mostly short ones, so that marks of two or three bytes are split.
        let n_max = 1 << (number >> 61);
        let len = usize::try_from((number >> 32) % n_max).map_or(1, |len| len + 1).min(bytes.len());
        let (piece, rest) = bytes.split_at(len);
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

/// The rest of the input, with invalid UTF-8 replaced.
pub(crate) fn text_of(data: &[u8]) -> String {
    String::from_utf8_lossy(body_of(data)).into_owned()
}

fn limits(target: u64, tokens_max: u64, overlap: u64) -> Limits {
    Limits {
        chunk_code_lines: target,
        chunk_narrow_rows: target,
        chunk_wide_dense_rows: target,
        chunk_wide_sparse_rows: target,
        chunk_json_elements: target,
        chunk_jsonl_lines: target,
        chunk_jsonl_narrow_lines: target,
        chunk_jsonl_wide_lines: target,
        chunk_log_lines: target,
        chunk_prose_lines: target,
        chunk_other_lines: target,
        overlap_log_lines: overlap,
        overlap_prose_lines: overlap,
        overlap_other_lines: overlap,
        chunk_tokens_max: tokens_max,
        chunk_plain_tokens: tokens_max,
        overlap_plain_tokens: overlap,
        small_lines_max: target,
        ..Limits::default()
    }
}
