//! Spelunk as a service: the HTTP server with its pages, and the server of the Model Context Protocol.

#[doc(hidden)]
pub mod fuzzing;
pub mod http;
pub mod mcp;
