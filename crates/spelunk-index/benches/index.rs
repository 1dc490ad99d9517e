//! The cost of an index: building it over 100 MB of mixed text, compared with plain use of the search library; updating
//! it after one of 10,000 files changed; and querying it over 1 GB, with warm and cold file caches. A row that misses
//! its target is marked and fails the bench.
//! `cargo bench -p spelunk-index --bench index --ignore-rust-version [-- MEGABYTES [MEGABYTES_BUILT]]`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a bench prints, fails by panicking, makes the files it measures and divides counts"
)]

use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use spelunk_context::{Corpus, ScanOptions, SourceInput, View};
use spelunk_index::{Index, IndexOptions, Mode, Query, StaticEmbedder, UpdateOptions, UpdateReport};
use tantivy::doc;
use tantivy::schema::{Schema, TEXT};

/// Lines per passage of the plain run: about a kilobyte, like ours.
const PLAIN_LINES: usize = 16;
const N_QUERIES: usize = 200;
/// Warm-up queries, and rounds that start with cold caches.
const N_WARMING: usize = 20;
const N_COLD: usize = 11;

/// The upper bounds: CPU time relative to the plain run, which other programs on the machine affect less than
/// wall-clock time; and memory.
const TIMES_PLAIN_MAX: f64 = 1.25;
const TIMES_PLAIN_MEANING_MAX: f64 = 2.0;
const PEAK_MB_MAX: f64 = 200.0;
const INCREMENTAL_MS_MAX: f64 = 1000.0;
const P99_MS_MAX: f64 = 500.0;

