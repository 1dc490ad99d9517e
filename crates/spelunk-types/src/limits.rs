//! Limits: every bound the engine enforces, each with its unit in its name and one default. A limit marked `path`
//! shapes what a run does and is part of its settings digest; one marked `spend` only bounds how far it may go, and may
//! change when a run is resumed.

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

            /// Sets a limit by its name; false if there is none of that name.
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
    /// Requests a run may send to models, over the whole tree; one that is tried again counts again.
    spend calls_max = 500;
    /// Tokens a run may use in both directions, over the whole tree.
    spend tokens_max = 10_000_000;
    /// What a run may cost, in millionths of a dollar, over the whole tree.
    spend cost_microusd_max = 5_000_000;
    /// How long a run may take.
    spend run_ms_max = 1_800_000;
    /// Bytes of replies and findings that are kept to save calls; the oldest go when a run ends.
    spend cache_bytes_max = 1_000_000_000;
    /// How long one worker frame may take.
    spend frame_ms_max = 300_000;
    /// How long one call may take, retries not counted.
    spend call_ms_max = 120_000;
    /// How long a reply may pause between two pieces.
    spend call_idle_ms_max = 60_000;
    /// Calls in flight at once, over the whole tree.
    spend calls_parallel_max = 32;
    /// Attempts after the first one.
    spend retries_max = 3;
    /// The first wait before another attempt; it doubles from there.
    spend retry_wait_ms_min = 500;
    /// The longest wait before another attempt, whatever the provider asks for.
    spend retry_wait_ms_max = 60_000;
    /// The longest reply accepted.
    spend reply_bytes_max = 8_000_000;
    /// How deep frames may nest; the root is at 0.
    path depth_max = 1;
    /// Children of the root frame.
    path children_depth0_max = 10;
    /// Children of a frame at depth 1.
    path children_depth1_max = 5;
    /// Children of a frame at depth 2.
    path children_depth2_max = 2;
    /// Below this, a context is answered in one call.
    path direct_tokens_max = 10_000;
    /// Tokens a model reads at once without overlooking things; 0 goes by the size that its name tells.
    path reader_tokens_max = 0;
    /// Tokens a root call may write.
    path root_output_tokens_max = 4096;
    /// Tokens a sub-call may write.
    path sub_output_tokens_max = 1000;
    /// Tokens an analyst may write.
    path analyst_output_tokens_max = 4096;
    /// Findings given to a synthesis at once; more are summed up in groups first.
    path synthesis_tokens_max = 30_000;
    /// Context larger than this gets a warning.
    path corpus_tokens_warn = 10_000_000;
    /// Files that are read at most; 0 reads all.
    path files_max = 0;
    /// Files up to this long are analysed in batches.
    path small_lines_max = 1500;
    /// Lines of a chunk of code.
    path chunk_code_lines = 200;
    /// Rows of a chunk of a narrow table.
    path chunk_narrow_rows = 2000;
    /// Rows of a chunk of a wide and dense table.
    path chunk_wide_dense_rows = 500;
    /// Rows of a chunk of a wide and sparse table.
    path chunk_wide_sparse_rows = 1500;
    /// Columns from which a table is wide.
    path wide_columns_min = 20;
    /// Elements of a chunk of JSON.
    path chunk_json_elements = 350;
    /// Lines of a chunk of JSON lines whose records have 10 to 15 fields.
    path chunk_jsonl_lines = 750;
    /// Lines of a chunk of JSON lines whose records have fewer than 10 fields.
    path chunk_jsonl_narrow_lines = 1000;
    /// Lines of a chunk of JSON lines whose records have more than 15 fields.
    path chunk_jsonl_wide_lines = 500;
    /// Lines of a chunk of a log.
    path chunk_log_lines = 2500;
    /// Lines of a chunk of prose.
    path chunk_prose_lines = 250;
    /// Lines of a chunk of anything else.
    path chunk_other_lines = 200;
    /// Lines that two chunks of a log share.
    path overlap_log_lines = 20;
    /// Lines that two chunks of prose share.
    path overlap_prose_lines = 25;
    /// Lines that two chunks of anything else share.
    path overlap_other_lines = 20;
    /// The longest chunk.
    path chunk_tokens_max = 50_000;
    /// Tokens of a chunk in the plain mode.
    path chunk_plain_tokens = 2000;
    /// Tokens that two chunks share in the plain mode.
    path overlap_plain_tokens = 100;
    /// Code that a plan parses to find its definitions; with more of it, all is cut by how lines begin.
    path parsed_bytes_max = 16_777_216;
    /// The longest context that stands whole in a root prompt.
    path inline_chars_max = 8000;
    /// What a root prompt shows of a longer one.
    path preview_chars_max = 500;
    /// Turns of a REPL frame.
    path turns_max = 20;
    /// Turns of an agent frame.
    path agent_turns_max = 50;
    /// Scripts that an agent may run.
    path scripts_max = 20;
    /// Calls of a model that one script of an agent may make; what the cache answers is not counted.
    path script_calls_max = 25;
    /// Files of an agent's desk.
    path desk_files_max = 1000;
    /// All files of an agent's desk together.
    path desk_bytes_max = 64_000_000;
    /// Cells of a frame.
    path cells_max = 100;
    /// CPU time of a cell, without waiting for models.
    path cell_ms_max = 5000;
    /// Calls of a model that one cell may make.
    path cell_calls_max = 200;
    /// Memory of a sandbox above that of an empty one.
    path cell_memory_bytes_max = 512_000_000;
    /// Calls of functions within functions, in a cell.
    path cell_recursion_max = 500;
    /// A context up to this size is a real string in the sandbox; a larger one stays outside and is read where it is
    /// touched.
    path cell_context_bytes_max = 8_000_000;
    /// Matches that one search over a context gives back.
    path cell_matches_max = 2_000_000;
    /// From here on, the older part of a conversation is replaced by a summary.
    path transcript_tokens_max = 100_000;
    /// What a model is shown of a cell's output.
    path stdout_chars_max = 4000;
    /// What a model is shown of a cell's errors.
    path stderr_chars_max = 1000;
    /// The longest prompt code may send; longer ones are refused.
    path query_chars_max = 500_000;
    /// Matches one grep shows.
    path grep_matches_max = 20;
    /// Lines around a match.
    path grep_context_lines_max = 10;
    /// The longest pattern.
    path pattern_bytes_max = 500;
    /// Lines of a peek that names none.
    path peek_lines = 10;
    /// Tokens of a peek that names none.
    path peek_tokens = 100;
    /// Lines of the longest peek.
    path peek_lines_max = 50;
    /// Lines of a page.
    path page_lines = 50;
    /// Lines of the longest page.
    path page_lines_max = 200;
    /// Memory for loaded contexts.
    path content_cache_bytes_max = 50_000_000;
    /// The largest context loaded whole.
    path load_bytes_max = 10_000_000;
    /// Where eviction from that memory stops, in percent.
    path evict_to_percent = 80;
    /// Entries of the access log before it is shortened.
    path access_log_entries_max = 1000;
    /// Entries kept when it is shortened.
    path access_log_entries_kept = 500;
    /// Variables of a session.
    path vars_max = 100;
    /// The largest variable.
    path var_bytes_max = 1_000_000;
    /// All variables together.
    path vars_bytes_max = 10_000_000;
    /// Queries in one batch.
    path batch_queries_max = 100;
    /// Findings of one worker.
    path findings_max = 200;
    /// The longest piece of evidence in a finding.
    path evidence_chars_max = 100;
    /// Earlier sessions that are shown to a new one.
    path prior_sessions_max = 3;
}
