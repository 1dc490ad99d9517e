//! The environment: the only module that reads environment variables. They are captured once at startup and
//! passed down, so that tests can supply their own. Variables of settings (`SPELUNK_MODEL_NAME`) are derived
//! from the settings table; every other variable is declared here.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

pub(crate) const PREFIX: &str = "SPELUNK_";

/// Declares the variables that are not settings, each with its line for the reference.
macro_rules! variables {
    ($($(#[doc = $doc:literal])+ $vis:vis $name:ident;)+) => {
        $($(#[doc = $doc])+ $vis const $name: &str = stringify!($name);)+

        /// Every variable that is not a setting and its meaning, in the order of the reference.
        pub(crate) const VARIABLES: &[(&str, &str)] = &[$(($name, concat!($($doc,)+).trim_ascii()),)+];
    };
}

variables! {
    /// The API key for Anthropic, unless `model.key_env` names another variable.
    pub(crate) ANTHROPIC_API_KEY;
    /// The base URL for requests in Anthropic's format, unless `model.base_url` is set.
    pub(crate) ANTHROPIC_BASE_URL;
    /// The API key for OpenAI and compatible servers, unless `model.key_env` names another variable.
    pub(crate) OPENAI_API_KEY;
    /// The base URL for requests in OpenAI's format, unless `model.base_url` is set.
    pub(crate) OPENAI_BASE_URL;
    /// The API key for OpenRouter, unless `model.key_env` names another variable.
    pub(crate) OPENROUTER_API_KEY;
    /// The API key for Google Gemini, unless `model.key_env` names another variable.
    pub(crate) GEMINI_API_KEY;
    /// The API key for Google Gemini, if `GEMINI_API_KEY` is not set.
    pub(crate) GOOGLE_API_KEY;
    /// The API key for Azure OpenAI, unless `model.key_env` names another variable.
    pub(crate) AZURE_OPENAI_API_KEY;
    /// The Azure resource, such as `https://NAME.openai.azure.com`, unless `model.base_url` is set.
    pub(crate) AZURE_OPENAI_ENDPOINT;
    /// The password of PostgreSQL databases, if their URL has none; `~/.pgpass` is read otherwise.
    pub(crate) PGPASSWORD;
    /// The server of `s3://` sources, if it is not that of AWS; `AWS_ENDPOINT_URL_S3` comes first. Keys and the region are read from the
    /// variables and files of the AWS tools.
    pub(crate) AWS_ENDPOINT_URL;
    /// If set, disables colour when `output.color` is `auto`.
    pub NO_COLOR;
    /// The directory that contains the user's settings, `spelunk/config.toml`; defaults to `~/.config`.
    pub(crate) XDG_CONFIG_HOME;
    /// The directory that contains local models, `spelunk/models`; defaults to `~/.local/share`.
    pub(crate) XDG_DATA_HOME;
    /// The directory that contains the list of trusted workspaces, in `spelunk`; defaults to `~/.local/state`.
    pub(crate) XDG_STATE_HOME;
    /// The home directory, for `~/.pgpass`, `~/.config`, `~/.local/share` and `~/.local/state`.
    pub HOME;
    /// The name of this machine, for the name of a node in a fleet.
    pub(crate) HOSTNAME;
    /// Where to look for `python3` with `--sandbox cpython`.
    pub(crate) PATH;
    /// An OpenTelemetry collector, such as `http://127.0.0.1:4318`; the spans of each run are sent to it when the run
    /// ends.
    pub(crate) OTEL_EXPORTER_OTLP_ENDPOINT;
    /// Headers for that collector, as comma-separated `name=value` pairs.
    pub(crate) OTEL_EXPORTER_OTLP_HEADERS;
    /// For developers: `1` makes tests rewrite the generated files they compare with.
    pub(crate) SPELUNK_UPDATE;
    /// For developers: `1` lets the live tests call real providers.
    pub(crate) SPELUNK_LIVE;
}

/// All variables at startup. `Debug` shows names only: values may be keys.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
}

impl Environment {
    /// Reads the process environment. Names that are not UTF-8 cannot be ours and are skipped.
    pub fn capture() -> Self {
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect()
    }

    pub(crate) fn with(mut self, variables: impl IntoIterator<Item = (String, OsString)>) -> Self {
        self.variables.extend(variables);
        self
    }

    /// The value as text. An empty variable counts as unset; so does one that is not UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.raw(name)?.to_str()
    }

    /// The value as a path, whatever its bytes. An empty variable counts as unset.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.raw(name).map(PathBuf::from)
    }

    /// A directory of the user: the value of the variable if it is absolute, else this path below the home directory.
    pub(crate) fn user_dir(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let named = self.path(variable).filter(|path| path.is_absolute());
        named.or_else(|| Some(self.path(HOME)?.join(below_home)))
    }

    /// Every non-empty variable whose name begins with `SPELUNK_`, sorted by name.
    pub(crate) fn own(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        self.variables
            .iter()
            .filter(|(name, value)| name.starts_with(PREFIX) && !value.is_empty())
            .map(|(name, value)| (name.as_str(), value.as_os_str()))
    }

    /// Every variable with this prefix whose value is UTF-8.
    pub(crate) fn beginning_with<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = (String, String)> + 'a {
        let of = self.variables.iter().filter(move |(name, _)| name.starts_with(prefix));
        of.filter_map(|(name, value)| Some((name.clone(), value.to_str()?.to_owned())))
    }

    fn raw(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }
}

impl FromIterator<(String, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, OsString)>>(pairs: I) -> Self {
        Self { variables: pairs.into_iter().collect() }
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(pairs: [(&str, &str); N]) -> Self {
        pairs.into_iter().map(|(name, value)| (name.to_owned(), OsString::from(value))).collect()
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let environment = Environment::from([("HOME", ""), ("NO_COLOR", "1")]);
        assert_eq!(environment.text("HOME"), None);
        assert_eq!(environment.path("HOME"), None);
        assert_eq!(environment.text("NO_COLOR"), Some("1"));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_utf8_survives_and_such_a_text_is_unset() {
        use std::os::unix::ffi::OsStringExt;
        let value = OsString::from_vec(vec![b'/', 0xff]);
        let environment = Environment::from_iter([("HOME".to_owned(), value.clone())]);
        assert_eq!(environment.path("HOME"), Some(PathBuf::from(value)));
        assert_eq!(environment.text("HOME"), None);
    }

    #[test]
    fn only_our_own_variables_are_listed_and_in_order() {
        let environment =
            Environment::from([("SPELUNK_B", "2"), ("PATH", "x"), ("SPELUNK_A", "1"), ("SPELUNK_C", "")]);
        let own: Vec<_> = environment.own().collect();
        assert_eq!(own, [("SPELUNK_A", OsStr::new("1")), ("SPELUNK_B", OsStr::new("2"))]);
    }

    #[test]
    fn debug_shows_names_and_no_values() {
        let environment = Environment::from([("OPENAI_API_KEY", "sk-123")]);
        assert_eq!(format!("{environment:?}"), r#"{"OPENAI_API_KEY"}"#);
    }

    #[test]
    fn the_process_has_an_environment() {
        assert_ne!(Environment::capture(), Environment::default());
    }
}
