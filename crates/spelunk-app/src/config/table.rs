//! The table of settings: the one place that declares which settings exist, their kinds, their defaults and where they
//! may be set. Files, variables, flags, the schema and the reference pages are all derived from it.

use std::sync::LazyLock;

use spelunk_types::{Limit, Limits};

use super::choice::{ColorChoice, DurabilityChoice, ProviderChoice, SandboxChoice, StrategyChoice};
use super::value::{Decimal, Value, WHOLE_MAX};
use crate::env::PREFIX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// The name of an environment variable. Never repeated in errors: it may be a key in the wrong place.
    VariableName,
    /// An integer between bounds, both inclusive.
    Whole {
        min: u64,
        max: u64,
    },
    YesNo,
    /// One of these words; the first is the default.
    Choice(&'static [&'static str]),
    /// A non-negative number with up to six decimals.
    Number,
    List,
    /// A list of file extensions.
    Extensions,
    /// A list of whole file names.
    FileNames,
    Prompt,
    /// A regular expression.
    Pattern,
}

/// The value of a setting that is not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fallback {
    Value(Value),
    /// None; the reference shows an example instead.
    Unset {
        example: Value,
    },
}

/// What a project file, which may come with a stranger's repository, may do with a setting. Every
/// other layer belongs to the user and may set anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Set it: no value does harm.
    Everywhere,
    /// Lower the user's value: a higher one could cost money, time, memory or disk space.
    LowerOnly,
    /// Set it to a path inside the project.
    InsideProject,
    /// Nothing: a value could run a command, send a key or documents somewhere, hide the cost of a
    /// run, or delete files.
    UserOnly,
}

impl Reach {
    pub(crate) fn remark(self) -> &'static str {
        match self {
            Self::Everywhere => "",
            Self::LowerOnly => " A project file may only lower it.",
            Self::InsideProject => " In a project file, it must be a path inside the project.",
            Self::UserOnly => " Cannot be set in a project file.",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Display {
    Plain,
    /// A URL: shown without credentials.
    Address,
    /// Never shown.
    Secret,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Its name: a section, a dot, a word.
    pub(crate) key: String,
    pub(crate) kind: Kind,
    /// One line for the reference.
    pub(crate) doc: &'static str,
    pub(crate) fallback: Fallback,
    pub(crate) reach: Reach,
    pub(crate) display: Display,
}

impl Setting {
    /// The part before the dot.
    pub(crate) fn section(&self) -> &str {
        self.key.split_once('.').map_or("", |(section, _)| section)
    }

    /// The part after the dot.
    pub(crate) fn word(&self) -> &str {
        self.key.split_once('.').map_or(&self.key, |(_, word)| word)
    }

    pub(crate) fn variable(&self) -> String {
        variable_of(&self.key)
    }

    /// The same setting, but not for project files.
    pub(super) fn own(self) -> Self {
        Self { reach: Reach::UserOnly, ..self }
    }

    fn inside_project(self) -> Self {
        Self { reach: Reach::InsideProject, ..self }
    }

    pub(super) fn shown_as(self, display: Display) -> Self {
        Self { display, ..self }
    }
}

pub(crate) fn all() -> &'static [Setting] {
    &TABLE
}

pub(crate) fn find(key: &str) -> Option<&'static Setting> {
    TABLE.iter().find(|setting| setting.key == key)
}

/// Settings of earlier versions that have no effect any more, and why. They are still accepted, with a notice.
const RETIRED: [(&str, &str); 3] = [
    ("limits.parsed_bytes_max", "code of any size is split by how its lines begin"),
    ("limits.stage_tasks_max", "`limits.calls_parallel_max` limits how many analysts work at once"),
    ("limits.worker_chars_max", "`limits.analyst_output_tokens_max` limits how much an analyst writes"),
];

pub(crate) fn retired(key: &str) -> Option<&'static str> {
    RETIRED.iter().find(|(known, _)| *known == key).map(|(_, why)| *why)
}

/// The retired setting that this variable used to set.
pub(crate) fn retired_by(variable: &str) -> Option<&'static str> {
    RETIRED.iter().map(|(key, _)| *key).find(|key| variable_of(key) == variable)
}

fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "_").to_ascii_uppercase())
}

/// The sections in the order of the reference, each with its introduction.
pub(crate) const SECTIONS: &[(&str, &str)] = &[
    ("model", "The model and its provider."),
    ("roles", "The model for each role: a NAME from `[models.NAME]`, or PROVIDER/NAME."),
    ("local", "Models that run inside this program."),
    ("ask", "How questions are answered."),
    ("workspace", "Where runs are stored."),
    ("journal", "How runs are recorded."),
    ("run", "How long runs are kept."),
    ("cache", "What is cached to save calls and downloads."),
    ("output", "Terminal output."),
    ("server", "The server of `spelunk serve`."),
    ("fleet", "Runs that several machines share, on NATS JetStream."),
    ("limits", "Every limit that the engine enforces."),
];

pub(crate) const TYPES: &str = "types";

pub(crate) const MODELS: &str = "models";

pub(crate) const TOOLS: &str = "tools";

const HUB_URL: &str = "https://huggingface.co";

pub(crate) const AZURE_API_VERSION: &str = "2024-10-21";

/// Declares settings: the line for the reference, the key, and the default value with its restrictions.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $key:literal = $value:expr;)+) => {
        vec![$($crate::config::table::Setting {
            key: $key.to_owned(),
            doc: concat!($($doc,)+).trim_ascii(),
            ..$value
        },)+]
    };
}
pub(super) use settings;

static TABLE: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    let mut table = model();
    table.extend(others());
    table.extend(server());
    table.extend(fleet());
    table.extend(Limits::ALL.iter().map(limit));
    table
});

fn model() -> Vec<Setting> {
    settings! {
        /// The provider; `auto` picks the first one with a key, then a local server.
        "model.provider" = choice(ProviderChoice::WORDS);
        /// The provider's name for the model; empty means the provider's default.
        "model.name" = text("");
        /// The model for sub-calls, at the same provider; empty means the same model, or the provider's cheap one if no
        /// model is named.
        "model.sub" = text("");
        /// The base URL for requests; empty means the provider's own.
        "model.base_url" = text("").own().shown_as(Display::Address);
        /// The environment variable that contains the API key; empty means the provider's usual one.
        "model.key_env" = Setting { kind: Kind::VariableName, ..text("").own() };
        /// A command that prints the API key; empty means none.
        "model.key_command" = text("").own().shown_as(Display::Secret);
        /// The program, with arguments, that answers if `model.provider = "command"`; it runs without a shell.
        "model.command" = text("").own();
        /// Whether that program writes JSON lines instead of plain text.
        "model.command_json" = yes_no(false).own();
        /// The Azure API version.
        "model.azure_api_version" = text(AZURE_API_VERSION).own();
        /// Price of input tokens, in dollars per million.
        "model.price_input_usd_per_mtok" = unset(Kind::Number, number(3_000_000)).own();
        /// Price of cached input tokens, in dollars per million; if unset, that of input tokens.
        "model.price_cached_usd_per_mtok" = unset(Kind::Number, number(300_000)).own();
        /// Price of output tokens, in dollars per million.
        "model.price_output_usd_per_mtok" = unset(Kind::Number, number(15_000_000)).own();
        /// Whether to look for a model server on the usual local ports.
        "model.probe_local" = yes_no(true).own();
        /// The model that leads a run; empty means `model.*`.
        "roles.root" = text("");
        /// The model for sub-calls and analysts; empty means `model.sub`, or else the root model.
        "roles.sub" = text("");
        /// The model that combines findings; empty means the root model.
        "roles.synthesis" = text("");
        // A search does not imply consent to call a server, so a stranger's repository must not turn it into a call.
        /// The embedding model for the index, called in OpenAI's format; empty means the built-in table.
        "roles.embedding" = text("").own();
        /// The directory of local models; empty means `spelunk/models` in the user's data directory.
        "local.path" = text("").own();
        /// The hub that `spelunk model pull` downloads from.
        "local.hub_url" = text(HUB_URL).own().shown_as(Display::Address);
        /// Number of compute threads; 0 means one per core. Use fewer if the cores are busy.
        "local.threads" = whole(0, 512, 0).own();
    }
}

