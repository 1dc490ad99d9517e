//! The catalogue of hosted models: windows, prices and abilities, built from a maintained data set. The program contains
//! a catalogue, which a newer one can replace. A name that is not listed has no price, never a guessed one.

mod choice;
mod line;
mod litellm;

use std::borrow::Cow;
use std::sync::OnceLock;

use spelunk_types::ModelRef;

pub use self::choice::DefaultModels;
pub use self::line::{Ability, HostedModel};
use crate::price::Price;

/// A complete catalogue has at least this many models.
const MODELS_MIN: usize = 300;
const BYTES_MAX: usize = 4 << 20;
const TAKEN: &str = "# taken ";
const END: &str = "# end ";

static CURRENT: OnceLock<HostedCatalogue> = OnceLock::new();
static BUILT_IN: HostedCatalogue =
    HostedCatalogue { text: Cow::Borrowed(include_str!("../data/models.txt")) };

/// Hosted models by provider and name.
#[derive(Debug, Clone)]
pub struct HostedCatalogue {
    /// Lines sorted by provider and name. A lookup searches the text: parsing all of it at every start would take longer.
    text: Cow<'static, str>,
}

/// Why a catalogue cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// It is too short, too long, or does not end with its number of models.
    #[error("the catalogue is not valid: {what}")]
    Cut {
        /// What is missing.
        what: String,
    },
    /// A line cannot be read.
    #[error("line {number} of the catalogue is not valid: {what}")]
    Line {
        /// The line number, from 1.
        number: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

impl HostedCatalogue {
    /// The catalogue in use: the built-in one, unless [`install`](Self::install) replaced it.
    pub fn current() -> &'static Self {
        CURRENT.get().unwrap_or(&BUILT_IN)
    }

    /// The catalogue that is part of the program.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Parses a catalogue and checks every line.
    pub fn parse(text: String) -> Result<Self, CatalogueError> {
        check(&text)?;
        Ok(Self { text: Cow::Owned(text) })
    }

    /// Converts the data set of the package `litellm`. `taken_on` is the date, `YYYY-MM-DD`.
    pub fn of_litellm(json: &str, version: &str, taken_on: &str) -> Result<Self, CatalogueError> {
        Self::parse(litellm::convert(json, version, taken_on)?)
    }

    /// Uses this catalogue in the whole process, unless the built-in one is newer. The first call wins.
    pub fn install(self) {
        if self.taken_on() >= BUILT_IN.taken_on() {
            CURRENT.get_or_init(|| self);
        }
    }

    /// The text of the catalogue.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The date of its data, `YYYY-MM-DD`.
    pub fn taken_on(&self) -> &str {
        self.taken().0
    }

    /// The source of its data, `litellm 1.108.4`.
    pub fn source(&self) -> &str {
        self.taken().1
    }

    fn taken(&self) -> (&str, &str) {
        let taken = self.text.lines().find_map(|line| line.strip_prefix(TAKEN));
        taken.and_then(|taken| taken.split_once(" from ")).unwrap_or_default()
    }

    /// Every model, sorted by provider and name.
    pub fn all(&self) -> impl Iterator<Item = HostedModel<'_>> {
        let lines = self.text.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| line::read(line).ok())
    }

    /// A model by its provider's name for it. A dated name (`gpt-5-2025-08-07`) or `-latest` means
    /// the plain name unless it is listed itself, and a Bedrock profile (`us.`) without its own
    /// line means its model. Any other longer name is another model.
    pub fn find(&self, provider: &str, name: &str) -> Option<HostedModel<'_>> {
        match provider {
            // The same models in another format.
            "openai-responses" => self.plain("openai", name),
            "azure" => self.plain("azure", name).or_else(|| self.plain("openai", name)),
            "bedrock" => {
                let name = name.rsplit('/').next().unwrap_or(name);
                let bare = name.split_once('.').filter(|(region, _)| REGIONS.contains(region));
                self.line(provider, name).or_else(|| self.line(provider, bare?.1))
            }
            "openrouter" => self.at_openrouter(name),
            _ => self.plain(provider, name),
        }
    }

    /// The same for a configured model: if it speaks OpenAI's format, its address tells whose models it serves.
    pub fn find_reference(&self, model: &ModelRef) -> Option<HostedModel<'_>> {
        let host = model.base_url.split("://").nth(1).and_then(|rest| rest.split(['/', ':']).next());
        let known = HOSTS.iter().find(|(known, _)| model.provider == "openai" && host == Some(known));
        self.find(known.map_or(model.provider.as_str(), |(_, provider)| provider), &model.name)
    }

    fn plain(&self, provider: &str, name: &str) -> Option<HostedModel<'_>> {
        self.line(provider, name).or_else(|| self.line(provider, undated(name)?))
    }

    /// OpenRouter charges what the maker charges, and calls a model `MAKER/NAME`.
    fn at_openrouter(&self, name: &str) -> Option<HostedModel<'_>> {
        let (maker, name) = name.split_once('/')?;
        let provider =
            MAKERS.iter().find_map(|(written, provider)| (*written == maker).then_some(*provider))?;
        let dashed = || name.replace('.', "-");
        self.plain(provider, name).or_else(|| self.plain(provider, &dashed()))
    }

    fn line(&self, provider: &str, name: &str) -> Option<HostedModel<'_>> {
        if provider.contains(char::is_whitespace) || name.contains(char::is_whitespace) {
            return None;
        }
        let at = self.text.find(&format!("\n{provider}\t{name}\t"))?;
        line::read(self.text.get(at + 1..)?.lines().next()?).ok()
    }
}

