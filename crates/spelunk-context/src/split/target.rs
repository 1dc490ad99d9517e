//! How large a chunk should be, per content type, and how many chunks that makes.

use spelunk_types::Limits;

use super::table::Shape;
use crate::kind::ContentType;

/// How many columns a table has, and how full they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// Few columns.
    Narrow,
    /// Many columns with values in most.
    WideDense,
    /// Many columns, half of them empty or more.
    WideSparse,
}

impl Width {
    pub(super) fn of(shape: &Shape, limits: &Limits) -> Self {
        if shape.n_columns < limits.wide_columns_min {
            Self::Narrow
        } else if shape.is_sparse {
            Self::WideSparse
        } else {
            Self::WideDense
        }
    }
}

/// Rows of a chunk of a table.
pub fn target_rows(limits: &Limits, width: Width) -> u64 {
    match width {
        Width::Narrow => limits.chunk_narrow_rows,
        Width::WideDense => limits.chunk_wide_dense_rows,
        Width::WideSparse => limits.chunk_wide_sparse_rows,
    }
}

/// Lines or elements of a chunk; of a table, rows of a narrow one.
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

/// How many chunks the target makes of so many units: at least one, and never two of what fits into one.
pub fn partitions_expected(units: u64, target: u64) -> u64 {
    units.div_ceil(target.max(1)).max(1)
}
