//! Error codes: a stable name for everything that can go wrong, who has to act, and the trait of every error that can
//! reach a user. `docs/errors.md` has one example of each.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who has to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The person who typed the command.
    User,
    /// Whoever wrote the settings.
    Settings,
    /// The model's provider, or the network to it.
    Upstream,
    /// Nobody: a limit worked as intended.
    Limit,
    /// The disk, or something that changed files underneath us.
    Damage,
    /// Us.
    Bug,
}

/// Implemented by every error that can reach a user.
pub trait Explain: std::error::Error {
    /// The stable name.
    fn code(&self) -> ErrorCode;

    /// Who has to act.
    fn blame(&self) -> Blame {
        self.code().blame()
    }

    /// One next step, imperative, no period.
    fn hint(&self) -> Option<String> {
        None
    }
}

macro_rules! error_codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $blame:ident $(, $hint:literal)?;)+) => {
        /// The stable name of a failure, kebab-case.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+
            /// A code that only a newer version of Spelunk knows.
            #[serde(other, rename = "unrecognised")]
            Unrecognised,
        }

        impl ErrorCode {
            /// Every code with a name of its own.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name in JSON and in `docs/errors.md`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Unrecognised => "unrecognised",
                }
            }

            /// What it means, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc,)+).trim_ascii(),)+
                    Self::Unrecognised => "An error code of a newer version of Spelunk.",
                }
            }

            /// Who has to act.
            pub fn blame(self) -> Blame {
                match self {
                    $(Self::$variant => Blame::$blame,)+
                    Self::Unrecognised => Blame::Bug,
                }
            }

            /// The next step, imperative and without a period, if it is always the same. A failure
            /// read from a journal has the hint it had when it happened.
            pub fn hint(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => error_codes!(@hint $($hint)?),)+
                    Self::Unrecognised => None,
                }
            }
        }
    };
    (@hint) => { None };
    (@hint $hint:literal) => { Some($hint) };
}

