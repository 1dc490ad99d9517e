//! The default models: the newest of medium price, and a cheap one of the same provider for
//! sub-calls. They are derived from the catalogue, so a new catalogue brings new ones.

use super::{Ability, HostedCatalogue, HostedModel};

const WINDOW_TOKENS_MIN: u64 = 200_000;
/// Medium prices, in micro-dollars per million input tokens.
const MEDIUM: std::ops::RangeInclusive<u64> = 1_000_000..=3_000_000;
/// A sub-model costs at most this fraction of the root's model.
const SUB_FRACTION: u64 = 4;
/// Words in the names of models that are not releases.
const UNRELEASED: [&str; 7] = ["preview", "exp", "experimental", "beta", "latest", "search", "audio"];

/// The default models of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultModels {
    /// The model that leads.
    pub root: String,
    /// The model for sub-calls, if there is a cheaper one.
    pub sub: Option<String>,
}

impl HostedCatalogue {
    /// The default models of a provider on this date, among those that `is_offered` accepts.
    pub fn defaults(
        &self,
        provider: &str,
        today: &str,
        is_offered: impl Fn(&str) -> bool,
    ) -> Option<DefaultModels> {
        let (provider, beginning) = match provider {
            "openai-responses" => ("openai", ""),
            // Profiles that work in every region.
            "bedrock" => ("bedrock", "global.anthropic."),
            other => (other, ""),
        };
        let usable: Vec<HostedModel<'_>> = self
            .all()
            .filter(|model| model.provider == provider && model.name.starts_with(beginning))
            .filter(|model| is_usable(model, today))
            .filter(|model| is_offered(model.name))
            .collect();
        let input = |model: &HostedModel<'_>| model.price.map_or(0, |price| price.input_microusd_per_mtok);
        let newest = |of: &dyn Fn(u64) -> bool| {
            let fitting = usable.iter().filter(|model| of(input(model)));
            fitting.max_by_key(|model| (version(model.name), std::cmp::Reverse((input(model), model.name))))
        };
        let root = newest(&|price| MEDIUM.contains(&price))?;
        let sub = newest(&|price| price <= input(root) / SUB_FRACTION);
        Some(DefaultModels { root: root.name.to_owned(), sub: sub.map(|model| model.name.to_owned()) })
    }
}

fn is_usable(model: &HostedModel<'_>, today: &str) -> bool {
    let is_released = !model.name.split(['-', '.']).any(|word| UNRELEASED.contains(&word));
    model.price.is_some()
        && model.can(Ability::Tools)
        && model.window_tokens.is_some_and(|tokens| tokens >= WINDOW_TOKENS_MIN)
        && !model.is_retired(today)
        && is_released
}

/// The version in a name: `6.1` of `gpt-6.1-sol`, `5-5` of `claude-sonnet-5-5`. A date is not a version.
pub(super) fn version(name: &str) -> Vec<u64> {
    let digits = |word: &str| {
        let word = word.trim_start_matches(|c: char| !c.is_ascii_digit());
        word.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().to_owned()
    };
    let words = name.split(['-', '.']).map(digits).skip_while(String::is_empty);
    let numbers = words.take_while(|word| (1..=2).contains(&word.len()));
    numbers.filter_map(|word| word.parse().ok()).collect()
}
