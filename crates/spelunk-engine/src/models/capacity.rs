//! Model capacity: how much text a model can read at once without overlooking things. A large model
//! can use its whole window. A small one misses a line in ten thousand tokens that it finds in five
//! hundred, so it gets less text at a time, and other prompts.

use spelunk_types::{Limits, ModelRef};

/// Models with at most this many million parameters are small.
const SMALL_MILLIONS_MAX: f64 = 4_000.0;
/// Smaller numbers are not a model size: `1m` often names a window.
const NAMED_MILLIONS_MIN: f64 = 20.0;
/// How many tokens a small model reads at once. On the development half of `eval/real`, a model of 1.5B answers 123 of 208
/// questions right and 28 wrong with 1,500, 116 and 29 with 2,000, 117 and 31 with 1,000.
const SMALL_SPAN_TOKENS: u64 = 1_500;
/// A model with at least this span is treated as a large one.
const LARGE_SPAN_TOKENS_MIN: u64 = 6_000;

/// How much text a model can read at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelCapacity {
    /// In tokens; `None` if only the window limits it.
    span_tokens: Option<u64>,
}

impl ModelCapacity {
    /// A model that can use its whole window.
    pub const LARGE: Self = Self { span_tokens: None };

    /// The capacity of a model: from the settings, otherwise from the size in its name or of its file.
    pub fn of(model: &ModelRef, limits: &Limits) -> Self {
        let by_file = || model.provider == "local" && is_small(&model.base_url);
        let by_name = || (is_small(&model.name) || by_file()).then_some(SMALL_SPAN_TOKENS);
        let span_tokens =
            if limits.reader_tokens_max > 0 { Some(limits.reader_tokens_max) } else { by_name() };
        Self { span_tokens }
    }

    /// Whether it gets only a few lines at a time.
    pub fn is_small(self) -> bool {
        self.span_tokens.is_some_and(|tokens| tokens < LARGE_SPAN_TOKENS_MIN)
    }

    /// How many of `tokens_max` tokens it reads at once.
    pub fn span(self, tokens_max: u64) -> u64 {
        self.span_tokens.map_or(tokens_max, |tokens| tokens.min(tokens_max))
    }
}

/// Whether a name suggests a small model: `qwen2.5-coder-1.5b`, `llama3.2:3b`, `smollm2-135m`. If a name has several
/// sizes, the largest counts: `qwen3-30b-a3b`. Some servers report the path of the file: `/models/half-0.5b.gguf`.
fn is_small(name: &str) -> bool {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.strip_suffix(".gguf").unwrap_or(name);
    let words = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let sizes = words.filter_map(millions);
    sizes.reduce(f64::max).is_some_and(|largest| largest <= SMALL_MILLIONS_MAX)
}

/// Parses `1.5b`, `135M`, `a3b`, `8x7b` as millions of parameters.
fn millions(word: &str) -> Option<f64> {
    let word = word.to_ascii_lowercase();
    let (number, unit) = match (word.strip_suffix('b'), word.strip_suffix('m')) {
        (Some(number), _) => (number, 1_000.0),
        (None, Some(number)) => (number, 1.0),
        (None, None) => return None,
    };
    let number = number.trim_start_matches(['a', 'e']);
    let factors = number.split('x').map(|factor| factor.parse::<f64>().ok());
    let product = factors.reduce(|a, b| Some(a? * b?))??;
    Some(product * unit).filter(|millions| millions.is_finite() && *millions >= NAMED_MILLIONS_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(name: &str, reader_tokens_max: u64) -> ModelCapacity {
        let model = ModelRef { provider: "openai".into(), name: name.into(), base_url: String::new() };
        ModelCapacity::of(&model, &Limits { reader_tokens_max, ..Limits::default() })
    }

    #[test]
    fn names_tell_sizes() {
        let small = [
            "coder-1.5b",
            "Qwen2.5-Coder-1.5B-Instruct",
            "llama3.2:3b",
            "smollm2-135m",
            "local/half_0.5b-q4",
        ];
        for name in small.into_iter().chain(["/disk-70b/half-0.5b.gguf", "C:\\models\\half-0.5b.gguf"]) {
            assert!(reader(name, 0).is_small(), "{name}");
        }
        let large =
            ["gpt-5", "qwen3-30b-a3b", "mixtral-8x7b", "llama-3.1-70b", "claude-opus-4-8", "gpt-oss-20b"];
        for name in large.into_iter().chain([
            "",
            "b",
            "m",
            "xb",
            "1xb",
            "infb",
            "nanb",
            "0b",
            "web",
            "opus[1m]",
            "small-1b/large.gguf",
        ]) {
            assert!(!reader(name, 0).is_small(), "{name}");
        }
    }

    #[test]
    fn the_file_of_a_local_model_tells_its_size() {
        let reader = |provider: &str, base_url: &str| {
            let model =
                ModelRef { provider: provider.into(), name: "mine".into(), base_url: base_url.into() };
            ModelCapacity::of(&model, &Limits::default())
        };
        assert!(reader("local", "local:mine#1117320768-1.5B").is_small());
        assert!(!reader("local", "local:mine#1117320768-7B").is_small());
        assert!(!reader("local", "local:mine#1117320768").is_small());
        assert!(!reader("openai", "http://rack-1.5b:8000/v1").is_small());
    }

    #[test]
    fn settings_know_better_than_names() {
        assert!(reader("gpt-5", 1_000).is_small());
        assert!(!reader("coder-1.5b", 100_000).is_small());
        assert_eq!(reader("coder-1.5b", 0).span(10_000), SMALL_SPAN_TOKENS);
        assert_eq!(reader("coder-1.5b", 0).span(500), 500);
        assert_eq!(ModelCapacity::LARGE.span(10_000), 10_000);
    }
}
