//! One line of the catalogue: provider, name, window, longest reply, price, price above a prompt
//! size, abilities and retirement date, separated by tabs. `-` means unknown.

use crate::{Price, PriceAbove};

/// A hosted model of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedModel<'a> {
    /// Its provider, by this program's name for it.
    pub provider: &'a str,
    /// The provider's name for it.
    pub name: &'a str,
    /// The longest prompt.
    pub window_tokens: Option<u64>,
    /// The longest reply.
    pub output_tokens_max: Option<u64>,
    /// What it costs.
    pub price: Option<Price>,
    /// What it can do.
    pub abilities: Vec<Ability>,
    /// When its provider retires it, `YYYY-MM-DD`.
    pub retired_on: Option<&'a str>,
}

/// What a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ability {
    /// It calls tools.
    Tools,
    /// Its replies match a JSON Schema.
    Schemas,
    /// It reads images.
    Vision,
    /// It reads PDF.
    Pdf,
    /// It reasons before it answers.
    Reasoning,
    /// Its provider caches the beginning of a prompt.
    Caching,
    /// It returns vectors and generates nothing.
    Embedding,
}

impl Ability {
    /// Every ability, with the letter of its column and its word.
    pub(super) const ALL: [(Self, char, &str); 7] = [
        (Self::Tools, 't', "tools"),
        (Self::Schemas, 's', "schemas"),
        (Self::Vision, 'v', "vision"),
        (Self::Pdf, 'p', "pdf"),
        (Self::Reasoning, 'r', "reasoning"),
        (Self::Caching, 'c', "caching"),
        (Self::Embedding, 'e', "embedding"),
    ];

    /// The word for messages and JSON.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(ability, ..)| *ability == self).map_or("", |(_, _, word)| word)
    }
}

impl HostedModel<'_> {
    /// Whether it has this ability.
    pub fn can(&self, ability: Ability) -> bool {
        self.abilities.contains(&ability)
    }

    /// Whether its provider has retired it by this date, `YYYY-MM-DD`.
    pub fn is_retired(&self, today: &str) -> bool {
        self.retired_on.is_some_and(|date| date <= today)
    }

    pub(super) fn written(&self) -> String {
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let rates = |rates: [u64; 4]| rates.map(dollars).join("/");
        let price = self.price.map_or_else(|| "-".to_owned(), |price| rates(price.rates(0)));
        let above = self.price.and_then(|price| price.above).map_or_else(
            || "-".to_owned(),
            |above| format!("{}:{}", above.prompt_tokens, rates(above.microusd_per_mtok)),
        );
        let own = Ability::ALL.iter().filter(|(ability, ..)| self.can(*ability));
        let letters: String = own.map(|(_, letter, _)| *letter).collect();
        [
            self.provider.to_owned(),
            self.name.to_owned(),
            number(self.window_tokens),
            number(self.output_tokens_max),
            price,
            above,
            if letters.is_empty() { "-".to_owned() } else { letters },
            self.retired_on.unwrap_or("-").to_owned(),
        ]
        .join("\t")
    }
}

/// Parses a line; the error says what is wrong with it.
pub(super) fn read(line: &str) -> Result<HostedModel<'_>, &'static str> {
    let mut columns = line.split('\t');
    let mut next = || columns.next().ok_or("a column is missing");
    let (provider, name) = (next()?, next()?);
    let (window, output, price, above, letters, retired) =
        (next()?, next()?, next()?, next()?, next()?, next()?);
    if columns.next().is_some() {
        return Err("it has too many columns");
    }
    if !is_word(provider) || !is_word(name) {
        return Err("its name contains invalid characters");
    }
    let abilities = abilities(letters)?;
    let is_embedding = abilities.contains(&Ability::Embedding);
    Ok(HostedModel {
        provider,
        name,
        window_tokens: unless_dash(window, tokens)?,
        output_tokens_max: unless_dash(output, tokens)?,
        price: unless_dash(price, |text| priced(text, above, is_embedding))?,
        abilities,
        retired_on: unless_dash(retired, |text| is_date(text).then_some(text).ok_or("its date is wrong"))?,
    })
}

/// `YYYY-MM-DD`.
pub(super) fn is_date(text: &str) -> bool {
    let is_at_place =
        |(idx, byte): (usize, u8)| if matches!(idx, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(is_at_place)
}

/// A name without spaces and control characters, of a plausible length.
pub(super) fn is_word(text: &str) -> bool {
    (1..=200).contains(&text.len()) && !text.starts_with('#') && text.chars().all(|c| c.is_ascii_graphic())
}

fn unless_dash<'a, T>(
    text: &'a str,
    read: impl FnOnce(&'a str) -> Result<T, &'static str>,
) -> Result<Option<T>, &'static str> {
    if text == "-" { Ok(None) } else { read(text).map(Some) }
}

fn tokens(text: &str) -> Result<u64, &'static str> {
    let number = text.parse().ok().filter(|number| (1..=100_000_000).contains(number));
    number.ok_or("its number of tokens is not valid")
}

fn abilities(text: &str) -> Result<Vec<Ability>, &'static str> {
    if text == "-" {
        return Ok(Vec::new());
    }
    let found =
        |letter| Ability::ALL.iter().find(|(_, known, _)| *known == letter).map(|(ability, ..)| *ability);
    text.chars().map(found).collect::<Option<Vec<_>>>().ok_or("its abilities are not valid")
}

fn priced(text: &str, above: &str, is_embedding: bool) -> Result<Price, &'static str> {
    let rates_above = unless_dash(above, |text| {
        let (size, text) = text.split_once(':').ok_or("its second price has no prompt size")?;
        let microusd_per_mtok = rates(text, is_embedding)?;
        Ok(PriceAbove { prompt_tokens: tokens(size)?, microusd_per_mtok })
    });
    Ok(Price::of(rates(text, is_embedding)?, rates_above?))
}

/// Input, output, cached input and input written to the cache, in micro-dollars per million tokens.
fn rates(text: &str, is_embedding: bool) -> Result<[u64; 4], &'static str> {
    let mut parts = text.split('/').map(microusd);
    let mut next = || parts.next().flatten().ok_or("its price is not valid");
    let rates = [next()?, next()?, next()?, next()?];
    if parts.next().is_some() {
        return Err("its price is not valid");
    }
    if is_plausible(rates, is_embedding) { Ok(rates) } else { Err("its price is not plausible") }
}

/// Whether no price is zero, none is excessive, and reading the cache is cheaper than writing it.
/// An embedding has no output.
pub(super) fn is_plausible([input, output, cached, cache_write]: [u64; 4], is_embedding: bool) -> bool {
    const MOST: u64 = 2_000_000_000;
    let has_output = if is_embedding { output == 0 } else { (1..=MOST).contains(&output) };
    let has_cache = (1..=input).contains(&cached) && (input..=input.saturating_mul(4)).contains(&cache_write);
    (1..=MOST).contains(&input) && has_output && has_cache
}

/// `0.125` dollars as micro-dollars: digits, and at most six after the point.
fn microusd(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || whole.len() > 6 || part.len() > 6 {
        return None;
    }
    // A whole catalogue is read at every start, so nothing is allocated here.
    let mut microusd = 0;
    for byte in whole.bytes().chain(part.bytes()) {
        microusd = microusd * 10 + u64::from(byte.is_ascii_digit().then(|| byte - b'0')?);
    }
    Some((part.len()..6).fold(microusd, |number, _| number * 10))
}

fn dollars(microusd: u64) -> String {
    let text = format!("{}.{:06}", microusd / 1_000_000, microusd % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
