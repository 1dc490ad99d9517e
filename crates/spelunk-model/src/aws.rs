//! AWS: who we are to it (credentials, wherever they come from) and the signature that proves it. Nothing here reads the
//! environment or a file: the binary does and hands over what it found.

mod chain;
mod fetch;
mod keys;
mod profile;
mod sign;

pub use chain::{AwsSettings, AwsSource};
pub use keys::{AwsAuth, AwsKeys, Now};

pub(crate) use keys::Signer;
