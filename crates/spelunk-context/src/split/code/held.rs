//! What the parser holds, counted. It counts its steps and not its memory: text that it can read in very many ways takes
//! ten thousand times its size. Its allocations are the C library's as before, so that trees of others are none the wiser.

#[cfg(target_os = "linux")]
pub(super) use linux::Held;

/// Elsewhere nothing is counted, and the steps are the only limit.
#[cfg(not(target_os = "linux"))]
pub(super) struct Held;

#[cfg(not(target_os = "linux"))]
impl Held {
    pub(super) fn begin() -> Self {
        Self
    }

    pub(super) fn bytes(&self) -> u64 {
        0
    }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the parser is C, and so are the functions it allocates with")]
mod linux {
    use std::cell::Cell;
    use std::ffi::c_void;
    use std::sync::Once;

    use tree_sitter::Allocator;

    thread_local! {
        /// Taken on this thread and not given back.
        static BYTES: Cell<i64> = const { Cell::new(0) };
    }

    /// What parsing on this thread has taken since a moment.
    pub(crate) struct Held {
        before: i64,
    }

    impl Held {
        pub(crate) fn begin() -> Self {
            static INSTALLED: Once = Once::new();
            let allocator = Allocator { malloc, calloc, realloc, free };
            // SAFETY: The four are those of the C library, with a count beside them.
            INSTALLED.call_once(|| unsafe { tree_sitter::set_allocator(Some(allocator)) });
            Self { before: BYTES.get() }
        }

        pub(crate) fn bytes(&self) -> u64 {
            u64::try_from(BYTES.get().saturating_sub(self.before)).unwrap_or(0)
        }
    }

    /// Counts a block. The parser takes for granted that there is one.
    fn count(block: *mut c_void) -> *mut c_void {
        if block.is_null() {
            std::process::abort();
        }
        BYTES.set(BYTES.get().saturating_add(size(block)));
        block
    }

    fn size(block: *mut c_void) -> i64 {
        // SAFETY: The block is null or one of the C library's.
        i64::try_from(unsafe { libc::malloc_usable_size(block) }).unwrap_or(i64::MAX)
    }

    unsafe extern "C" fn malloc(bytes: usize) -> *mut c_void {
        // SAFETY: Any size will do, but of none there may be no block.
        count(unsafe { libc::malloc(bytes.max(1)) })
    }

    unsafe extern "C" fn calloc(n: usize, bytes: usize) -> *mut c_void {
        // SAFETY: As above.
        count(unsafe { libc::calloc(n.max(1), bytes.max(1)) })
    }

    unsafe extern "C" fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
        BYTES.set(BYTES.get().saturating_sub(size(block)));
        // SAFETY: The parser hands over a block of ours, or none.
        count(unsafe { libc::realloc(block, bytes.max(1)) })
    }

    unsafe extern "C" fn free(block: *mut c_void) {
        BYTES.set(BYTES.get().saturating_sub(size(block)));
        // SAFETY: The parser hands over a block of ours, or none.
        unsafe { libc::free(block) }
    }
}
