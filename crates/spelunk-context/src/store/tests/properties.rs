//! Properties over random operations and random damage.
#![expect(clippy::disallowed_methods, reason = "a damaged registry is written as bytes")]

use proptest::prelude::*;

use super::*;
use crate::store::cache::{Cached, ContentCache, Heat};
use crate::store::{AccessCounts, ContextRevision, ContextSource, wire};

/// An operation on a cache.
#[derive(Debug, Clone)]
enum Step {
    Put { key: u8, bytes: usize, heat: Heat },
    Touch { key: u8 },
    Remove { key: u8 },
    EvictTo { bytes: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let heat = prop_oneof![3 => Just(Heat::Cold), 1 => Just(Heat::Hot)];
    prop_oneof![
        4 => (0..8_u8, 0..70_usize, heat).prop_map(|(key, bytes, heat)| Step::Put { key, bytes, heat }),
        2 => (0..8_u8).prop_map(|key| Step::Touch { key }),
        1 => (0..8_u8).prop_map(|key| Step::Remove { key }),
        1 => (0..120_u64).prop_map(|bytes| Step::EvictTo { bytes }),
    ]
}

/// The same cache as a list, oldest first.
#[derive(Debug, Default)]
struct Naive(Vec<(u8, usize, Heat)>);

impl Naive {
    fn bytes(&self) -> usize {
        self.0.iter().map(|(_, bytes, _)| bytes).sum()
    }

    fn remove(&mut self, key: u8) {
        self.0.retain(|(own, _, _)| *own != key);
    }

    fn evict_to(&mut self, bytes: usize) {
        while self.bytes() > bytes {
            let cold = self.0.iter().position(|(_, _, heat)| *heat == Heat::Cold);
            self.0.remove(cold.unwrap_or(0));
        }
    }

