//! Outcomes: how a call, a cell, a frame and a run ended. Each is recorded once, as the caller saw it.

use serde::{Deserialize, Serialize};

use crate::{Citation, ErrorCode, Grounding, Text, Usage};

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum CallOutcome {
    /// The model answered.
    Replied {
        /// The text of the reply.
        reply: Text,
        /// Why it stopped.
        stop: StopReason,
        /// What it consumed.
        usage: Usage,
        /// The tools it called, as JSON; only agents have tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_calls: Option<Text>,
        /// The probability of its least likely token, in thousandths, if the engine asked for it and the provider
        /// reported it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        certainty_permille: Option<u16>,
    },
    /// Every attempt failed; the strategy received the error and continued.
    Failed {
        /// The last failure.
        code: ErrorCode,
        /// Its message.
        message: String,
    },
}

/// Why a model stopped writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The reply is complete.
    Finished,
    /// It reached the output limit; the reply is truncated.
    Length,
    /// The provider withheld the rest.
    Filtered,
    /// It is waiting for the results of the tools it called.
    ToolUse,
    /// Any other reason the provider gave.
    Other,
}

names! { "origin of a reply",
/// Where a reply came from.
pub enum Served {
    /// From the provider, at a cost.
    Live = "live",
    /// From the reply cache, free of charge.
    Cache = "cache",
}
}

names! { "effect",
/// Whether a call of a tool may be repeated.
pub enum EffectClass {
    /// It only reads.
    Read = "read",
    /// It changes something; twice is as good as once.
    Repeatable = "repeatable",
    /// It must happen at most once.
    Once = "once",
}
}

/// How a call of an external tool ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum EffectOutcome {
    /// With a value.
    Returned {
        /// JSON.
        value: Text,
    },
    /// With an error, or it was refused.
    Failed {
        /// The exception that code sees.
        kind: String,
        /// Its message.
        message: Text,
    },
}

impl EffectOutcome {
    /// The value or the message.
    pub fn text(&self) -> &Text {
        match self {
            Self::Returned { value } => value,
            Self::Failed { message, .. } => message,
        }
    }
}

impl std::fmt::Display for EffectOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Returned { .. } => f.write_str("returned"),
            Self::Failed { kind, .. } => write!(f, "failed {kind}"),
        }
    }
}

/// How a block of code ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum CellOutcome {
    /// Ran to its last line.
    Printed,
    /// Ended by an uncaught exception.
    Raised {
        /// The class of the exception.
        kind: String,
        /// The traceback shown to the model.
        traceback: String,
    },
    /// Stopped by a limit of the sandbox. The variables are restored to their state before the cell, and a replay does
    /// not run it again.
    Limited {
        /// `TimeoutError`, `MemoryError`, or what happened to the process.
        kind: String,
        /// The message shown to the model.
        message: String,
    },
    /// Ended with the answer of its frame.
    Answered,
}

/// How a frame ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum FrameOutcome {
    /// With an answer.
    Answered {
        /// The answer.
        answer: Text,
        /// Its verified evidence.
        citations: Vec<Citation>,
        /// How well it is supported by the sources.
        grounding: Grounding,
    },
    /// Without one; the parent received the error and continued.
    Failed {
        /// The error code.
        code: ErrorCode,
        /// The error message.
        message: String,
    },
}

/// How a run ended. A run that failed or was cancelled can be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum RunOutcome {
    /// With an answer.
    Answered,
    /// Stopped by a limit, with a partial answer.
    Partial {
        /// The limit.
        stopped_by: ErrorCode,
    },
    /// Without an answer.
    Failed {
        /// The error code.
        code: ErrorCode,
        /// The error message.
        message: String,
    },
    /// By the user.
    Cancelled,
}
