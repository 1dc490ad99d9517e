//! Limits: every bound that the engine enforces, each with its unit in its name and one default. A
//! limit marked `path` affects what a run does and is part of its settings digest; one marked
//! `spend` only bounds how far a run may go, and may change when it is resumed.

use serde::{Deserialize, Serialize};

/// The description of one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The name in settings: `calls_max`.
    pub name: &'static str,
    /// One line for the reference.
    pub doc: &'static str,
    /// The value if none is set.
    pub default: u64,
    /// Whether a run may be resumed with another value.
    pub may_change_on_resume: bool,
}

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $kind:ident $name:ident = $default:literal;)+) => {
        /// All limits of a run, resolved.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Limits {
            $($(#[doc = $doc])+ pub $name: u64,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl Limits {
            /// Every limit in the order of the reference.
            pub const ALL: &[Limit] = &[
                $(Limit {
                    name: stringify!($name),
                    doc: concat!($($doc,)+).trim_ascii(),
                    default: $default,
                    may_change_on_resume: limits!(@$kind),
                },)+
            ];

            /// The value of a limit by its name.
            pub fn get(&self, name: &str) -> Option<u64> {
                match name {
                    $(stringify!($name) => Some(self.$name),)+
                    _ => None,
                }
            }

            /// Sets a limit by its name; false if no limit has that name.
            #[must_use]
            pub fn set(&mut self, name: &str, value: u64) -> bool {
                match name {
                    $(stringify!($name) => self.$name = value,)+
                    _ => return false,
                }
                true
            }
        }
    };
    (@path) => { false };
    (@spend) => { true };
}

