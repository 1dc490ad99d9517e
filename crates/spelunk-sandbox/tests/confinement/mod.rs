//! Escape routes, each with its refusal: of a cell's code, of a compromised worker, and after the host dies.

#[cfg(target_os = "linux")]
mod escapes;
#[cfg(target_os = "linux")]
mod imports;
mod processes;
mod work;
mod workers;
