//! The cost of 10,000 contexts: listing, opening, registering, the registry on disk and the store in memory.
//! `cargo bench -p spelunk-context --bench store --ignore-rust-version`. A figure above its target is marked, not
//! hidden.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench prints, fails by panicking, and measures files"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use spelunk_context::{
    ContextId, ContextKind, ContextStore, GrepQuery, Navigator, NewContext, NewSource, StoreSettings,
};
use spelunk_types::Limits;

const N_CONTEXTS: usize = 10_000;

/// Counts allocations, so that memory is measured and not estimated.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "an allocator is unsafe by its trait; this one only counts and passes on")]
// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    println!("{:<52} {:>12}  target", "what", "measured");
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("store");
    let files = directory.path().join("files");
    std::fs::create_dir(&files).unwrap();
    let new: Vec<NewContext> = (0..N_CONTEXTS).map(|number| new_context(&files, number)).collect();
    let store = open(&root);
    let began = Instant::now();
    store.register_all(new).unwrap();
    row("register 10,000 contexts with one write", began.elapsed(), None);
    let one_more = new_context(&files, N_CONTEXTS);
    let began = Instant::now();
    store.register(one_more).unwrap();
    row("register one more (the registry is written whole)", began.elapsed(), None);
    drop(store);

    let bytes = root.join("registry.json").metadata().unwrap().len();
    size_row("registry of 10,001 contexts on disk", usize::try_from(bytes).unwrap(), 10_000_000);
    let opened = median(|| drop(open(&root)));
    row("open the store", opened, None);
    let before = ALLOCATED.load(Ordering::Relaxed);
    let store = Arc::new(open(&root));
    size_row("store in memory", ALLOCATED.load(Ordering::Relaxed).saturating_sub(before), 10_000_000);

    let navigator = Navigator::new(store.clone());
    row("list all contexts", median(|| drop(store.list())), Some(Duration::from_millis(20)));
    row(
        "list all as a navigator does, logged",
        median(|| drop(navigator.list())),
        Some(Duration::from_millis(20)),
    );
    let of_kind = median(|| drop(store.list_of_kind("project").unwrap()));
    row("list the contexts of one kind", of_kind, Some(Duration::from_millis(20)));
    row("statistics", median(|| drop(store.stats())), None);
    row(
        "an unknown id, with the nearest ones",
        median(|| drop(store.get("documnt:00042").unwrap_err())),
        None,
    );
    row("peek one", median(|| drop(navigator.peek("document:00042", 10).unwrap())), None);
    let query = GrepQuery::new("needle");
    let searched = median(|| {
        let report =
            store.search_all(&query, &AtomicBool::new(false), &mut |_| std::ops::ControlFlow::Continue(()));
        assert_eq!(report.unwrap().n_searched, N_CONTEXTS as u64 + 1);
    });
    row("search all (10,001 files of 1 KB)", searched, None);
}

fn open(root: &Path) -> ContextStore {
    let settings = StoreSettings::for_a_person(Limits::default());
    let (store, warnings) = ContextStore::open(root, Arc::new(|| 1_700_000_000_000), settings).unwrap();
    assert_eq!(warnings, []);
    store
}

fn new_context(files: &Path, number: usize) -> NewContext {
    let path = files.join(format!("a-file-with-a-name-of-usual-length-{number:05}.txt"));
    std::fs::write(&path, "some words that fill a line of text without the word\n".repeat(20)).unwrap();
    let kind = if number.is_multiple_of(2) { ContextKind::Document } else { ContextKind::Project };
    let id = ContextId::new(format!("{}:{number:05}", kind.name())).unwrap();
    let mut new = NewContext::new(id, kind, NewSource::File(path));
    new.name = format!("A document with a title, number {number}");
    new.content_type = Some("prose".to_owned());
    new.metadata.insert("file_type".to_owned(), "txt".to_owned());
    new.metadata.insert("origin".to_owned(), "imported from the shared drive in autumn".to_owned());
    new
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

fn row(what: &str, time: Duration, target: Option<Duration>) {
    let measured = format!("{:.2} ms", time.as_secs_f64() * 1000.0);
    match target {
        None => println!("{what:<52} {measured:>12}"),
        Some(target) => {
            let mark = if time <= target { "" } else { "  MISSED" };
            println!("{what:<52} {measured:>12}  {} ms{mark}", target.as_millis());
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "megabytes for people")]
fn size_row(what: &str, bytes: usize, bytes_max: usize) {
    let mark = if bytes <= bytes_max { "" } else { "  MISSED" };
    let measured = format!("{:.2} MB", bytes as f64 / 1e6);
    println!("{what:<52} {measured:>12}  {:.0} MB{mark}", bytes_max as f64 / 1e6);
}
