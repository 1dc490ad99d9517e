//! User-visible behaviour: every command, with both streams and the exit code.

mod agent;
mod archives;
mod ask;
mod bombs;
mod cache;
mod colour;
mod config;
mod context;
mod context_documents;
mod context_looks;
mod cost;
mod custom_types;
mod databases;
mod demo;
mod doctor;
mod eval;
mod events;
mod gc;
mod greet;
mod help;
mod hosted;
mod images;
mod install;
mod lifecycle;
mod list;
mod map;
mod messages;
mod model;
mod models;
mod named_models;
mod outline;
mod page;
mod passages;
mod plan;
mod plan_files;
mod plan_runs;
#[cfg(unix)]
mod postgres;
#[cfg(unix)]
mod postgres_faults;
mod pull;
mod readme;
mod repl;
mod report;
mod result;
#[cfg(unix)]
mod s3;
mod scan;
pub(crate) mod search;
mod search_faces;
mod show;
mod tail;
mod terminal;
mod unusable_models;
