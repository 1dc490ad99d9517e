//! Many threads on one store, and on one registry.

use std::sync::Barrier;
use std::thread;

use super::*;
use crate::testing::tree;

const N_THREADS: usize = 6;
const N_ROUNDS: usize = 20;

#[test]
fn threads_that_register_look_and_evict_leave_the_counts_exact() {
    let text = "a line\n".repeat(20);
    let names: Vec<String> = (0..N_THREADS).map(|number| format!("f{number}")).collect();
    let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    let files = tree(&pairs);
    // Room for three of the six texts.
    let store = ContextStore::in_memory(HandClock::at(0).clock(), small(500));
    for name in &names {
        store.register(of_file(name, &files.path().join(name))).unwrap();
    }
    let start = Barrier::new(N_THREADS);
    thread::scope(|scope| {
        for number in 0..N_THREADS {
            let (store, names, start) = (&store, &names, &start);
            scope.spawn(move || {
                start.wait();
                for round in 0..N_ROUNDS {
                    let name = &names[(number + round) % N_THREADS];
                    store.peek(name, 5, 100).unwrap();
                    assert_eq!(store.load(name).unwrap().len(), 140);
                    assert!(store.memory().cache_bytes <= 500);
                    store.register(of_text(&format!("{number}-{round}"), "x")).unwrap();
                    if round % 5 == 0 {
                        store.evict_to(140);
                        store.remove(&format!("{number}-{round}")).unwrap();
                    }
                }
            });
        }
    });
    let n_left = N_THREADS + N_THREADS * N_ROUNDS * 4 / 5;
    assert_eq!(store.list().len(), n_left);
    let looks = |count: fn(&Context) -> u64| store.list().iter().map(|context| count(context)).sum::<u64>();
    let n_looks = (N_THREADS * N_ROUNDS) as u64;
    assert_eq!(
        (looks(|context| context.access.peeks), looks(|context| context.access.loads)),
        (n_looks, n_looks)
    );
    let memory = store.memory();
    assert_eq!(memory.cache_bytes, memory.n_loaded * 140);
    assert_eq!(store.evict_to(0) as u64, memory.n_loaded);
    assert_eq!(store.memory().cache_bytes, 0);
}

#[test]
fn stores_that_write_one_registry_at_once_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let start = Barrier::new(3);
    thread::scope(|scope| {
        for number in 0..3 {
            let (root, start) = (directory.path(), &start);
            scope.spawn(move || {
                let store = open(root);
                start.wait();
                for round in 0..10 {
                    store.register(of_loader(&format!("{number}-{round}"), "l", LoadPolicy::Lazy)).unwrap();
                }
            });
        }
    });
    let mut found: Vec<String> =
        open(directory.path()).list().iter().map(|context| context.id.to_string()).collect();
    found.sort();
    let expected: Vec<String> =
        (0..3).flat_map(|number| (0..10).map(move |round| format!("{number}-{round}"))).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_text_that_was_replaced_while_it_was_loaded_is_not_kept() {
    let store = Arc::new(in_memory());
    let (asked, answer) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (inner_asked, inner_answer) = (asked.clone(), answer.clone());
    store.add_loader(
        "slow",
        Arc::new(move || {
            inner_asked.wait();
            inner_answer.wait();
            Ok("old".to_owned())
        }),
    );
    store.register(of_loader("a", "slow", LoadPolicy::Lazy)).unwrap();
    let loading = thread::spawn({
        let store = store.clone();
        move || store.load("a").unwrap()
    });
    asked.wait();
    store.replace(of_text("a", "new")).unwrap();
    answer.wait();
    assert_eq!(&*loading.join().unwrap(), "old");
    assert_eq!(store.memory().cache_bytes, 0);
    assert_eq!(&*store.load("a").unwrap(), "new");
}
