//! How much an archive may unpack to. Limits apply to actual bytes: a header may claim anything.

#[derive(Debug, Clone, Copy)]
pub(crate) struct UnpackLimits {
    /// All its entries together.
    pub(crate) bytes_max: u64,
    pub(crate) entries_max: u64,
    /// Unpacked bytes per packed byte, once more than `ratio_bytes_min` were unpacked.
    pub(crate) ratio_max: u64,
    pub(crate) ratio_bytes_min: u64,
}

impl Default for UnpackLimits {
    fn default() -> Self {
        Self {
            bytes_max: 1024 * 1024 * 1024,
            entries_max: 100_000,
            ratio_max: 200,
            ratio_bytes_min: 1024 * 1024,
        }
    }
}

impl UnpackLimits {
    pub(crate) fn is_bomb(&self, unpacked: u64, packed: u64) -> bool {
        unpacked > self.ratio_bytes_min && unpacked / self.ratio_max > packed
    }
}
