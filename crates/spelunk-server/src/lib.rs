//! Spelunk as a service: the HTTP server with its web pages, and the Model Context Protocol server.

#[doc(hidden)]
pub mod fuzzing;
pub mod http;
pub mod mcp;
