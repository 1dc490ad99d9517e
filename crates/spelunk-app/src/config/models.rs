//! User-defined models: `[models.fast]` in a settings file, with everything needed to call one. Roles, flags and
//! session code refer to them by name. The fields are settings like all others; only the name before them is free.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use spelunk_model::{Price, Rate};

use super::choice::ProviderChoice;
use super::error::ConfigError;
use super::layer::{Entry, Origin, refused};
use super::settings::{LocalSettings, ModelSettings, Sampling};
use super::suggest::nearest;
use super::table::{AZURE_API_VERSION, Display, Fallback, Kind, MODELS, Reach, Setting, text};
use super::value::{Decimal, Value, WHOLE_MAX, Written};

/// One line for the reference.
pub(crate) const DOC: &str = "Models of your own, each under a name that you choose: `--model fast`, `roles.sub = \"fast\"`, \
                              `llm_query(…, model=\"fast\")`. An example:";
/// The name used in the reference.
pub(crate) const EXAMPLE: &str = "fast";
/// The pattern of a valid name.
pub(crate) const NAME_PATTERN: &str = "^[a-z0-9_-]{1,40}$";

const NAME_BYTES_MAX: usize = 40;

/// The fields of a model, in the order of the reference.
pub(crate) fn fields() -> &'static [Setting] {
    &FIELDS
}

/// The field names, for a message.
pub(super) fn words() -> String {
    fields().iter().map(|field| format!("`{}`", field.word())).collect::<Vec<_>>().join(", ")
}

/// The name in `models.fast`.
pub(super) fn name_in(key: &str) -> Option<&str> {
    key.strip_prefix(MODELS)?.strip_prefix('.')
}

static FIELDS: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    let words = |words: &str| Value::Text(words.to_owned());
    let dollars = |millionths| Value::Number(Decimal { millionths });
    let count = Kind::Whole { min: 1, max: WHOLE_MAX };
    let of_user = |field: Setting| Setting { reach: Reach::UserOnly, ..field };
    vec![
        field(
            "provider",
            Kind::Choice(ProviderChoice::WORDS),
            words("openai"),
            "Who answers; unless set, whoever there is a key for.",
        ),
        field(
            "name",
            Kind::Text,
            words("gpt-5-nano"),
            "The model, as the provider names it; unless set, the provider's default.",
        ),
        of_user(Setting {
            display: Display::Address,
            ..field(
                "base_url",
                Kind::Text,
                words("https://api.openai.com/v1"),
                "Where requests go; unless set, the provider's own address.",
            )
        }),
        of_user(field(
            "key_env",
            Kind::VariableName,
            words("OPENAI_API_KEY"),
            "The environment variable that holds the key; unless set, the provider's usual one.",
        )),
        of_user(Setting {
            display: Display::Secret,
            ..field("key_command", Kind::Text, words("pass show openai"), "A command that prints the key.")
        }),
        of_user(field(
            "command",
            Kind::Text,
            words("my-model --fast"),
            "The program that answers with `provider = \"command\"`, and its arguments; there is no shell.",
        )),
        of_user(field(
            "command_json",
            Kind::YesNo,
            Value::YesNo(true),
            "That program writes JSON lines instead of plain text.",
        )),
        of_user(field(
            "azure_api_version",
            Kind::Text,
            words(AZURE_API_VERSION),
            "The version of Azure's interface.",
        )),
        of_user(field(
            "price_input_usd_per_mtok",
            Kind::Number,
            dollars(50_000),
            "Dollars per million tokens sent.",
        )),
        of_user(field(
            "price_cached_usd_per_mtok",
            Kind::Number,
            dollars(5_000),
            "Dollars per million tokens the provider had cached; unless set, they cost as much as others.",
        )),
        of_user(field(
            "price_output_usd_per_mtok",
            Kind::Number,
            dollars(400_000),
            "Dollars per million tokens generated.",
        )),
        field(
            "context_tokens",
            count,
            Value::Whole(272_000),
            "The model's window: a prompt that is estimated to be longer is refused before it is sent.",
        ),
        field(
            "temperature",
            Kind::Number,
            dollars(700_000),
            "How freely a local model chooses its words; unless set, it takes the likeliest each time.",
        ),
        field(
            "seed",
            Kind::Whole { min: 0, max: u64::from(u32::MAX) },
            Value::Whole(1),
            "Where the dice of a local model begin, with a temperature above 0.",
        ),
        field(
            "requests_per_minute",
            count,
            Value::Whole(500),
            "Requests that the provider takes in a minute, over all runs of a process.",
        ),
        field(
            "tokens_per_minute",
            count,
            Value::Whole(200_000),
            "Tokens that the provider takes in a minute, over all runs of a process.",
        ),
        field(
            "fallback",
            Kind::List,
            Value::List(Vec::new()),
            "Names of the models that are asked, in this order, when this one is out.",
        ),
    ]
});

