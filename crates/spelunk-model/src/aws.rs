//! AWS: credentials from any source, and request signing. Nothing here reads the environment or a file: the binary
//! does, and passes in what it found.

mod chain;
mod fetch;
mod keys;
mod profile;
mod sign;

pub use chain::{AwsSettings, AwsSource};
pub use keys::{AwsAuth, AwsKeys, AwsSigner, Now};
