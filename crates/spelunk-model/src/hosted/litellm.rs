//! Converts the data set of the package `litellm`: one JSON object of models by name. It describes
//! over a hundred services; only the models that this program can call are kept.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::line::{is_date, is_plausible, is_word};
use super::{Ability, CatalogueError, END, HostedModel, TAKEN};
use crate::{Price, PriceAbove};

/// Their name for a provider, ours, and the prefix of model names that is not part of the provider's own name.
const PROVIDERS: [(&str, &str, &str); 14] = [
    ("anthropic", "anthropic", ""),
    ("azure", "azure", "azure/"),
    ("bedrock", "bedrock", ""),
    ("bedrock_converse", "bedrock", ""),
    ("deepseek", "deepseek", "deepseek/"),
    ("fireworks_ai", "fireworks", "fireworks_ai/"),
    ("fireworks_ai-embedding-models", "fireworks", "fireworks_ai/"),
    ("gemini", "gemini", "gemini/"),
    ("groq", "groq", "groq/"),
    ("mistral", "mistral", "mistral/"),
    ("openai", "openai", ""),
    ("openrouter", "openrouter", "openrouter/"),
    ("together_ai", "together", "together_ai/"),
    ("xai", "xai", "xai/"),
];

pub(super) fn convert(json: &str, version: &str, taken_on: &str) -> Result<String, CatalogueError> {
    let entries: BTreeMap<String, Value> = serde_json::from_str(json)
        .map_err(|error| CatalogueError::Cut { what: format!("the data set is not valid: {error}") })?;
    let mut lines = BTreeMap::new();
    for (key, entry) in &entries {
        let Some(model) = model(key, entry) else { continue };
        lines.insert((model.provider, model.name), model.written());
    }
    let mut text = "# Hosted models: provider, name, window, longest reply, dollars per million tokens (input/output/cached \
                    input/input written to a cache), the same above a prompt size, abilities, retired on.\n"
        .to_owned();
    let _ = writeln!(text, "{TAKEN}{taken_on} from litellm {version}");
    for line in lines.values() {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "{END}{}", lines.len());
    Ok(text)
}

/// The model of an entry; `None` if this program cannot call it by that name.
fn model<'a>(key: &'a str, entry: &'a Value) -> Option<HostedModel<'a>> {
    let is_embedding = match entry.get("mode")?.as_str()? {
        "chat" | "responses" => false,
        "embedding" => true,
        _ => return None,
    };
    let theirs = entry.get("litellm_provider")?.as_str()?;
    let (_, provider, beginning) = PROVIDERS.iter().find(|(known, ..)| *known == theirs)?;
    let name = key.strip_prefix(beginning)?;
    // Entries for regions, commitments and fine-tuned models have names that no request can use.
    let is_path = matches!(*provider, "anthropic" | "azure" | "bedrock" | "openai") && name.contains('/');
    if !is_word(name) || is_path || name.starts_with("ft:") || name.contains('*') {
        return None;
    }
    let is_able = |name: &str| entry.get(name).and_then(Value::as_bool) == Some(true);
    let abilities = [
        (Ability::Tools, is_able("supports_function_calling")),
        (Ability::Schemas, is_able("supports_response_schema")),
        (Ability::Vision, is_able("supports_vision")),
        (Ability::Pdf, is_able("supports_pdf_input")),
        (Ability::Reasoning, is_able("supports_reasoning")),
        (Ability::Caching, is_able("supports_prompt_caching")),
        (Ability::Embedding, is_embedding),
    ];
    let retired_on = entry.get("deprecation_date").and_then(Value::as_str).filter(|date| is_date(date));
    Some(HostedModel {
        provider,
        name,
        window_tokens: tokens(entry, "max_input_tokens"),
        output_tokens_max: tokens(entry, "max_output_tokens"),
        price: price(entry, is_embedding),
        abilities: abilities.iter().filter(|(_, has)| *has).map(|(ability, _)| *ability).collect(),
        retired_on,
    })
}

fn tokens(entry: &Value, name: &str) -> Option<u64> {
    let number = entry.get(name)?;
    // Some numbers are written as `4096.0`.
    let number = number.as_u64().or_else(|| whole(number.as_f64()?))?;
    (1..=100_000_000).contains(&number).then_some(number)
}

/// Its price; `None` if it has none or an implausible one.
fn price(entry: &Value, is_embedding: bool) -> Option<Price> {
    let base = rates(entry, "", [0; 4], is_embedding)?;
    let above = entry.as_object()?.keys().find_map(|key| {
        let size = key.strip_prefix("input_cost_per_token_above_")?.strip_suffix("k_tokens")?;
        Some((size.parse::<u64>().ok()?.checked_mul(1_000)?, format!("_above_{size}k_tokens")))
    });
    // A model whose second price is unusable has no price: the first alone would be too low.
    let above = match above {
        None => None,
        Some((prompt_tokens, suffix)) => {
            let microusd_per_mtok = rates(entry, &suffix, base, is_embedding)?;
            Some(PriceAbove { prompt_tokens, microusd_per_mtok })
        }
    };
    Some(Price::of(base, above))
}

/// Input, output, cached input and input written to the cache. Without a price for cached input, it costs the same.
fn rates(entry: &Value, suffix: &str, base: [u64; 4], is_embedding: bool) -> Option<[u64; 4]> {
    let rate = |name: &str| {
        let value = entry.get(format!("{name}{suffix}"))?.as_f64()?;
        whole(value * 1e12)
    };
    let input = rate("input_cost_per_token")?;
    let output = if is_embedding { 0 } else { rate("output_cost_per_token").unwrap_or(base[1]) };
    let cached = rate("cache_read_input_token_cost").filter(|cached| (1..=input).contains(cached));
    let cache_write = rate("cache_creation_input_token_cost").unwrap_or(input).max(input);
    let rates = [input, output, cached.unwrap_or(input), cache_write];
    is_plausible(rates, is_embedding).then_some(rates)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is in the range of whole numbers"
)]
fn whole(number: f64) -> Option<u64> {
    (number.is_finite() && (0.0..1e15).contains(&number)).then(|| number.round() as u64)
}
