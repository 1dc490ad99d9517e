//! Retrieval quality, for questions in the words of the text and for paraphrases: 233 over the documentation in
//! `benches/corpus`, on which weights were tuned, and 268 over that in `benches/held-out`, on which nothing was. Prints
//! recall at five and the mean reciprocal rank; fails if hybrid search is not better than words and meaning alone.
//! `cargo bench -p spelunk-index --bench retrieval --ignore-rust-version`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a bench prints, fails by panicking, reads its corpus and divides counts"
)]

use std::ops::{ControlFlow, RangeInclusive};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use spelunk_context::{Corpus, ScanOptions, SourceInput, View};
use spelunk_index::{Index, IndexOptions, Mode, Query, StaticEmbedder, UpdateOptions};
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{STORED, Schema, TEXT, Value as _};
use tantivy::{TantivyDocument, doc};

/// How many hits are considered.
const HITS_MAX: usize = 10;

/// Lines per passage of the plain run.
const PLAIN_LINES: usize = 24;

/// Lines that a hit must share with the section that answers, unless the section is shorter.
const SHARED_LINES_MIN: u64 = 3;

struct Labelled {
    kind: String,
    query: String,
    document: String,
    lines: RangeInclusive<u64>,
}

/// The location of a hit.
type Place = (String, RangeInclusive<u64>);

fn main() -> ExitCode {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches");
    let tuned = is_best_over(&benches.join("corpus"), "chosen on these questions");
    let held_out = is_best_over(&benches.join("held-out"), "held out");
    if tuned && held_out { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Asks all questions in all modes. Returns whether hybrid search is better than each alone.
fn is_best_over(corpus: &Path, what: &str) -> bool {
    let queries = queries(&corpus.join("queries.tsv"));
    let documents = corpus.join("docs");
    let scanned =
        Corpus::scan(&[SourceInput::Path(documents.clone())], &ScanOptions::default(), &mut |_| {}).unwrap();
    let view = View::of(Arc::new(scanned));
    let directory = tempfile::tempdir().unwrap();
    let embedder = Arc::new(StaticEmbedder::embedded().unwrap());
    let mut index = Index::open(directory.path(), IndexOptions { embedder: Some(embedder) }).unwrap();
    index.update(&view, &UpdateOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    let (n_documents, n_passages) = index.size();
    println!("{what}: {n_documents} documents, {n_passages} passages, {} queries\n", queries.len());
    println!("{:<24}{:>18}{:>18}{:>18}", "", "words of the text", "other words", "all");
    println!("{:<24}{:>18}{:>18}{:>18}", "", "R@5     MRR", "R@5     MRR", "R@5     MRR");
    let plain = Plain::over(&view);
    report("plain BM25", &queries, &|query| plain.search(query));
    let by = |mode: Mode| {
        let (index, view) = (&index, &view);
        move |query: &str| {
            let query = Query { mode, hits_max: HITS_MAX, ..Query::new(query) };
            let hits = index.search(view, &query).unwrap().hits;
            hits.into_iter().map(|hit| (hit.document, hit.line_start..=hit.line_end)).collect()
        }
    };
    let words = report("words", &queries, &by(Mode::Words));
    let meaning = report("meaning", &queries, &by(Mode::Meaning));
    let hybrid = report("hybrid", &queries, &by(Mode::Hybrid));
    let is_best = |measure: fn(&Figures) -> f64| {
        measure(&hybrid) > measure(&words) && measure(&hybrid) > measure(&meaning)
    };
    let is_better = is_best(|figures| figures.recall) && is_best(|figures| figures.reciprocal_rank);
    println!(
        "{}\n",
        if is_better { "" } else { "hybrid is not better than words and meaning alone  BROKEN" }
    );
    is_better
}

struct Figures {
    recall: f64,
    reciprocal_rank: f64,
}

fn report(name: &str, queries: &[Labelled], search: &dyn Fn(&str) -> Vec<Place>) -> Figures {
    let ranks: Vec<(&str, Option<usize>)> = queries
        .iter()
        .map(|labelled| {
            (labelled.kind.as_str(), search(&labelled.query).iter().position(|hit| answers(labelled, hit)))
        })
        .collect();
    let figures = |keep: &dyn Fn(&str) -> bool| {
        let kept: Vec<Option<usize>> =
            ranks.iter().filter(|(kind, _)| keep(kind)).map(|(_, rank)| *rank).collect();
        let n_found = kept.iter().filter(|rank| rank.is_some_and(|rank| rank < 5)).count();
        let sum: f64 = kept.iter().flatten().map(|rank| 1.0 / (*rank as f64 + 1.0)).sum();
        Figures { recall: n_found as f64 / kept.len() as f64, reciprocal_rank: sum / kept.len() as f64 }
    };
    let shown = |figures: &Figures| format!("{:.3}   {:.3}", figures.recall, figures.reciprocal_rank);
    let all = figures(&|_| true);
    let columns = [figures(&|kind| kind == "words"), figures(&|kind| kind == "meaning")];
    println!("{name:<24}{:>18}{:>18}{:>18}", shown(&columns[0]), shown(&columns[1]), shown(&all));
    all
}

fn answers(labelled: &Labelled, (document, lines): &Place) -> bool {
    let n_section = labelled.lines.end() + 1 - labelled.lines.start();
    let (first, last) = (*lines.start().max(labelled.lines.start()), *lines.end().min(labelled.lines.end()));
    *document == labelled.document && (last + 1).saturating_sub(first) >= SHARED_LINES_MIN.min(n_section)
}

fn queries(path: &Path) -> Vec<Labelled> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let [kind, query, document, first, last]: [&str; 5] =
                line.split('\t').collect::<Vec<_>>().try_into().unwrap();
            Labelled {
                kind: kind.to_owned(),
                query: query.to_owned(),
                document: document.to_owned(),
                lines: first.parse().unwrap()..=last.parse().unwrap(),
            }
        })
        .collect()
}

