//! The flags that choose a model, converted to settings.

use spelunk_types::truncate;

use super::{FlagValue, at_provider};
use crate::failure::Usage;

/// `--model anthropic/claude-x` also sets the provider; `--model none` disables models.
pub fn model_values(
    model: Option<String>,
    sub_model: Option<String>,
    base_url: Option<String>,
) -> Result<Vec<FlagValue>, Usage> {
    for (flag, typed) in [("--model", &model), ("--sub-model", &sub_model)] {
        if typed.as_deref().is_some_and(names_nobody) {
            let typed = truncate(typed.as_deref().unwrap_or_default(), 60);
            return Err(Usage {
                message: format!("`{flag} {typed}` does not name a model"),
                hint:
                    "write it as `anthropic/claude-sonnet-4-5`, `local:NAME` or a NAME from `[models.NAME]`"
                        .into(),
            });
        }
    }
    let mut values = Vec::new();
    if let Some(model) = model {
        match at_provider(&model) {
            Some((provider, name)) => {
                values.push(FlagValue::new("--model", "model.provider", provider.word()));
                values.push(FlagValue::new("--model", "model.name", name));
            }
            None if model == "none" => values.push(FlagValue::new("--model", "model.provider", "none")),
            None => values.push(FlagValue::new("--model", "model.name", model)),
        }
    }
    values.extend(sub_model.map(|model| FlagValue::new("--sub-model", "model.sub", model)));
    values.extend(base_url.map(|url| FlagValue::new("--base-url", "model.base_url", url)));
    Ok(values)
}

/// Empty, or only half of PROVIDER/NAME.
fn names_nobody(typed: &str) -> bool {
    let is_half =
        typed.split_once('/').is_some_and(|(provider, name)| provider.is_empty() || name.is_empty());
    typed.trim().is_empty() || typed.chars().any(char::is_control) || typed == "local:" || is_half
}
