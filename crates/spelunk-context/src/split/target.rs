//! The target size of a chunk per content type, and the number of chunks that it implies.

use spelunk_types::Limits;

use crate::kind::ContentType;
use crate::kind::delimited::Shape;
use crate::records::n_fields_of_head;

/// The target rows of a chunk of a table, by the number of its columns and how full they are.
pub(super) fn target_rows(limits: &Limits, shape: &Shape) -> u64 {
    if shape.n_columns < limits.wide_columns_min {
        limits.chunk_narrow_rows
    } else if shape.is_sparse {
        limits.chunk_wide_sparse_rows
    } else {
        limits.chunk_wide_dense_rows
    }
}

/// The target lines or elements of a chunk; for a table, the rows of a narrow one.
pub fn target_units(limits: &Limits, content_type: ContentType) -> u64 {
    match content_type {
        ContentType::SourceCode => limits.chunk_code_lines,
        ContentType::StructuredData => limits.chunk_narrow_rows,
        ContentType::Json => limits.chunk_json_elements,
        ContentType::Jsonl => limits.chunk_jsonl_lines,
        ContentType::Log => limits.chunk_log_lines,
        ContentType::Prose => limits.chunk_prose_lines,
        ContentType::Markup | ContentType::Config | ContentType::Unknown => limits.chunk_other_lines,
    }
}

/// Records with fewer fields than this are narrow.
const NARROW_FIELDS_BELOW: usize = 10;
/// Records with more fields than this are wide.
const WIDE_FIELDS_ABOVE: usize = 15;

/// The target lines of a chunk of JSON lines: the more fields the first records have, the fewer lines.
pub(super) fn target_records(limits: &Limits, text: &str) -> u64 {
    match n_fields_of_head(text) {
        Some(n_fields) if n_fields < NARROW_FIELDS_BELOW => limits.chunk_jsonl_narrow_lines,
        Some(n_fields) if n_fields > WIDE_FIELDS_ABOVE => limits.chunk_jsonl_wide_lines,
        Some(_) | None => limits.chunk_jsonl_lines,
    }
}

/// The number of chunks that the target makes of `units`: at least one, and never two if they fit into one.
pub fn partitions_expected(units: u64, target: u64) -> u64 {
    units.div_ceil(target.max(1)).max(1)
}
