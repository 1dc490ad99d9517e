//! What users see: every command, with both streams and the exit code.

mod archives;
mod ask;
mod cache;
mod colour;
mod config;
mod context;
mod context_documents;
mod context_looks;
mod custom_types;
mod demo;
mod doctor;
mod events;
mod gc;
mod help;
mod list;
mod map;
mod models;
mod outline;
mod passages;
mod plan;
mod plan_files;
mod repl;
mod scan;
mod show;
mod tail;