limits! {
    /// Maximum number of requests a run may send to models, across the whole tree; retries count.
    spend calls_max = 2000;
    /// Maximum number of input and output tokens a run may use, across the whole tree.
    spend tokens_max = 10_000_000;
    /// Maximum cost of a run in millionths of a dollar, across the whole tree.
    spend cost_microusd_max = 5_000_000;
    /// Maximum duration of a run.
    spend run_ms_max = 1_800_000;
    /// Maximum size of the cache of replies and findings; the oldest entries are evicted when a run ends.
    spend cache_bytes_max = 1_000_000_000;
    /// Maximum duration of a worker frame.
    spend frame_ms_max = 300_000;
    /// Maximum duration of a call, not counting retries.
    spend call_ms_max = 120_000;
    /// Maximum pause between two pieces of a streamed reply.
    spend call_idle_ms_max = 60_000;
    /// Maximum number of concurrent calls, across the whole tree; providers that allow fewer slow it down by themselves.
    spend calls_parallel_max = 32;
    /// Maximum number of retries after the first attempt.
    spend retries_max = 3;
    /// Delay before the first retry; it doubles with each further one.
    spend retry_wait_ms_min = 500;
    /// Maximum delay before a retry, even if the provider asks for a longer one.
    spend retry_wait_ms_max = 60_000;
    /// Maximum size of a reply.
    spend reply_bytes_max = 8_000_000;
    /// Maximum duration of one SQL query over rows or a database.
    spend query_ms_max = 30_000;
    /// Maximum size of an image in a call.
    spend image_bytes_max = 3_750_000;
    /// Maximum number of images in a call.
    spend call_images_max = 20;
    /// Maximum size of all images that a run sends, each counted once per call.
    spend run_image_bytes_max = 100_000_000;
    /// Maximum nesting depth of frames, from 0 to 5; the root has depth 0.
    path depth_max = 1;
    /// Maximum number of children of the root frame.
    path children_depth0_max = 10;
    /// Maximum number of children of a frame at depth 1.
    path children_depth1_max = 5;
    /// Maximum number of children of a frame at depth 2.
    path children_depth2_max = 2;
    /// Contexts up to this size are answered in a single call.
    path direct_tokens_max = 10_000;
    /// Tokens a model can read at once without overlooking details; 0 derives this from the model size in its name.
    path reader_tokens_max = 0;
    /// Maximum number of output tokens of a root call.
    path root_output_tokens_max = 4096;
    /// Maximum number of output tokens of a sub-call.
    path sub_output_tokens_max = 1000;
    /// Maximum number of output tokens of an analyst; findings need more room than prose.
    path analyst_output_tokens_max = 4096;
    /// Maximum size of the findings given to one synthesis; larger sets are first summarised in groups.
    path synthesis_tokens_max = 30_000;
    /// Contexts larger than this cause a warning.
    path corpus_tokens_warn = 10_000_000;
    /// Maximum number of files to read; 0 means no limit.
    path files_max = 0;
    /// Files with up to this many lines are analysed in batches.
    path small_lines_max = 1500;
    /// Lines per chunk of source code.
    path chunk_code_lines = 200;
    /// Rows per chunk of a narrow table.
    path chunk_narrow_rows = 2000;
    /// Rows per chunk of a wide, dense table.
    path chunk_wide_dense_rows = 500;
    /// Rows per chunk of a wide, sparse table.
    path chunk_wide_sparse_rows = 1500;
    /// Tables with at least this many columns count as wide.
    path wide_columns_min = 20;
    /// Elements per chunk of JSON.
    path chunk_json_elements = 350;
    /// Lines per chunk of JSON Lines whose records have 10 to 15 fields.
    path chunk_jsonl_lines = 750;
    /// Lines per chunk of JSON Lines whose records have fewer than 10 fields.
    path chunk_jsonl_narrow_lines = 1000;
    /// Lines per chunk of JSON Lines whose records have more than 15 fields.
    path chunk_jsonl_wide_lines = 500;
    /// Lines per chunk of a log.
    path chunk_log_lines = 2500;
    /// Lines per chunk of prose.
    path chunk_prose_lines = 250;
    /// Lines per chunk of any other text.
    path chunk_other_lines = 200;
    /// Lines shared by adjacent chunks of a log.
    path overlap_log_lines = 20;
    /// Lines shared by adjacent chunks of prose.
    path overlap_prose_lines = 25;
    /// Lines shared by adjacent chunks of any other text.
    path overlap_other_lines = 20;
    /// Maximum size of a chunk.
    path chunk_tokens_max = 50_000;
    /// Tokens per chunk in plain mode.
    path chunk_plain_tokens = 2000;
    /// Tokens shared by adjacent chunks in plain mode.
    path overlap_plain_tokens = 100;
    /// Maximum length of a context that is included in full in a root prompt.
    path inline_chars_max = 8000;
    /// Length of the preview that a root prompt shows of a longer context.
    path preview_chars_max = 500;
    /// Maximum number of turns in a REPL frame.
    path turns_max = 20;
    /// Maximum number of turns in an agent frame.
    path agent_turns_max = 50;
    /// Maximum number of scripts an agent may run.
    path scripts_max = 20;
    /// Maximum number of model calls one agent script may make; cached replies do not count.
    path script_calls_max = 25;
    /// Maximum number of files in an agent's working folder.
    path desk_files_max = 1000;
    /// Maximum total size of the files in an agent's working folder.
    path desk_bytes_max = 64_000_000;
    /// Maximum number of cells in a frame; turns end it earlier.
    path cells_max = 100;
    /// Maximum CPU time of a cell, not counting waits for models.
    path cell_ms_max = 5000;
    /// Maximum number of model calls one cell may make: enough to ask about each part of a long text in one cell.
    path cell_calls_max = 10_000;
    /// Maximum memory of a sandbox, beyond that of an empty one.
    path cell_memory_bytes_max = 512_000_000;
    /// Maximum depth of nested function calls in a cell.
    path cell_recursion_max = 500;
    /// Contexts up to this size are real strings in the sandbox; larger ones stay outside and are read on demand.
    path cell_context_bytes_max = 8_000_000;
    /// Maximum number of matches one search of a context returns.
    path cell_matches_max = 2_000_000;
    /// When a conversation exceeds this size, its older part is replaced by a summary.
    path transcript_tokens_max = 100_000;
    /// Maximum length of a cell's output that is shown to the model.
    path stdout_chars_max = 4000;
    /// Maximum length of a cell's errors that is shown to the model.
    path stderr_chars_max = 1000;
    /// Maximum length of a prompt sent by code; longer ones are rejected.
    path query_chars_max = 500_000;
    /// Maximum number of matches shown by one grep.
    path grep_matches_max = 20;
    /// Maximum number of context lines around a match.
    path grep_context_lines_max = 10;
    /// Maximum length of a pattern.
    path pattern_bytes_max = 500;
    /// Lines shown by a peek that does not specify how many.
    path peek_lines = 10;
    /// Tokens shown by a peek that does not specify how many.
    path peek_tokens = 100;
    /// Maximum number of lines in a peek.
    path peek_lines_max = 50;
    /// Default number of lines per page.
    path page_lines = 50;
    /// Maximum number of lines per page.
    path page_lines_max = 200;
    /// Maximum memory for loaded contexts.
    path content_cache_bytes_max = 50_000_000;
    /// Maximum size of a context that can be loaded in full.
    path load_bytes_max = 10_000_000;
    /// Percentage of `content_cache_bytes_max` at which eviction stops.
    path evict_to_percent = 80;
    /// Maximum number of entries in the access log before it is trimmed.
    path access_log_entries_max = 1000;
    /// Entries kept when the access log is trimmed.
    path access_log_entries_kept = 500;
    /// Maximum number of variables in a session.
    path vars_max = 100;
    /// Maximum size of a variable.
    path var_bytes_max = 1_000_000;
    /// Maximum total size of all variables.
    path vars_bytes_max = 10_000_000;
    /// Maximum number of contexts or queries in one call of an MCP tool.
    path batch_queries_max = 100;
    /// Maximum number of findings from one worker.
    path findings_max = 200;
    /// Maximum length of a piece of evidence in a finding.
    path evidence_chars_max = 100;
    /// Maximum number of earlier sessions shown to a new one.
    path prior_sessions_max = 3;
}
