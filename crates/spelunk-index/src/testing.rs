//! Views of texts that were never on disk, for tests.

use std::sync::Arc;

use spelunk_context::{Corpus, ScanOptions, SourceInput, View};

use crate::{RankOptions, Ranking, rank};

/// The texts, each under its name.
pub(crate) fn view<N: AsRef<str>, T: AsRef<str>>(texts: &[(N, T)]) -> View {
    let source = |(name, text): &(N, T)| SourceInput::Text {
        name: name.as_ref().to_owned(),
        bytes: text.as_ref().as_bytes().to_vec(),
    };
    let sources: Vec<_> = texts.iter().map(source).collect();
    View::of(Arc::new(Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {}).unwrap()))
}

pub(crate) fn ranked(view: &View, question: &str) -> Ranking {
    rank(view, question, &RankOptions::new(10, 100_000), &mut |_| {}).unwrap()
}
