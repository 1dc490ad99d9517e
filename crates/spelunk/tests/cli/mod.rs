//! What users see: every command, with both streams and the exit code.

mod ask;
mod cache;
mod colour;
mod config;
mod demo;
mod doctor;
mod events;
mod gc;
mod help;
mod list;
mod models;
mod passages;
mod show;
mod tail;