    fn take(&mut self, step: &Step, bytes_max: usize, percent: usize) {
        match *step {
            Step::Put { key, bytes, heat } => {
                self.remove(key);
                if bytes > bytes_max {
                    return;
                }
                if self.bytes() + bytes > bytes_max {
                    self.evict_to((bytes_max * percent / 100).saturating_sub(bytes));
                }
                self.0.push((key, bytes, heat));
            }
            Step::Touch { key } => {
                if let Some(place) = self.0.iter().position(|(own, _, _)| *own == key) {
                    let touched = self.0.remove(place);
                    self.0.push(touched);
                }
            }
            Step::Remove { key } => self.remove(key),
            Step::EvictTo { bytes } => self.evict_to(usize::try_from(bytes).unwrap()),
        }
    }
}

fn take(cache: &mut ContentCache, step: &Step) {
    match *step {
        Step::Put { key, bytes, heat } => {
            let text = "x".repeat(bytes).into();
            cache.put(
                id(&key.to_string()),
                Cached { text, generation: 1, stamp: None, loaded_at_ms: 0, heat },
            );
        }
        Step::Touch { key } => drop(cache.touch(&key.to_string())),
        Step::Remove { key } => drop(Some(cache.remove(&key.to_string()))),
        Step::EvictTo { bytes } => drop(Some(cache.evict_to(bytes))),
    }
}

fn context() -> impl Strategy<Value = Context> {
    let source = prop_oneof![
        "/[ -~äß]{0,20}".prop_map(|path| ContextSource::File(path.into())),
        ("[0-9a-f]{64}", any::<u64>())
            .prop_map(|(digest, size_bytes)| ContextSource::Inline { digest, size_bytes }),
        "\\PC{0,20}".prop_map(ContextSource::Loader),
        "[a-z]+:\\PC{0,20}".prop_map(ContextSource::Uri),
    ];
    let policy = prop_oneof![
        Just(LoadPolicy::Hot),
        Just(LoadPolicy::Lazy),
        Just(LoadPolicy::Refresh),
        any::<u64>().prop_map(LoadPolicy::TtlMs),
        Just(LoadPolicy::Query),
    ];
    let kind = prop_oneof![
        proptest::sample::select(ContextKind::BUILT_IN.to_vec()),
        "x[a-z0-9_-]{0,9}".prop_map(|name| ContextKind::from_name(&name).unwrap()),
    ];
    let revision = proptest::option::of((any::<u64>(), any::<Option<u64>>(), any::<Option<String>>()));
    let metadata = proptest::collection::btree_map(any::<String>(), any::<String>(), 0..3);
    let access = (any::<[u64; 4]>(), any::<Option<u64>>());
    let id = "[a-zäß:0-9]{1,12}".prop_map(|text| id(&text));
    (id, any::<String>(), kind, source, policy, metadata, revision, access, any::<u64>()).prop_map(
        |(
            id,
            name,
            kind,
            source,
            policy,
            metadata,
            revision,
            (counts, last_accessed_ms),
            registered_at_ms,
        )| Context {
            id,
            name,
            kind,
            content_type: None,
            source,
            metadata: metadata.into(),
            policy,
            registered_at_ms,
            revision: revision.map(|(size_bytes, modified_ms, digest)| ContextRevision {
                size_bytes,
                modified_ms,
                digest,
            }),
            access: AccessCounts {
                peeks: counts[0],
                greps: counts[1],
                pages: counts[2],
                loads: counts[3],
                last_accessed_ms,
            },
        },
    )
}

/// Contexts with different ids.
fn contexts() -> impl Strategy<Value = Vec<Context>> {
    proptest::collection::vec(context(), 0..8).prop_map(|contexts| {
        let mut seen = std::collections::HashSet::new();
        contexts.into_iter().filter(|context| seen.insert(context.id.clone())).collect()
    })
}

proptest! {
    #[test]
    fn the_cache_does_what_a_list_would_and_never_exceeds_its_budget(
        steps in proptest::collection::vec(step(), 0..80),
        bytes_max in 0..150_usize,
        percent in 0..=100_usize,
    ) {
        let mut cache = ContentCache::new(bytes_max as u64, percent as u64);
        let mut naive = Naive::default();
        for step in &steps {
            take(&mut cache, step);
            naive.take(step, bytes_max, percent);
            prop_assert!(cache.bytes <= bytes_max as u64);
            prop_assert_eq!((cache.bytes, cache.n_texts()), (naive.bytes() as u64, naive.0.len()));
        }
        // The remaining texts are evicted in the same order.
        while cache.n_texts() > 0 && cache.bytes > 0 {
            let target = cache.bytes - 1;
            cache.evict_to(target);
            naive.evict_to(usize::try_from(target).unwrap());
            prop_assert_eq!((cache.bytes, cache.n_texts()), (naive.bytes() as u64, naive.0.len()));
        }
    }

    #[test]
    fn a_registry_is_read_as_it_was_written(contexts in contexts(), updated_at_ms in any::<u64>()) {
        let bytes = wire::registry_bytes(updated_at_ms, contexts.iter()).unwrap();
        let parsed = wire::parse_registry(&bytes);
        prop_assert!(parsed.is_undamaged());
        prop_assert_eq!(parsed.contexts, contexts);
    }

    #[test]
    fn a_registry_cut_anywhere_gives_the_contexts_before_the_cut(
        contexts in contexts(),
        share in 0.0..1.0_f64,
    ) {
        let bytes = wire::registry_bytes(5, contexts.iter()).unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in the file")]
        let cut = (share * bytes.len() as f64) as usize;
        let parsed = wire::parse_registry(&bytes[..cut]);
        prop_assert!(parsed.contexts.len() <= contexts.len());
        prop_assert_eq!(&parsed.contexts[..], &contexts[..parsed.contexts.len()]);
        let n_whole = bytes[..cut].split(|&byte| byte == b'\n').count().saturating_sub(2);
        prop_assert!(parsed.contexts.len() >= n_whole.min(contexts.len()));
    }

    #[test]
    fn any_bytes_open_as_a_registry(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let parsed = wire::parse_registry(&bytes);
        prop_assert!(parsed.is_undamaged() || parsed.contexts.is_empty());
    }

    #[test]
    fn damage_in_one_place_costs_at_most_the_lines_it_touches(
        contexts in contexts(),
        share in 0.0..1.0_f64,
        junk in proptest::collection::vec(any::<u8>(), 1..5),
    ) {
        let mut bytes = wire::registry_bytes(5, contexts.iter()).unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in the file")]
        let at = (share * bytes.len() as f64) as usize;
        bytes.splice(at..at, junk);
        let parsed = wire::parse_registry(&bytes);
        prop_assert!(parsed.contexts.len() + 1 >= contexts.len(), "{} of {}", parsed.contexts.len(), contexts.len());
    }
}

#[test]
fn a_store_opens_whatever_cut_its_registry() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    for name in ["a", "b"] {
        store.register(of_loader(name, "l", LoadPolicy::Lazy)).unwrap();
    }
    let whole = std::fs::read(directory.path().join("registry.json")).unwrap();
    for cut in 0..whole.len() - 1 {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("registry.json"), &whole[..cut]).unwrap();
        let (store, warnings) = open_with_warnings(place.path());
        assert!(store.list().len() <= 2);
        assert_eq!(warnings.len(), 1, "cut at {cut}");
        assert_eq!(store.register(of_text("new", "x")).unwrap().id.as_str(), "new");
    }
}