/// The search library without this crate: fixed windows of lines, its default tokenizer.
struct Plain {
    index: tantivy::Index,
}

impl Plain {
    fn over(view: &View) -> Self {
        let mut schema = Schema::builder();
        let text = schema.add_text_field("text", TEXT);
        let place = schema.add_text_field("place", STORED);
        let index = tantivy::Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads(1, 50_000_000).unwrap();
        for document in view.documents() {
            let content = view.read(document).unwrap();
            let lines: Vec<&str> = content.lines().collect();
            for (n, window) in lines.chunks(PLAIN_LINES).enumerate() {
                let first = n * PLAIN_LINES + 1;
                let at = format!("{}\t{first}\t{}", document.name, first + window.len() - 1);
                writer.add_document(doc!(text => window.join("\n"), place => at)).unwrap();
            }
        }
        writer.commit().unwrap();
        Self { index }
    }

    fn search(&self, query: &str) -> Vec<Place> {
        let schema = self.index.schema();
        let (text, place) = (schema.get_field("text").unwrap(), schema.get_field("place").unwrap());
        let searcher = self.index.reader().unwrap().searcher();
        // Any of the words: query syntax of the library is stripped.
        let bare: String = query
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { ' ' })
            .collect::<String>()
            .to_lowercase();
        let (parsed, _) = QueryParser::for_index(&self.index, vec![text]).parse_query_lenient(&bare);
        let top = searcher.search(&parsed, &TopDocs::with_limit(HITS_MAX).order_by_score()).unwrap();
        let to_place = |at| {
            let stored: TantivyDocument = searcher.doc(at).unwrap();
            let shown = stored.get_first(place).and_then(|value| value.as_str().map(str::to_owned)).unwrap();
            let [document, first, last]: [&str; 3] =
                shown.split('\t').collect::<Vec<_>>().try_into().unwrap();
            (document.to_owned(), first.parse().unwrap()..=last.parse().unwrap())
        };
        top.into_iter().map(|(_, at)| to_place(at)).collect()
    }
}
