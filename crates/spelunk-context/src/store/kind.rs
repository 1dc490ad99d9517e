//! Kinds and load policies. A kind is the role of a context (identity, project, ...), not the format of its text: that
//! is its content type. A policy says how long an obtained text may be reused.

use std::fmt;
use std::sync::Arc;

use crate::store::LoadPolicy;

/// The role of a context.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContextKind {
    /// Who the user is.
    Identity,
    /// What a project is about.
    Project,
    /// What happened recently or will happen soon.
    Temporal,
    /// Any document.
    Document,
    /// Something remembered.
    Memory,
    /// The output of a tool.
    ToolResult,
    /// Something fetched.
    Web,
    /// A kind declared by the user.
    Custom(KindName),
}

impl ContextKind {
    /// The seven built-in kinds.
    pub const BUILT_IN: [Self; 7] = [
        Self::Identity,
        Self::Project,
        Self::Temporal,
        Self::Document,
        Self::Memory,
        Self::ToolResult,
        Self::Web,
    ];

    /// The name in the registry, on the command line and in tools.
    pub fn name(&self) -> &str {
        match self {
            Self::Identity => "identity",
            Self::Project => "project",
            Self::Temporal => "temporal",
            Self::Document => "document",
            Self::Memory => "memory",
            Self::ToolResult => "tool_result",
            Self::Web => "web",
            Self::Custom(name) => name.as_str(),
        }
    }

    /// The kind with this name, or `None` if the name is invalid. Whether a custom kind exists, only the store knows.
    pub fn from_name(name: &str) -> Option<Self> {
        match Self::BUILT_IN.into_iter().find(|kind| kind.name() == name) {
            Some(kind) => Some(kind),
            None => KindName::new(name).map(Self::Custom),
        }
    }

    pub(crate) fn custom_name(&self) -> Option<&KindName> {
        if let Self::Custom(name) = self { Some(name) } else { None }
    }

    /// The policy of a context that names none. A custom kind is lazy unless it was declared otherwise.
    pub fn default_policy(&self) -> LoadPolicy {
        match self {
            Self::Identity => LoadPolicy::Hot,
            Self::Project | Self::Document | Self::Custom(_) => LoadPolicy::Lazy,
            Self::Temporal => LoadPolicy::Refresh,
            Self::Memory => LoadPolicy::Query,
            Self::ToolResult => LoadPolicy::TtlMs(TOOL_RESULT_TTL_MS),
            Self::Web => LoadPolicy::Session,
        }
    }
}

impl fmt::Display for ContextKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of a custom kind: at most 64 lowercase letters, digits, `_` and `-`, and not a built-in name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KindName(Arc<str>);

impl KindName {
    /// `None` if the name is invalid.
    pub fn new(name: &str) -> Option<Self> {
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
        let is_built_in = ContextKind::BUILT_IN.iter().any(|kind| kind.name() == name);
        let is_good =
            !is_built_in && !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.chars().all(is_allowed);
        is_good.then(|| Self(name.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl LoadPolicy {
    /// The policy with this name, or `ttl:SECONDS`.
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(seconds) = name.strip_prefix("ttl:") {
            let ttl_ms = seconds.parse::<u64>().ok()?.checked_mul(1000)?;
            return Some(Self::TtlMs(ttl_ms));
        }
        let tool_result = Self::TtlMs(TOOL_RESULT_TTL_MS);
        [Self::Hot, Self::Lazy, Self::Refresh, tool_result, Self::Session, Self::Query]
            .into_iter()
            .find(|policy| policy.name() == name)
    }

    /// The name in listings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Lazy => "lazy",
            Self::Refresh => "refresh",
            Self::TtlMs(_) => "ttl",
            Self::Session => "session",
            Self::Query => "query",
        }
    }

    pub(crate) fn is_durable(self) -> bool {
        self != Self::Session
    }
}

/// Tool output older than an hour is obtained again.
const TOOL_RESULT_TTL_MS: u64 = 3_600_000;
const NAME_BYTES_MAX: usize = 64;

#[cfg(test)]
mod tests;