fn main() -> ExitCode {
    let mut named = std::env::args().skip(1).filter_map(|word| word.parse::<usize>().ok());
    let (asked_mb, built_mb) = (named.next().unwrap_or(1000), named.next().unwrap_or(100));
    let mut rows = Rows { n_broken: 0 };
    watch_memory();
    println!("{:<52}{:>14}{:>16}", "what", "measured", "target");
    build(built_mb, &mut rows);
    one_of_many(10_000, &mut rows);
    ask(asked_mb, &mut rows);
    if rows.n_broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Rows {
    n_broken: u32,
}

impl Rows {
    fn print(&mut self, what: &str, measured: f64, unit: &str, target: Option<f64>) {
        let (is_fine, shown) = match target {
            None => (true, String::new()),
            Some(most) => (measured <= most, format!("<= {most:.1}")),
        };
        let mark = if is_fine { "" } else { "  BROKEN" };
        println!("{what:<52}{:>14}{shown:>16}{mark}", format!("{measured:.1} {unit}"));
        self.n_broken += u32::from(!is_fine);
    }
}

fn build(megabytes: usize, rows: &mut Rows) {
    let directory = tempfile::tempdir().unwrap();
    generate(directory.path(), megabytes * 20, 50_000);
    let view = scan(directory.path());
    let size_mb = view.bytes() as f64 / 1e6;
    forget_peak();
    let cpu_begun = cpu_seconds();
    let plain_seconds = plain(&view);
    let plain_cpu = cpu_seconds() - cpu_begun;
    rows.print(&format!("plain library: build {megabytes} MB"), size_mb / plain_seconds, "MB/s", None);
    rows.print("plain library: processor time", plain_cpu, "s", None);
    print_peak("plain library", rows, None);
    for (name, embedder) in [("words", false), ("words and meaning", true)] {
        forget_peak();
        let index_directory = tempfile::tempdir().unwrap();
        let (begun, cpu_begun) = (Instant::now(), cpu_seconds());
        let mut index = open(index_directory.path(), embedder);
        update(&mut index, &view);
        let speed = size_mb / begun.elapsed().as_secs_f64();
        let times = (cpu_seconds() - cpu_begun) / plain_cpu;
        rows.print(&format!("{name}: build {megabytes} MB"), speed, "MB/s", None);
        let most = if embedder { TIMES_PLAIN_MEANING_MAX } else { TIMES_PLAIN_MAX };
        rows.print(&format!("{name}: processor time, times plain"), times, "x", Some(most));
        print_peak(name, rows, Some(PEAK_MB_MAX));
        let on_disk = tree_bytes(index_directory.path()) as f64 / 1e6;
        rows.print(&format!("{name}: on disk"), on_disk, "MB", None);
    }
}

fn one_of_many(n_files: usize, rows: &mut Rows) {
    let directory = tempfile::tempdir().unwrap();
    generate(directory.path(), n_files, 2_000);
    let index_directory = tempfile::tempdir().unwrap();
    update(&mut open(index_directory.path(), true), &scan(directory.path()));
    fs::write(directory.path().join("d00/f00042.md"), "# Changed\n\nThis page is about zanzibar now.\n")
        .unwrap();
    let begun = Instant::now();
    let view = scan(directory.path());
    let scanned = millis(begun.elapsed());
    let begun = Instant::now();
    let mut index = open(index_directory.path(), true);
    let report = update(&mut index, &view);
    assert_eq!((report.changed, report.unchanged), (1, n_files as u64 - 1));
    rows.print(
        "one of 10,000 files changed: update",
        millis(begun.elapsed()),
        "ms",
        Some(INCREMENTAL_MS_MAX),
    );
    rows.print("one of 10,000 files changed: scan before it", scanned, "ms", None);
    let found = index.search(&view, &Query::new("zanzibar")).unwrap();
    assert_eq!(found.hits[0].document, "d00/f00042.md");
}

fn ask(megabytes: usize, rows: &mut Rows) {
    let directory = tempfile::tempdir().unwrap();
    generate(directory.path(), megabytes * 5, 200_000);
    let view = scan(directory.path());
    let size_mb = view.bytes() as f64 / 1e6;
    let index_directory = tempfile::tempdir().unwrap();
    forget_peak();
    let begun = Instant::now();
    update(&mut open(index_directory.path(), true), &view);
    rows.print(&format!("{megabytes} MB: build"), size_mb / begun.elapsed().as_secs_f64(), "MB/s", None);
    print_peak(&format!("{megabytes} MB: build"), rows, Some(PEAK_MB_MAX));
    forget_peak();
    let begun = Instant::now();
    let index = open(index_directory.path(), true);
    rows.print(&format!("{megabytes} MB: open"), millis(begun.elapsed()), "ms", None);
    rows.print(&format!("{megabytes} MB: passages"), index.size().1 as f64 / 1e6, "M", None);
    let mut dice = Dice(11);
    for mode in [Mode::Words, Mode::Meaning, Mode::Hybrid] {
        for _ in 0..N_WARMING {
            index.search(&view, &query(&mut dice, mode)).unwrap();
        }
        let mut times: Vec<f64> = Vec::new();
        for _ in 0..N_QUERIES {
            let query = query(&mut dice, mode);
            let begun = Instant::now();
            index.search(&view, &query).unwrap();
            times.push(millis(begun.elapsed()));
        }
        times.sort_by(f64::total_cmp);
        rows.print(&format!("{megabytes} MB: {} p50, warm", mode.name()), times[N_QUERIES / 2], "ms", None);
        let p99 = times[N_QUERIES * 99 / 100];
        rows.print(&format!("{megabytes} MB: {} p99, warm", mode.name()), p99, "ms", Some(P99_MS_MAX));
    }
    drop(index);
    for mode in [Mode::Words, Mode::Meaning, Mode::Hybrid] {
        let mut times: Vec<f64> = Vec::new();
        for _ in 0..N_COLD {
            let is_cold = forget_files(index_directory.path());
            assert!(is_cold, "`dd` must be there to take files out of the memory of the system");
            let begun = Instant::now();
            let index = open(index_directory.path(), true);
            index.search(&view, &query(&mut dice, mode)).unwrap();
            times.push(millis(begun.elapsed()));
        }
        times.sort_by(f64::total_cmp);
        let name = mode.name();
        rows.print(&format!("{megabytes} MB: {name} p50, open and ask, cold"), times[N_COLD / 2], "ms", None);
        rows.print(
            &format!("{megabytes} MB: {name} worst, open and ask, cold"),
            times[N_COLD - 1],
            "ms",
            None,
        );
    }
    print_peak(&format!("{megabytes} MB: asking"), rows, Some(PEAK_MB_MAX));
}

/// Two to five words.
fn query(dice: &mut Dice, mode: Mode) -> Query {
    let n_words = 2 + dice.below(4);
    let words: Vec<String> = (0..n_words).map(|_| dice.word()).collect();
    Query { mode, ..Query::new(words.join(" ")) }
}

/// Evicts the files of a directory from the file cache, so that they are read from disk again.
fn forget_files(directory: &Path) -> bool {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries.map(|entry| entry.path()).all(|path| {
        if path.is_dir() {
            return forget_files(&path);
        }
        let read = format!("if={}", path.display());
        let mut dd = Command::new("dd");
        dd.args([read.as_str(), "iflag=nocache", "count=0", "status=none"]);
        dd.status().is_ok_and(|status| status.success())
    })
}

fn open(directory: &Path, with_meaning: bool) -> Index {
    let embedder = StaticEmbedder::embedded().unwrap();
    let embedder = with_meaning.then(|| Arc::new(embedder) as Arc<dyn spelunk_index::Embedder>);
    Index::open(directory, IndexOptions { embedder }).unwrap()
}

fn update(index: &mut Index, view: &View) -> UpdateReport {
    index.update(view, &UpdateOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn scan(directory: &Path) -> View {
    let sources = [SourceInput::Path(directory.to_owned())];
    View::of(Arc::new(Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {}).unwrap()))
}

/// The search library with its default tokenizer and the same memory and threads as ours.
fn plain(view: &View) -> f64 {
    let directory = tempfile::tempdir().unwrap();
    let mut schema = Schema::builder();
    let text = schema.add_text_field("text", TEXT);
    let begun = Instant::now();
    let index = tantivy::Index::create_in_dir(directory.path(), schema.build()).unwrap();
    let mut writer = index.writer_with_num_threads(2, 128 << 20).unwrap();
    for document in view.documents() {
        let content = view.read_owned(document).unwrap();
        let lines: Vec<&str> = content.split_inclusive('\n').collect();
        for window in lines.chunks(PLAIN_LINES) {
            writer.add_document(doc!(text => window.concat())).unwrap();
        }
    }
    writer.commit().unwrap();
    writer.wait_merging_threads().unwrap();
    begun.elapsed().as_secs_f64()
}

/// Prose, code, logs and tables of about this size each, in a hundred directories.
fn generate(root: &Path, n_files: usize, file_bytes: usize) {
    let mut dice = Dice(7);
    for n in 0..n_files {
        let directory = root.join(format!("d{:02}", n * 100 / n_files));
        fs::create_dir_all(&directory).unwrap();
        let (extension, unit): (&str, fn(&mut Dice) -> String) = match n % 10 {
            0..4 => ("md", prose),
            4..7 => ("rs", code),
            7..9 => ("log", log),
            _ => ("csv", table),
        };
        let mut text = if extension == "csv" { "id,name,amount,note\n".to_owned() } else { String::new() };
        while text.len() < file_bytes {
            text.push_str(&unit(&mut dice));
        }
        // The file that changes in the second part is a page.
        let extension = if n == 42 { "md" } else { extension };
        let mut file = fs::File::create(directory.join(format!("f{n:05}.{extension}"))).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
}

fn prose(dice: &mut Dice) -> String {
    let mut text =
        if dice.below(4) == 0 { format!("## {} {}\n\n", dice.word(), dice.word()) } else { String::new() };
    for n in 0..40 + dice.below(60) {
        text.push_str(&dice.word());
        text.push(if n % 12 == 11 { '\n' } else { ' ' });
    }
    text.push_str(".\n\n");
    text
}

fn code(dice: &mut Dice) -> String {
    let [a, b, c] = [dice.word(), dice.word(), dice.word()];
    format!(
        "/// {a} the {b} of a {c}.\npub fn {a}_{b}(input: &str) -> usize {{\n    let {c} = input.len();\n    if {c} > {} {{\n        return {b}_{c}({c});\n    }}\n    {c}\n}}\n\n",
        dice.below(1000)
    )
}

fn log(dice: &mut Dice) -> String {
    format!(
        "2026-11-{:02} {:02}:{:02}:{:02} INFO {}: {} {} took {} ms\n",
        1 + dice.below(28),
        dice.below(24),
        dice.below(60),
        dice.below(60),
        dice.word(),
        dice.word(),
        dice.word(),
        dice.below(5000)
    )
}

fn table(dice: &mut Dice) -> String {
    format!("{},{} {},{}.5,{}\n", dice.below(100_000), dice.word(), dice.word(), dice.below(900), dice.word())
}

/// A fixed sequence of pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// One of 50,000 words; low numbers are more frequent, like common words.
    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] = [
            "ba", "con", "de", "er", "fi", "gra", "ho", "in", "ku", "lo", "men", "no", "pre", "sta", "ti",
            "ver",
        ];
        let bound = 1 + self.below(37);
        let mut n = self.below(bound * bound * bound) + 16;
        let mut word = String::new();
        while n > 0 {
            word.push_str(SYLLABLES[usize::try_from(n % 16).unwrap()]);
            n /= 16;
        }
        word
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn tree_bytes(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .map(
            |entry| {
                if entry.path().is_dir() {
                    tree_bytes(&entry.path())
                } else {
                    entry.metadata().unwrap().len()
                }
            },
        )
        .sum()
}

/// The CPU time of this process.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |idx: usize| {
        after_name.split_whitespace().nth(idx).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0)
    };
    (ticks(11) + ticks(12)) / 100.0
}

/// The peak memory since the last reset: what this process holds, and the files mapped for it.
static HELD_KB: AtomicU64 = AtomicU64::new(0);
static MAPPED_KB: AtomicU64 = AtomicU64::new(0);

/// Looks at the memory every few milliseconds, for as long as the process runs.
fn watch_memory() {
    std::thread::spawn(|| {
        loop {
            let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
            let kb = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0 kB");
                line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0)
            };
            HELD_KB.fetch_max(kb("RssAnon:"), Ordering::Relaxed);
            MAPPED_KB.fetch_max(kb("RssFile:"), Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}

fn forget_peak() {
    HELD_KB.store(0, Ordering::Relaxed);
    MAPPED_KB.store(0, Ordering::Relaxed);
}

fn print_peak(what: &str, rows: &mut Rows, most: Option<f64>) {
    rows.print(&format!("{what}: peak memory"), HELD_KB.load(Ordering::Relaxed) as f64 / 1e3, "MB", most);
    rows.print(
        &format!("{what}: peak of mapped files"),
        MAPPED_KB.load(Ordering::Relaxed) as f64 / 1e3,
        "MB",
        None,
    );
}