error_codes! {
    /// The command line is invalid.
    UsageWrong = "usage-wrong", User;
    /// There is no setting with this name.
    SettingUnknown = "setting-unknown", Settings;
    /// A setting has an invalid value.
    SettingInvalid = "setting-invalid", Settings;
    /// A path does not exist.
    SourceNotFound = "source-not-found", User;
    /// A file or directory could not be read.
    SourceUnreadable = "source-unreadable", User;
    /// There is no text to answer from.
    SourceEmpty = "source-empty", User;
    /// No context has this id.
    ContextNotFound = "context-not-found", User;
    /// A context with this id already exists.
    ContextExists = "context-exists", User;
    /// The fleet could not be reached, or rejected a request.
    FleetUnavailable = "fleet-unavailable", Upstream;
    /// The fleet cannot be used with these settings.
    FleetUnusable = "fleet-unusable", Settings;
    /// No model is configured and none was found.
    ModelNotConfigured = "model-not-configured", Settings, "run `spelunk doctor`, or list the configured models with `spelunk model list`";
    /// A cost limit is set, but the price of a model is unknown.
    PriceUnknown = "price-unknown", Settings, "set its prices with `model.price_input_usd_per_mtok` and `model.price_output_usd_per_mtok`, or the same fields of `models.NAME`, or use `--max-tokens` instead of `--max-cost`";
    /// The provider rejected the API key.
    ModelUnauthorized = "model-unauthorized", Settings, "check the key in the environment, then run `spelunk doctor`";
    /// The provider does not know the model or the URL.
    ModelNotFound = "model-not-found", Settings, "choose another model with `--model`, or check `--base-url`";
    /// The provider is limiting the rate of requests.
    ModelRateLimited = "model-rate-limited", Upstream, "wait a moment, or lower `limits.calls_parallel_max`";
    /// The provider is overloaded.
    ModelOverloaded = "model-overloaded", Upstream, "try again in a few minutes, choose another model with `--model`, or set a `fallback`";
    /// The provider had an internal error.
    ModelServerError = "model-server-error", Upstream, "try again in a few minutes, choose another model with `--model`, or set a `fallback`";
    /// The provider rejected the request.
    ModelRequestRefused = "model-request-refused", Upstream, "check that the model supports such requests (`spelunk model test`), or choose another with `--model`";
    /// The prompt exceeds the model's context window.
    ModelPromptTooLong = "model-prompt-too-long", Upstream, "choose a model with a larger context window, or send less at once: lower `limits.direct_tokens_max`, `limits.chunk_tokens_max` or `limits.transcript_tokens_max`";
    /// The provider could not be reached.
    ModelUnreachable = "model-unreachable", Upstream, "check that the server is running and that `--base-url` is correct, then run `spelunk doctor`";
    /// The provider did not reply in time.
    ModelTimedOut = "model-timed-out", Upstream, "raise `limits.call_ms_max` or `limits.call_idle_ms_max`";
    /// The reply was cut off.
    ModelStreamCut = "model-stream-cut", Upstream, "try again; if this persists, check for a proxy that cuts off long replies";
    /// The reply is not in the provider's format.
    ModelReplyMalformed = "model-reply-malformed", Upstream, "check that `--base-url` points to the API and not to a web page, or what the program in `model.command` prints";
    /// The reply contains neither text nor a tool call.
    ModelReplyEmpty = "model-reply-empty", Upstream, "for a reasoning model, raise `limits.root_output_tokens_max` (sub-calls and analysts have their own limits), or choose another with `--model`";
    /// The reply exceeds the size limit.
    ModelReplyTooLong = "model-reply-too-long", Upstream, "raise `limits.reply_bytes_max`";
    /// The run has reached its call limit.
    CallsExhausted = "calls-exhausted", Limit;
    /// The run has reached its token limit.
    TokensExhausted = "tokens-exhausted", Limit;
    /// The run has reached its cost limit.
    CostExhausted = "cost-exhausted", Limit;
    /// The run has reached its time limit.
    TimeExhausted = "time-exhausted", Limit, "raise `limits.run_ms_max` or `limits.frame_ms_max`";
    /// A frame at the maximum depth cannot open a child.
    DepthExceeded = "depth-exceeded", Limit, "raise `limits.depth_max`";
    /// A frame has reached its maximum number of children.
    ChildrenExceeded = "children-exceeded", Limit, "raise the limit for that depth: `limits.children_depth0_max`, `limits.children_depth1_max` or `limits.children_depth2_max`";
    /// A frame has reached its turn limit.
    TurnsExhausted = "turns-exhausted", Limit, "raise `limits.turns_max` (for an agent, `limits.agent_turns_max`), or ask a narrower question";
    /// A frame has reached its limit of code cells.
    CellsExhausted = "cells-exhausted", Limit, "raise `limits.cells_max`";
    /// What came with the question does not fit in an agent's working folder.
    DeskFull = "desk-full", Limit, "attach less, or raise `limits.desk_bytes_max` or `limits.desk_files_max`";
    /// A model repeated itself, took no action, or wrote code or calls instead of an answer.
    ModelStuck = "model-stuck", Upstream, "rephrase the question, or choose a stronger model";
    /// The sandbox crashed or could not be started.
    SandboxFailed = "sandbox-failed", Damage, "run `spelunk doctor`";
    /// This machine cannot confine the requested sandbox.
    SandboxUnconfined = "sandbox-unconfined", Settings, "remove `--sandbox` and `ask.sandbox`: the default sandbox works on every machine";
    /// A JSON Schema is invalid or uses unsupported features.
    SchemaInvalid = "schema-invalid", User;
    /// The answer does not match the schema, even after a retry.
    AnswerInvalid = "answer-invalid", Upstream, "loosen the schema, or choose a stronger model";
    /// A model's report about part of the text is unusable, even after a retry.
    ReportInvalid = "report-invalid", Upstream, "ask again, or choose a stronger model for `roles.sub`";
    /// The user stopped the run.
    Cancelled = "cancelled", User;
    /// No run has this id.
    RunNotFound = "run-not-found", User;
    /// More than one run matches this prefix.
    RunAmbiguous = "run-ambiguous", User;
    /// Another process is working on the run.
    RunLocked = "run-locked", User;
    /// The run already has its answer.
    RunFinished = "run-finished", User;
    /// A run cannot continue with different settings.
    SettingsChanged = "settings-changed", User;
    /// A run cannot continue after its text has changed.
    CorpusChanged = "corpus-changed", User;
    /// A journal is damaged in the middle.
    JournalDamaged = "journal-damaged", Damage;
    /// A journal was written by a newer version of Spelunk.
    JournalNewer = "journal-newer", User;
    /// The journal could not be written.
    JournalUnwritable = "journal-unwritable", Damage;
    /// A blob is missing or does not match its name.
    BlobDamaged = "blob-damaged", Damage;
    /// The archive of a run is incomplete or damaged.
    ArchiveDamaged = "archive-damaged", Damage;
    /// The workspace could not be opened.
    WorkspaceUnusable = "workspace-unusable", Damage;
    /// The workspace was not created here by this user.
    WorkspaceUntrusted = "workspace-untrusted", Settings;
    /// The context registry was written by a newer version of Spelunk.
    RegistryNewer = "registry-newer", User;
    /// An index is damaged.
    IndexDamaged = "index-damaged", Damage, "search again: the index is rebuilt from the documents";
    /// Another process is updating the index.
    IndexLocked = "index-locked", User, "wait until it is done, then search again";
    /// An index has no vectors, or vectors from another embedding model.
    IndexOtherModel = "index-other-model", Settings, "search again to rebuild it, or restore the previous `roles.embedding`";
    /// The file of an embedding model does not exist.
    EmbeddingMissing = "embedding-model-missing", Settings;
    /// The file of an embedding model is damaged.
    EmbeddingDamaged = "embedding-model-damaged", Damage;
    /// A query exceeds the length limit.
    QueryTooLong = "query-too-long", User, "use fewer words";
    /// An external tool cannot be used.
    ToolUnavailable = "tool-unavailable", Settings, "see its description with `spelunk tools list`";
    /// It is unknown whether a call that must happen at most once took effect.
    ToolOutcomeUnknown = "tool-outcome-unknown", User;
    /// A resumed run made a different call than its journal records.
    ReplayDiverged = "replay-diverged", Bug;
    /// An internal error in Spelunk.
    Bug = "bug", Bug;
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
