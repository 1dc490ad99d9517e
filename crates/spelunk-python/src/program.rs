//! The program `spelunk` as a function of the module, called by `launcher.c`, so that the package
//! contains one engine and not two. It does not return: only the exit flushes standard output.

use std::ffi::{CStr, OsString, c_char};
use std::os::unix::ffi::OsStringExt as _;
use std::process::ExitCode;

/// Runs the program with these arguments.
///
/// # Safety
/// `words` are the arguments as `main` of C has them: a null follows the last.
#[expect(unsafe_code, reason = "the launcher finds it by its name and hands over what C has")]
// SAFETY: Nothing else that is linked here has this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn spelunk_main(mut words: *const *const c_char) -> ! {
    // In a shared library, `std::env::args` is empty unless the C library is glibc.
    let mut arguments = Vec::new();
    // SAFETY: Each word ends with a zero and lives as long as the process, and a null follows the last.
    unsafe {
        while !(*words).is_null() {
            arguments.push(OsString::from_vec(CStr::from_ptr(*words).to_bytes().to_vec()));
            words = words.add(1);
        }
    }
    let ended = spelunk::main(arguments);
    let code = (0..=u8::MAX).find(|code| ExitCode::from(*code) == ended);
    #[expect(clippy::exit, reason = "this is the end of the program")]
    std::process::exit(code.map_or(1, i32::from))
}
