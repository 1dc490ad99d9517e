//! Pseudo-random numbers that are the same on every machine: a small generator seeded by the name
//! of what it generates. Integers only, so that no rounding differs between processors.

/// A stream of pseudo-random numbers (`SplitMix64`).
#[derive(Debug, Clone)]
pub(crate) struct Rng {
    state: u64,
}

impl Rng {
    /// The stream seeded by these words.
    pub(crate) fn of(parts: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let first = hasher.finalize().as_bytes().first_chunk::<8>().copied().unwrap_or_default();
        Self { state: u64::from_le_bytes(first) }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        let wide = u128::from(self.next()) * u128::from(end);
        u64::try_from(wide >> 64).unwrap_or_default()
    }

    pub(crate) fn between(&mut self, start: u64, end: u64) -> u64 {
        start + self.below(end.saturating_sub(start))
    }

    pub(crate) fn idx(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or_default()
    }

    /// A random item of a non-empty list.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let idx = self.idx(of.len());
        of.get(idx).expect("the lists of this crate are not empty")
    }

    /// True with a probability of `permille` in a thousand.
    pub(crate) fn happens(&mut self, permille: u64) -> bool {
        self.below(1000) < permille
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            list.swap(end, self.idx(end + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_the_same_on_every_machine() {
        let mut rng = Rng::of(&["needle", "7"]);
        let drawn: Vec<u64> = (0..6).map(|_| rng.below(1000)).collect();
        expect_test::expect!["[675, 675, 194, 245, 577, 719]"].assert_eq(&format!("{drawn:?}"));
        let mut list = [1, 2, 3, 4, 5, 6];
        rng.shuffle(&mut list);
        list.sort_unstable();
        assert_eq!((list, rng.below(0), rng.between(5, 5)), ([1, 2, 3, 4, 5, 6], 0, 5));
    }

    #[test]
    fn words_that_are_cut_elsewhere_give_another_stream() {
        assert_ne!(Rng::of(&["ab", "c"]).next(), Rng::of(&["a", "bc"]).next());
    }
}