fn others() -> Vec<Setting> {
    settings! {
        /// How questions are answered; `auto` chooses based on the question and the text.
        "ask.strategy" = choice(StrategyChoice::WORDS);
        /// The sandbox for code that models write; `cpython` needs `python3` and a Linux that can confine it.
        "ask.sandbox" = choice(SandboxChoice::WORDS).own();
        /// Comma-separated names of tools (`[tools.NAME]`) that questions may use; empty means none.
        "ask.tools" = text("").own();
        /// Of these tools, the comma-separated names of those that child frames may use, too.
        "ask.sub_tools" = text("").own();
        /// The directory for runs; in a project file, relative to that file.
        "workspace.path" = text(".spelunk").inside_project();
        /// When replies are synced: `process` within 50 ms, which a power cut may lose; `power` before anything depends on them.
        "journal.durability" = choice(DurabilityChoice::WORDS).own();
        /// The age in days after which runs are removed: when a run or a server starts, and by `spelunk run clean`; 0 means only by that command.
        "run.retention_days" = whole(0, WHOLE_MAX, 30).own();
        /// Whether to answer repeated calls from the cache in the workspace, at no cost.
        "cache.replies" = yes_no(true).own();
        /// Maximum size of the objects of S3 that one question downloads, and that are kept for the next ones.
        "cache.objects_bytes_max" = whole(0, WHOLE_MAX, 10 << 30).own();
        /// When to use colour; `auto` means on a terminal, unless `NO_COLOR` is set.
        "output.color" = choice(ColorChoice::WORDS);
    }
}

/// A project file may set none of these: it comes with the text that is served.
fn server() -> Vec<Setting> {
    settings! {
        /// The address and port to listen on; tokens are required unless it is loopback.
        "server.listen" = text("127.0.0.1:7766").own();
        /// The file that contains the token digests; empty means that no tokens are required.
        "server.token_file" = text("").own();
        /// The server's host names, comma-separated; empty means loopback names, or any name if tokens are required.
        "server.hosts" = text("").own();
        /// Comma-separated origins whose pages may call, such as `https://app.example.com`; empty means none.
        "server.cors_origins" = text("").own();
        /// Maximum number of concurrent runs; others wait, and clients take turns.
        "server.runs_parallel_max" = whole(1, WHOLE_MAX, 4).own();
        /// Maximum number of waiting runs; further ones are rejected.
        "server.queue_max" = whole(1, WHOLE_MAX, 1_000).own();
        /// Maximum number of concurrent connections; one more replaces the one that has been idle for longest, or waits.
        "server.connections_max" = whole(1, WHOLE_MAX, 1_024).own();
        /// Maximum size of a request body, except for uploads.
        "server.body_bytes_max" = whole(1_024, WHOLE_MAX, 8 << 20).own();
        /// Maximum total size of the files in an upload.
        "server.upload_bytes_max" = whole(1_024, WHOLE_MAX, 64 << 20).own();
        /// Maximum time for a request to arrive, and for the client to read each piece of a response.
        "server.request_ms_max" = whole(10, WHOLE_MAX, 30_000).own();
        /// Chat messages longer than this are read as documents instead of as part of the question.
        "server.long_message_chars" = whole(1, WHOLE_MAX, 4_000).own();
    }
}

/// A project file may set none of these: the text of a question is sent to the fleet.
fn fleet() -> Vec<Setting> {
    settings! {
        /// The NATS servers of the fleet, comma-separated, such as `nats://10.0.0.1:4222`; empty means none.
        "fleet.url" = text("").own().shown_as(Display::Address);
        /// The file with the credentials of a NATS user; empty means none.
        "fleet.creds_file" = text("").own();
        /// The file with the root certificates of the NATS servers; empty means the system's.
        "fleet.ca_file" = text("").own();
        /// The prefix of the names of the fleet's streams.
        "fleet.prefix" = text("spelunk").own();
        /// The name of this node; empty means the host's name and the process id.
        "fleet.node" = text("").own();
        /// How long a node may be silent before others take its runs, in milliseconds; the same on every node.
        "fleet.lease_ms" = whole(1_000, WHOLE_MAX, 20_000).own();
        /// Maximum size of the unpacked snapshots that a node keeps.
        "fleet.cache_bytes_max" = whole(0, WHOLE_MAX, 10 << 30).own();
        /// Maximum number of concurrent model calls of a node, for its own runs and those of others; further ones go to nodes with room, or wait.
        "fleet.node_calls_max" = whole(1, WHOLE_MAX, 128).own();
    }
}

