//! Output for people and programs: errors, answers, trees, passages, progress. Control characters in text from
//! documents, models and providers never reach a terminal.

pub mod answer;
pub mod contexts;
pub mod found;
pub(crate) mod markdown;
pub mod passages;
pub mod plan;
pub mod progress;
pub mod report;
pub mod tree;
pub mod turn;
pub mod viewer;
pub mod without_model;

use std::ops::Range;

use crate::error_text::Paint;
use crate::units::safe;

pub fn highlight(text: &str, ranges: &[Range<usize>], style: &str, paint: Paint) -> String {
    let (mut shown, mut from) = (String::new(), 0);
    for range in ranges {
        let (before, word) = (text.get(from..range.start), text.get(range.clone()));
        let (Some(before), Some(word)) = (before, word) else { continue };
        shown += &safe(before);
        shown += &paint.apply(style, &safe(word));
        from = range.end;
    }
    shown + &safe(text.get(from..).unwrap_or_default())
}