/// Parses a line of a catalogue and writes it again; `None` if it is rejected. For the fuzz targets.
pub fn catalogue_line(line: &str) -> Option<String> {
    line::read(line).ok().map(|model| model.written())
}

/// The list price of a model, if known.
pub fn known_price(provider: &str, model: &str) -> Option<Price> {
    HostedCatalogue::current().find(provider, model)?.price
}

/// The price of a model: the configured one, free on this machine, or the list price.
pub(crate) fn price_of(reference: &ModelRef, is_local: bool, told: Option<Price>) -> Option<Price> {
    match told {
        Some(price) => Some(price),
        None if is_local => Some(Price::FREE),
        None => HostedCatalogue::current().find_reference(reference)?.price,
    }
}

const REGIONS: [&str; 7] = ["us", "us-gov", "eu", "apac", "jp", "au", "global"];

/// Providers that speak OpenAI's format, by the host of their address.
const HOSTS: [(&str, &str); 8] = [
    ("api.groq.com", "groq"),
    ("api.mistral.ai", "mistral"),
    ("api.deepseek.com", "deepseek"),
    ("api.x.ai", "xai"),
    ("api.together.xyz", "together"),
    ("api.together.ai", "together"),
    ("api.fireworks.ai", "fireworks"),
    ("openrouter.ai", "openrouter"),
];

/// The makers in OpenRouter's names.
const MAKERS: [(&str, &str); 6] = [
    ("anthropic", "anthropic"),
    ("openai", "openai"),
    ("google", "gemini"),
    ("mistralai", "mistral"),
    ("deepseek", "deepseek"),
    ("x-ai", "xai"),
];

/// The name without a date or `-latest` at its end.
fn undated(name: &str) -> Option<&str> {
    ["-latest", "-00000000", "-0000-00-00"].iter().find_map(|shape| {
        let (stem, tail) = name.split_at_checked(name.len().checked_sub(shape.len())?)?;
        let same = |(here, wanted): (char, char)| {
            if wanted == '0' { here.is_ascii_digit() } else { here == wanted }
        };
        tail.chars().zip(shape.chars()).all(same).then_some(stem)
    })
}

/// Checks every line of a catalogue, its date, its order and its number of models.
fn check(text: &str) -> Result<(), CatalogueError> {
    let cut = |what: &str| CatalogueError::Cut { what: what.to_owned() };
    if text.len() > BYTES_MAX {
        return Err(cut("it is too long"));
    }
    let mut before = ("", "");
    let mut n_models = 0;
    let mut ends_with = None;
    let mut is_dated = false;
    for (idx, line) in text.lines().enumerate() {
        let wrong = |what| CatalogueError::Line { number: idx + 1, what };
        if let Some(taken) = line.strip_prefix(TAKEN) {
            let date = taken.split_once(" from ").map(|(date, _)| date);
            is_dated = date.is_some_and(line::is_date);
        } else if let Some(end) = line.strip_prefix(END) {
            ends_with = Some((idx, end));
        } else if !line.starts_with('#') {
            let model = line::read(line).map_err(wrong)?;
            let place = (model.provider, model.name);
            if place <= before {
                return Err(wrong("it occurs twice or out of order"));
            }
            (before, n_models) = (place, n_models + 1);
        }
    }
    let is_last = |idx: usize| idx + 1 == text.lines().count() && text.ends_with('\n');
    match ends_with {
        Some((idx, end)) if is_last(idx) && end == n_models.to_string() => {}
        Some(_) | None => return Err(cut("its end is missing")),
    }
    if !is_dated {
        return Err(cut("its date is missing"));
    }
    if n_models < MODELS_MIN {
        return Err(cut(&format!("it has only {n_models} models")));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
