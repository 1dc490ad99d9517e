//! The integration tests of this crate, through the scripted model server.
