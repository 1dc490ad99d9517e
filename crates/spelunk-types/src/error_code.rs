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
            /// A code that only a newer engine knows.
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
                    Self::Unrecognised => "A code that only a newer engine knows.",
                }
            }

            /// Who has to act.
            pub fn blame(self) -> Blame {
                match self {
                    $(Self::$variant => Blame::$blame,)+
                    Self::Unrecognised => Blame::Bug,
                }
            }

            /// The next step where it is always the same, imperative, no period. A failure that is read from a
            /// journal has the same hint as it had when it happened.
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
    /// The command line does not make sense.
    UsageWrong = "usage-wrong", User;
    /// A setting of that name does not exist.
    SettingUnknown = "setting-unknown", Settings;
    /// A setting has a value it cannot have.
    SettingInvalid = "setting-invalid", Settings;
    /// A path names nothing.
    SourceNotFound = "source-not-found", User;
    /// A file or directory could not be read.
    SourceUnreadable = "source-unreadable", User;
    /// There is no text to answer from.
    SourceEmpty = "source-empty", User;
    /// No context has that id.
    ContextNotFound = "context-not-found", User;
    /// A context has that id already.
    ContextExists = "context-exists", User;
    /// No model is configured and none was found.
    ModelNotConfigured = "model-not-configured", Settings, "run `spelunk doctor`, or see what is set up with `spelunk model list`";
    /// The cost is bounded, and no price is known for a model.
    PriceUnknown = "price-unknown", Settings, "set its prices (`model.price_input_usd_per_mtok` and `model.price_output_usd_per_mtok`, or the same of `models.NAME`), or bound the run with `--max-tokens` in the place of `--max-cost`";
    /// The provider does not accept the key.
    ModelUnauthorized = "model-unauthorized", Settings, "check the key in the environment, then run `spelunk doctor`";
    /// The provider does not know the model or the address.
    ModelNotFound = "model-not-found", Settings, "name another model with `--model`, or check `--base-url`";
    /// The provider asks for fewer requests.
    ModelRateLimited = "model-rate-limited", Upstream, "wait a little, or lower `limits.calls_parallel_max`";
    /// The provider has no capacity right now.
    ModelOverloaded = "model-overloaded", Upstream, "try again in a few minutes, name another model with `--model`, or set a `fallback`";
    /// The provider broke.
    ModelServerError = "model-server-error", Upstream, "try again in a few minutes, name another model with `--model`, or set a `fallback`";
    /// The provider does not accept the request.
    ModelRequestRefused = "model-request-refused", Upstream, "check that the model takes such requests (`spelunk model test`), or name another with `--model`";
    /// The prompt is longer than the model's window.
    ModelPromptTooLong = "model-prompt-too-long", Upstream, "choose a model with a longer window, or send less at once: lower `limits.direct_tokens_max`, `limits.chunk_tokens_max` or `limits.transcript_tokens_max`";
    /// No connection to the provider.
    ModelUnreachable = "model-unreachable", Upstream, "check that the server runs and that `--base-url` is right, then `spelunk doctor`";
    /// The provider took too long.
    ModelTimedOut = "model-timed-out", Upstream, "raise `limits.call_ms_max` or `limits.call_idle_ms_max`";
    /// The reply ended before its end mark.
    ModelStreamCut = "model-stream-cut", Upstream, "try again; if it happens every time, look for a proxy that ends long replies";
    /// The reply is not in the provider's own format.
    ModelReplyMalformed = "model-reply-malformed", Upstream, "check that `--base-url` is the address of the API and not of a web page, or what the program of `model.command` prints";
    /// The reply holds neither text nor a tool call.
    ModelReplyEmpty = "model-reply-empty", Upstream, "raise `limits.root_output_tokens_max` if the model reasons (sub-calls and analysts have limits of their own), or name another with `--model`";
    /// The reply is longer than is accepted.
    ModelReplyTooLong = "model-reply-too-long", Upstream, "raise `limits.reply_bytes_max`";
    /// The run has made all the calls it may.
    CallsExhausted = "calls-exhausted", Limit;
    /// The run has used all the tokens it may.
    TokensExhausted = "tokens-exhausted", Limit;
    /// The run has cost all it may.
    CostExhausted = "cost-exhausted", Limit;
    /// The run has taken all the time it may.
    TimeExhausted = "time-exhausted", Limit, "raise `limits.run_ms_max` or `limits.frame_ms_max`";
    /// A frame may not open another below it.
    DepthExceeded = "depth-exceeded", Limit, "raise `limits.depth_max`";
    /// A frame has as many children as it may.
    ChildrenExceeded = "children-exceeded", Limit, "raise the limit of that depth: `limits.children_depth0_max`, `limits.children_depth1_max` or `limits.children_depth2_max`";
    /// A frame has taken all the turns it may.
    TurnsExhausted = "turns-exhausted", Limit, "raise `limits.turns_max` (of an agent, `limits.agent_turns_max`), or ask a narrower question";
    /// A frame has run all the code it may.
    CellsExhausted = "cells-exhausted", Limit, "raise `limits.cells_max`";
    /// A model repeated itself, only talked, or wrote code or calls where an answer was due.
    ModelStuck = "model-stuck", Upstream, "ask in other words, or choose a stronger model";
    /// The sandbox broke or could not be started.
    SandboxFailed = "sandbox-failed", Damage, "run `spelunk doctor`";
    /// This machine cannot confine the sandbox that was asked for.
    SandboxUnconfined = "sandbox-unconfined", Settings, "leave out `--sandbox` and `ask.sandbox`: the default needs nothing from the machine";
    /// A JSON Schema is not one, or uses what is not supported.
    SchemaInvalid = "schema-invalid", User;
    /// The answer does not fit the schema, after it was asked for again.
    AnswerInvalid = "answer-invalid", Upstream, "loosen the schema, or choose a stronger model";
    /// What a model reported about a part of the text cannot be used, after it was asked for again.
    ReportInvalid = "report-invalid", Upstream, "ask again, or choose a stronger model for `roles.sub`";
    /// The user stopped the run.
    Cancelled = "cancelled", User;
    /// No run has that name.
    RunNotFound = "run-not-found", User;
    /// More than one run has a name that begins so.
    RunAmbiguous = "run-ambiguous", User;
    /// Another process is working on the run.
    RunLocked = "run-locked", User;
    /// The run has its answer already.
    RunFinished = "run-finished", User;
    /// A run cannot go on under other settings.
    SettingsChanged = "settings-changed", User;
    /// A run cannot go on over other text.
    CorpusChanged = "corpus-changed", User;
    /// A journal is damaged in its middle.
    JournalDamaged = "journal-damaged", Damage;
    /// A journal was written by a newer engine.
    JournalNewer = "journal-newer", User;
    /// The journal could not be written.
    JournalUnwritable = "journal-unwritable", Damage;
    /// A blob is missing or is not what its name says.
    BlobDamaged = "blob-damaged", Damage;
    /// The archive of a run is not whole.
    ArchiveDamaged = "archive-damaged", Damage;
    /// The workspace could not be opened.
    WorkspaceUnusable = "workspace-unusable", Damage;
    /// The workspace was not created by this user here.
    WorkspaceUntrusted = "workspace-untrusted", Settings;
    /// The registry of contexts was written by a newer engine.
    RegistryNewer = "registry-newer", User;
    /// An index is damaged.
    IndexDamaged = "index-damaged", Damage, "search again: it is built anew from the documents";
    /// Another process is updating the index.
    IndexLocked = "index-locked", User, "wait until it is done, then search again";
    /// An index has no vectors, or those of another embedding model.
    IndexOtherModel = "index-other-model", Settings, "search again: it is built anew, or set `roles.embedding` as it was";
    /// The file of an embedding model is not there.
    EmbeddingMissing = "embedding-model-missing", Settings;
    /// The file of an embedding model is not as it should be.
    EmbeddingDamaged = "embedding-model-damaged", Damage;
    /// A query is longer than what is looked for.
    QueryTooLong = "query-too-long", User, "ask with fewer words";
    /// A resumed run asked something else than before.
    ReplayDiverged = "replay-diverged", Bug;
    /// Spelunk itself broke.
    Bug = "bug", Bug;
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