fn field(word: &str, kind: Kind, example: Value, doc: &'static str) -> Setting {
    Setting { kind, fallback: Fallback::Unset { example }, ..text(word, "", doc) }
}

/// A model as written by the user, every field with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenModel {
    name: String,
    entries: BTreeMap<&'static str, Entry>,
}

/// A model with its settings resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedModel {
    /// The user's name for it.
    pub(crate) alias: String,
    /// Its provider, URL, key and price.
    pub(crate) settings: ModelSettings,
    /// Its context window, if the user sets it.
    pub(crate) context_tokens: Option<u64>,
    /// Its provider's rate per minute, if the user sets it.
    pub(crate) rate: Rate,
    /// The names of its fallbacks, in order.
    pub(crate) fallback: Vec<String>,
}

impl WrittenModel {
    /// A model of that name without any fields.
    pub(super) fn new(name: &str, origin: Origin) -> Result<Self, ConfigError> {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
        let is_name = (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(is_word);
        if is_name && name != "none" {
            return Ok(Self { name: name.to_owned(), entries: BTreeMap::new() });
        }
        Err(ConfigError::ModelName { name: name.chars().take(NAME_BYTES_MAX).collect(), origin })
    }

    /// The field with this name, and the key for errors.
    pub(super) fn field(&self, word: &str, origin: &Origin) -> Result<&'static Setting, ConfigError> {
        fields().iter().find(|field| field.word() == word).ok_or_else(|| {
            let word: String = word.chars().take(NAME_BYTES_MAX).collect();
            let (key, origin) = (self.key(&word), origin.clone());
            if super::layer::is_secret_name(&word) {
                return ConfigError::KeyInSettings { key, origin };
            }
            let meant = nearest(&word, fields().iter().map(Setting::word)).map(|meant| self.key(meant));
            ConfigError::UnknownOfModel { key, meant, origin }
        })
    }

