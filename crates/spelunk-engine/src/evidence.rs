//! Evidence: checks the citations of a reply against what the model could know. A model that was
//! shown passages can cite only these; if code of the run read the sources, all of them count.
//! Citations that are not found are dropped and counted, so an answer never contains one.

mod language;
mod support;

use spelunk_context::{QueryWatch, Shown, SourceError, View, check_citations};
use spelunk_tables::Tables;
use spelunk_types::{Citation, EventKind, Found};

pub(crate) use self::language::{language_of, not_said};
pub(crate) use self::support::{Excerpt, support};
use crate::sync::{blocking, watched};
use crate::{Answer, Frame, Result};

const CLAIMS_MAX: usize = 50;
const QUOTE_BYTES_MAX: usize = 2000;

/// Splits the reply of a model that worked with code into answer and evidence, and checks the evidence and the citations
/// made outside the text.
pub(crate) async fn check_claims(
    frame: &Frame,
    view: &View,
    reply: &str,
    beside: Vec<Citation>,
) -> Result<Answer> {
    let (text, claims) = claims(reply, beside);
    let here = view.clone();
    // Looking up quotes reads documents.
    let mut checked = blocking(move || check_citations(&here, &claims)).await;
    if view.has_databases() && checked.iter().any(|(claim, _)| is_row(claim)) {
        checked = check_rows(frame, view, checked).await?;
    }
    settle(frame, text, checked, "a quote in the answer is not in the sources").await
}

fn is_row(claim: &Citation) -> bool {
    claim.line == 0 && claim.document.contains('?')
}

/// Looks up the claims that cite rows of databases. The result is recorded, because a database may change.
async fn check_rows(
    frame: &Frame,
    view: &View,
    checked: Vec<(Citation, Found)>,
) -> Result<Vec<(Citation, Found)>> {
    let (rows, others): (Vec<_>, Vec<_>) = checked.into_iter().partition(|(claim, _)| is_row(claim));
    let claims: Vec<Citation> = rows.into_iter().map(|(claim, _)| claim).collect();
    let what = format!("rows {}", serde_json::to_string(&claims).unwrap_or_default());
    let view = view.clone();
    let look = move |watch: &QueryWatch| -> Result<Vec<(Citation, Found)>, SourceError> {
        let mut tables = Tables::of_databases(&view, watch)?;
        let mut check = |claim: Citation| {
            let row = tables.as_mut().and_then(|tables| tables.row(&claim.document));
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            match row {
                Some((document, cells))
                    if !claim.quote.trim().is_empty() && words(&cells).contains(&words(&claim.quote)) =>
                {
                    (Citation { document, ..claim }, Found::Exact)
                }
                Some(_) | None => (claim, Found::Missing),
            }
        };
        let checked = claims.into_iter().map(&mut check).collect();
        tables.as_mut().and_then(Tables::take_lost).map_or(Ok(checked), Err)
    };
    let ms_max = frame.limits().query_ms_max;
    let read = async move { Ok(serde_json::to_string(&watched(ms_max, look).await?).unwrap_or_default()) };
    let found = frame.observe(&what, read).await?;
    let found: Vec<(Citation, Found)> = serde_json::from_str(&found).unwrap_or_default();
    Ok(others.into_iter().chain(found).collect())
}

/// Like [`check_claims`], for a model that saw only `shown`.
pub(crate) async fn check_shown(frame: &Frame, shown: &Shown, reply: &str) -> Result<Answer> {
    let (text, claims) = claims(reply, Vec::new());
    let checked = claims.iter().map(|claim| shown.check(claim)).collect();
    settle(frame, text, checked, "a quote in the answer is not in the text shown to the model").await
}

fn claims(reply: &str, beside: Vec<Citation>) -> (String, Vec<Citation>) {
    let (text, in_text) = split(reply);
    (text, beside.into_iter().chain(in_text).take(CLAIMS_MAX).collect())
}

async fn settle(
    frame: &Frame,
    text: String,
    checked: Vec<(Citation, Found)>,
    none_found: &str,
) -> Result<Answer> {
    let n_claims = checked.len();
    let mut citations: Vec<Citation> = Vec::new();
    for (citation, found) in checked {
        frame.note(EventKind::CitationChecked { citation: citation.clone(), found }).await?;
        if found != Found::Missing && !citations.contains(&citation) {
            citations.push(citation);
        }
    }
    if n_claims > 0 && citations.is_empty() {
        let hint = "do not rely on this answer without checking it".to_owned();
        frame.warn(none_found.to_owned(), hint).await?;
    }
    Ok(Answer::new(text, citations))
}

/// The answer without its evidence block, and the citations of that block.
fn split(reply: &str) -> (String, Vec<Citation>) {
    let Some((before, block)) = reply.rsplit_once("```evidence") else {
        return (reply.trim().to_owned(), Vec::new());
    };
    let (block, after) = block.split_once("```").unwrap_or((block, ""));
    let claims = block.lines().filter_map(claim).take(CLAIMS_MAX).collect();
    (format!("{}\n{}", before.trim_end(), after.trim()).trim().to_owned(), claims)
}

/// Parses `path:12: words` or `shop.db:orders?id=7: words`, optionally as a list item or quoted. The path may contain
/// colons.
pub(crate) fn claim(line: &str) -> Option<Citation> {
    let line = line.trim().trim_start_matches(['-', '*']).trim_start();
    if let Some((address, quote)) = row_claim(line) {
        let document = address.trim_matches(['`', ' ']).to_owned();
        return Some(Citation { document, line: 0, quote: claimed_quote(quote)? });
    }
    let mut from = 0;
    while let Some(colon) = line.get(from..)?.find(':') {
        let (document, rest) = (line.get(..from + colon)?, line.get(from + colon + 1..)?);
        let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = rest.split_at_checked(n_digits)?;
        // A range such as 12-14 counts as its first line.
        let rest = rest.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit());
        if let (Ok(line), Some(quote)) = (number.parse(), rest.strip_prefix(':')) {
            let quote = claimed_quote(quote)?;
            return Some(Citation { document: document.trim_matches(['`', ' ']).to_owned(), line, quote });
        }
        from += colon + 1;
    }
    None
}

/// The address of a row, which has no spaces after its `?`, and the words after it.
fn row_claim(line: &str) -> Option<(&str, &str)> {
    let (path, rest) =
        line.split_once('?').filter(|(path, _)| path.contains([':', '.']) && !path.contains(": "))?;
    let (key, quote) = rest.split_once(':')?;
    let is_key = key.contains('=') && !key.contains(char::is_whitespace);
    let address = line.get(..path.len() + 1 + key.len()).filter(|_| is_key)?;
    Some((address, quote))
}

fn claimed_quote(quote: &str) -> Option<String> {
    let quote = unquoted(quote.trim());
    quote.get(..quote.floor_char_boundary(QUOTE_BYTES_MAX)).map(str::to_owned)
}

fn unquoted(quote: &str) -> &str {
    for (open, close) in [('"', '"'), ('`', '`'), ('“', '”')] {
        if let Some(inner) = quote.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)) {
            return inner;
        }
    }
    quote
}

#[cfg(test)]
mod tests;
