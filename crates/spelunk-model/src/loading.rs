//! Load progress of embedded models, for progress displays; nothing else depends on it.

use std::sync::{Mutex, PoisonError};

/// A model that is being loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loading {
    /// The name of the model.
    pub name: String,
    /// How much of its file has been loaded.
    pub percent: u8,
}

static LOADING: Mutex<Vec<Loading>> = Mutex::new(Vec::new());

/// The models this process is loading, oldest first.
pub fn models_loading() -> Vec<Loading> {
    LOADING.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

#[cfg(any(feature = "embedded", test))]
pub(crate) struct LoadingMark {
    name: String,
}

#[cfg(any(feature = "embedded", test))]
impl LoadingMark {
    pub(crate) fn begin(name: &str) -> Self {
        let loading = Loading { name: name.to_owned(), percent: 0 };
        LOADING.lock().unwrap_or_else(PoisonError::into_inner).push(loading);
        Self { name: name.to_owned() }
    }

    /// Sets the progress, clamped to 0 to 1.
    pub(crate) fn set(&self, share: f32) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 100")]
        let percent = (share.clamp(0.0, 1.0) * 100.0) as u8;
        let mut all = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loading) = all.iter_mut().find(|loading| loading.name == self.name) {
            loading.percent = percent;
        }
    }
}

#[cfg(any(feature = "embedded", test))]
impl Drop for LoadingMark {
    fn drop(&mut self) {
        let mut all = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(idx) = all.iter().position(|loading| loading.name == self.name) {
            all.remove(idx);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_loading_until_its_mark_is_dropped() {
        let own = || models_loading().into_iter().find(|loading| loading.name == "loading-test");
        assert_eq!(own(), None);
        let mark = LoadingMark::begin("loading-test");
        assert_eq!(own().unwrap().percent, 0);
        for (share, percent) in [(0.426, 42), (7.0, 100), (f32::NAN, 0), (-1.0, 0)] {
            mark.set(share);
            assert_eq!(own().unwrap().percent, percent);
        }
        drop(mark);
        assert_eq!(own(), None);
    }
}
