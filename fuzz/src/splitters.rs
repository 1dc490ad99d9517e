//! Splitters and the partitioner: for any text, the chunks cover it in order without a gap, lie on character
//! boundaries, stay under the size limit, and have the right line numbers; JSON stays JSON.

use spelunk_context::{
    Chunk, ContentType, Cutting, DocText, Partitioner, Span, Units, boundaries, pack, render,
};

use crate::choice::Choice;

/// The lowest limit that is honoured: below it, a chunk of JSON has no room for its brackets.
const TOKENS_CEILING_MIN: u64 = 16;

/// Splits the text as the first bytes choose.
pub(crate) fn splitters(data: &[u8]) {
    let Choice { detected, mode, limits, text } = Choice::of(data);
    let boundaries = boundaries(&detected, &text);
    let mut before = 0;
    for boundary in &boundaries {
        assert!(boundary.at > before && boundary.at < text.len() as u64, "boundaries ascend inside the text");
        assert!(part(&text, &(before..boundary.at)).is_some(), "between characters");
        before = boundary.at;
    }
    let spans = pack(&text, &boundaries, limits.chunk_tokens_max);
    assert_eq!(spans.last().map_or(0, |span| span.end), text.len() as u64, "packed to the end");

    let partitioner = Partitioner::new(&limits, mode);
    let document = DocText { idx: 7, name: "a", text: &text, detected: &detected };
    let cutting = partitioner.cut(document);
    check_cover(&text, &cutting, limits.chunk_tokens_max.max(TOKENS_CEILING_MIN));
    let originals: Vec<&str> = text.split('\n').collect();
    for chunk in &cutting.chunks {
        check_lines(&originals, chunk, &render(chunk, &text));
    }
    let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
    if detected.content_type != ContentType::Json || is_json {
        assert_eq!(partitioner.measure(document), (cutting.lines, cutting.units), "measured as it is cut");
    }
    if is_json && matches!(cutting.units, Units::Elements(_)) {
        check_json(&text, &cutting);
    }
    assert_eq!(cutting, partitioner.cut(document), "cut alike again");
}

fn part<'t>(text: &'t str, span: &Span) -> Option<&'t str> {
    text.get(usize::try_from(span.start).ok()?..usize::try_from(span.end).ok()?)
}

fn check_cover(text: &str, cutting: &Cutting, tokens_ceiling: u64) {
    let (mut covered, mut bytes_before) = (0, 0);
    for (chunk, index) in cutting.chunks.iter().zip(0..) {
        let own = part(text, &chunk.span).expect("a chunk begins and ends between characters");
        assert_eq!(chunk.span.start, covered, "in order, without a gap");
        assert!(!own.is_empty(), "no chunk is empty");
        let place = (chunk.index, chunk.n_chunks as usize, chunk.document_idx);
        assert_eq!(place, (index, cutting.chunks.len(), 7));
        assert_eq!(chunk.overlap.end, chunk.span.start);
        let overlap_bytes = chunk.overlap.end - chunk.overlap.start;
        assert!(overlap_bytes == 0 || overlap_bytes < bytes_before, "an overlap is shorter than its chunk");
        assert!(part(text, &chunk.overlap).is_some(), "an overlap begins between characters");
        let is_short = own.chars().count() <= 2;
        assert!(is_short || chunk.tokens_estimate <= tokens_ceiling, "{} tokens", chunk.tokens_estimate);
        assert!(chunk.lines.start() <= chunk.lines.end() && *chunk.lines.end() <= cutting.lines);
        bytes_before = chunk.span.end - chunk.span.start;
        covered = chunk.span.end;
    }
    assert_eq!(covered, text.len() as u64, "to the end");
    if cutting.chunks.iter().all(|chunk| chunk.shell.is_none()) {
        let n_units: u64 = cutting.chunks.iter().map(|chunk| chunk.units.count()).sum();
        assert_eq!(n_units, cutting.units.count(), "no unit is lost or counted twice");
    }
}

/// Every rendered line is found in the line of the document that it claims to be.
fn check_lines(originals: &[&str], chunk: &Chunk, rendered: &str) {
    let body = match &chunk.shell {
        Some(shell) => rendered.strip_prefix(&shell.open).and_then(|rest| rest.strip_suffix(&shell.close)),
        None => Some(rendered),
    };
    let body = body.expect("a shell is around its body");
    for (line, number) in body.strip_suffix('\n').unwrap_or(body).split('\n').zip(1..) {
        let original = chunk.line_of(number).and_then(|line| usize::try_from(line - 1).ok());
        let original = original.and_then(|idx| originals.get(idx));
        assert!(original.is_some_and(|original| original.contains(line)), "line {number} is elsewhere");
    }
}

/// Chunks of JSON are JSON.
fn check_json(text: &str, cutting: &Cutting) {
    for chunk in cutting.chunks.iter().filter(|chunk| chunk.shell.is_some()) {
        let rendered = render(chunk, text);
        assert!(serde_json::from_str::<serde_json::Value>(&rendered).is_ok(), "no JSON: {rendered}");
    }
}