/// Deeper trees cost calls and find nothing.
const DEPTH_MAX: u64 = 5;

fn limit(limit: &Limit) -> Setting {
    let max = match limit.name {
        "depth_max" => DEPTH_MAX,
        name if name.ends_with("_percent") => 100,
        _ => WHOLE_MAX,
    };
    Setting {
        key: format!("limits.{}", limit.name),
        doc: limit.doc,
        reach: limit_reach(limit.name),
        ..whole(limit_min(limit.name), max, limit.default)
    }
}

/// A project file may only lower resource limits; chunk sizes are harmless.
fn limit_reach(name: &str) -> Reach {
    match name {
        // Lowering it would delete replies that the user paid for.
        "cache_bytes_max" => Reach::UserOnly,
        _ if name.ends_with("_max") || name.contains("_ms_") => Reach::LowerOnly,
        _ => Reach::Everywhere,
    }
}

/// Whether zero means unlimited for this limit.
pub(super) fn is_unlimited(key: &str, value: u64) -> bool {
    value == 0 && ["limits.files_max", "limits.reader_tokens_max"].contains(&key)
}

/// With a value of zero, these limits would allow no progress.
fn limit_min(name: &str) -> u64 {
    let is_step =
        name.starts_with("chunk_") || ["calls_parallel_max", "page_lines", "page_lines_max"].contains(&name);
    u64::from(is_step)
}

fn setting(kind: Kind, fallback: Fallback) -> Setting {
    let (reach, display) = (Reach::Everywhere, Display::Plain);
    Setting { key: String::new(), kind, doc: "", fallback, reach, display }
}

fn text(default: &str) -> Setting {
    setting(Kind::Text, Fallback::Value(Value::Text(default.to_owned())))
}

fn whole(min: u64, max: u64, default: u64) -> Setting {
    setting(Kind::Whole { min, max }, Fallback::Value(Value::Whole(default)))
}

fn choice(words: &'static [&'static str]) -> Setting {
    Setting { kind: Kind::Choice(words), ..text(words.first().copied().unwrap_or_default()) }
}

fn yes_no(default: bool) -> Setting {
    setting(Kind::YesNo, Fallback::Value(Value::YesNo(default)))
}

/// A setting without a default, shown with an example.
pub(super) fn unset(kind: Kind, example: Value) -> Setting {
    setting(kind, Fallback::Unset { example })
}

pub(super) fn number(millionths: u64) -> Value {
    Value::Number(Decimal { millionths })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn keys_and_variables_are_unique_and_every_section_is_declared() {
        let keys: BTreeSet<_> = all().iter().map(|setting| setting.key.clone()).collect();
        let variables: BTreeSet<_> = all().iter().map(Setting::variable).collect();
        let mut sections: Vec<_> = all().iter().map(Setting::section).collect();
        sections.dedup();
        assert_eq!(keys.len(), all().len());
        assert_eq!(variables.len(), all().len());
        assert_eq!(sections, SECTIONS.iter().map(|(section, _)| *section).collect::<Vec<_>>());
    }

    #[test]
    fn every_limit_is_a_setting_with_the_same_default() {
        let found: Vec<_> =
            Limits::ALL.iter().map(|limit| find(&format!("limits.{}", limit.name)).unwrap()).collect();
        let fallbacks: Vec<_> = found.iter().map(|setting| setting.fallback.clone()).collect();
        let defaults: Vec<_> =
            Limits::ALL.iter().map(|limit| Fallback::Value(Value::Whole(limit.default))).collect();
        assert_eq!(fallbacks, defaults);
    }

    #[test]
    fn a_variable_is_derived_from_its_key() {
        assert_eq!(find("limits.calls_max").unwrap().variable(), "SPELUNK_LIMITS_CALLS_MAX");
        assert_eq!(find("model.name").unwrap().variable(), "SPELUNK_MODEL_NAME");
    }
}
