//! Ways out, each with its refusal: of the code of a cell, of a worker in hostile hands, and of a host that dies.

#[cfg(target_os = "linux")]
mod escapes;
#[cfg(target_os = "linux")]
mod imports;
mod processes;
mod work;
mod workers;