    /// Parses a field and stores it. `shown` is what an error repeats.
    pub(super) fn read(
        &mut self,
        field: &'static Setting,
        written: Written<'_>,
        shown: &str,
        origin: Origin,
    ) -> Result<(), ConfigError> {
        let value = Value::read(field.kind, written)
            .map_err(|refusal| refused(&self.key(field.word()), field, refusal, shown, origin.clone()))?;
        self.entries.insert(field.word(), Entry { value, origin });
        Ok(())
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its entries under full keys, in the order of the reference.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (String, &'static Setting, &Entry)> {
        fields()
            .iter()
            .filter_map(|field| Some((self.key(field.word()), field, self.entries.get(field.word())?)))
    }

    /// The resolved model. `known` lists the names of all models.
    pub(super) fn resolve(&self, known: &[&str], local: &LocalSettings) -> Result<NamedModel, ConfigError> {
        let provider = self.text("provider").and_then(|word| ProviderChoice::of(&word));
        let settings = ModelSettings {
            section: format!("{MODELS}.{}", self.name),
            provider: provider.unwrap_or(ProviderChoice::Auto),
            name: self.text("name"),
            base_url: self.text("base_url"),
            key_env: self.text("key_env"),
            key_command: self.text("key_command"),
            command: self.text("command"),
            command_json: matches!(self.value("command_json"), Some(Value::YesNo(true))),
            azure_api_version: self.text("azure_api_version").unwrap_or_else(|| AZURE_API_VERSION.to_owned()),
            price: self.price()?,
            probe_local: true,
            sampling: self.sampling(),
            local: local.clone(),
        };
        let rate = Rate {
            requests_per_minute: self.whole("requests_per_minute"),
            tokens_per_minute: self.whole("tokens_per_minute"),
        };
        let fallback = self.fallback(known)?;
        let context_tokens = self.whole("context_tokens");
        Ok(NamedModel { alias: self.name.clone(), settings, context_tokens, rate, fallback })
    }

    fn sampling(&self) -> Sampling {
        let temperature = match self.value("temperature") {
            Some(Value::Number(number)) => number.millionths,
            Some(_) | None => 0,
        };
        let seed = self.whole("seed").and_then(|seed| u32::try_from(seed).ok()).unwrap_or_default();
        Sampling { temperature, seed, context_tokens: self.whole("context_tokens") }
    }

    fn fallback(&self, known: &[&str]) -> Result<Vec<String>, ConfigError> {
        let Some(Entry { value: Value::List(names), origin }) = self.entries.get("fallback") else {
            return Ok(Vec::new());
        };
        let others: Vec<&str> = known.iter().copied().filter(|name| *name != self.name).collect();
        for name in names {
            if !others.contains(&name.as_str()) {
                return Err(unknown_model(&self.key("fallback"), name, &others, origin.clone()));
            }
        }
        Ok(names.clone())
    }

    /// Input and output both have a price, or neither has.
    fn price(&self) -> Result<Option<Price>, ConfigError> {
        const WORDS: [&str; 3] =
            ["price_input_usd_per_mtok", "price_cached_usd_per_mtok", "price_output_usd_per_mtok"];
        let number = |word: &str| match self.value(word) {
            Some(Value::Number(number)) => Some(number.millionths),
            Some(_) | None => None,
        };
        let [input, cached, output] = WORDS.map(number);
        let present = WORDS.iter().find_map(|word| self.entries.get(word));
        let half = |word: &str, entry: &Entry| ConfigError::HalfPrice {
            key: self.key(word),
            origin: entry.origin.clone(),
        };
        match (input, output, present) {
            (Some(input), Some(output), _) => Ok(Some(Price {
                input_microusd_per_mtok: input,
                cached_microusd_per_mtok: cached.unwrap_or(input),
                cache_write_microusd_per_mtok: input,
                output_microusd_per_mtok: output,
            })),
            (Some(_), None, Some(entry)) => Err(half(WORDS[2], entry)),
            (None, _, Some(entry)) => Err(half(WORDS[0], entry)),
            (_, _, None) => Ok(None),
        }
    }

    fn key(&self, word: &str) -> String {
        format!("{MODELS}.{}.{word}", self.name)
    }

    fn value(&self, word: &str) -> Option<&Value> {
        self.entries.get(word).map(|entry| &entry.value)
    }

    fn text(&self, word: &str) -> Option<String> {
        match self.value(word) {
            Some(Value::Text(text)) if !text.is_empty() => Some(text.clone()),
            Some(_) | None => None,
        }
    }

    fn whole(&self, word: &str) -> Option<u64> {
        match self.value(word) {
            Some(Value::Whole(whole)) => Some(*whole),
            Some(_) | None => None,
        }
    }
}

/// The error for an unknown model name.
pub(super) fn unknown_model(key: &str, name: &str, known: &[&str], origin: Origin) -> ConfigError {
    let names = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let advice = match nearest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`? The models are {names}"),
        None if names.is_empty() => format!("define it with `[{MODELS}.NAME]`"),
        None => format!("the models are {names}; define another with `[{MODELS}.NAME]`"),
    };
    let name = name.chars().take(NAME_BYTES_MAX).collect();
    ConfigError::UnknownModel { key: key.to_owned(), name, advice: advice.into(), origin }
}

#[cfg(test)]
mod tests;
