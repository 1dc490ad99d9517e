//! Near-duplicates: of hits with nearly the same text, one is shown and the others are counted. Compares the share of
//! common terms, so that a changed date or name in a copied page is not a new hit.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use crate::terms::terms;
use crate::words::Form;

/// Texts with fewer distinct terms are too short to compare this way.
const TERMS_MIN: usize = 8;

/// The share of common terms, in percent, from which two texts count as the same.
const COMMON_PERCENT_MIN: usize = 90;

#[derive(Debug)]
pub(crate) struct Gist(HashSet<u64>);

impl Gist {
    pub(crate) fn of(text: &str) -> Self {
        let (mut gist, hashes) = (HashSet::new(), BuildHasherDefault::<DefaultHasher>::default());
        terms(text, &mut |term| {
            if term.form == Form::Plain {
                gist.insert(hashes.hash_one(term.text));
            }
        });
        Self(gist)
    }

    pub(crate) fn is_near(&self, other: &Self) -> bool {
        let (small, large) = if self.0.len() <= other.0.len() { (self, other) } else { (other, self) };
        if small.0.len() < TERMS_MIN || small.0.len() * 100 < large.0.len() * COMMON_PERCENT_MIN {
            return false;
        }
        let n_common = small.0.iter().filter(|term| large.0.contains(term)).count();
        let n_all = small.0.len() + large.0.len() - n_common;
        n_common * 100 >= n_all * COMMON_PERCENT_MIN
    }
}

#[cfg(test)]
mod tests;
