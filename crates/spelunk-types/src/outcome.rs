//! Outcomes: how a call, a cell, a frame and a run ended. Each is recorded once, as what the asker saw.

use serde::{Deserialize, Serialize};

use crate::{Citation, ErrorCode, Grounding, Text, Usage};

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum CallOutcome {
    /// The model answered.
    Replied {
        /// What it said.
        reply: Text,
        /// Why it stopped.
        stop: StopReason,
        /// What it consumed.
        usage: Usage,
        /// The tools it called, as JSON; only agents are given some.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_calls: Option<Text>,
    },
    /// Every attempt failed, and the strategy went on knowing it.
    Failed {
        /// The last failure.
        code: ErrorCode,
        /// Its text.
        message: String,
    },
}

/// Why a model stopped writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// It had finished.
    Finished,
    /// It reached the output limit; the reply is cut.
    Length,
    /// The provider withheld the rest.
    Filtered,
    /// It waits for what the tools say that it called.
    ToolUse,
    /// Anything else the provider said.
    Other,
}

/// Where a reply came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Served {
    /// From the provider, and paid for.
    Live,
    /// From the reply cache, free.
    Cache,
}

/// How a block of code ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum CellOutcome {
    /// At its last line.
    Printed,
    /// With an exception that its code did not catch.
    Raised {
        /// The class of the exception.
        kind: String,
        /// What the model was shown of it.
        traceback: String,
    },
    /// At a limit of the sandbox. The variables are what they were before; a replay does not run it again.
    Limited {
        /// `TimeoutError`, `MemoryError`, or what became of the process.
        kind: String,
        /// What the model was shown.
        message: String,
    },
    /// With the answer of its frame.
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
        /// Its checked evidence.
        citations: Vec<Citation>,
        /// How far it rests on the sources.
        grounding: Grounding,
    },
    /// Without one, and its parent went on knowing it.
    Failed {
        /// Why.
        code: ErrorCode,
        /// In words.
        message: String,
    },
}

/// How a run ended. A run that failed or was cancelled can be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum RunOutcome {
    /// With an answer.
    Answered,
    /// At a limit, with what there was.
    Partial {
        /// The limit.
        stopped_by: ErrorCode,
    },
    /// Without an answer.
    Failed {
        /// Why.
        code: ErrorCode,
        /// In words.
        message: String,
    },
    /// By the user.
    Cancelled,
}
