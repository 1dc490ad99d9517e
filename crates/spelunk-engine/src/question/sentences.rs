//! Splits a line of text into sentences.

/// The sentences of a line: split after `.`, `?` or `!` before a space and a capital letter.
pub(crate) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut cuts = vec![0];
    for (idx, c) in line.char_indices() {
        if matches!(c, '.' | '?' | '!') && line.get(idx + 1..).is_some_and(begins_anew) {
            cuts.push(idx + 1);
        }
    }
    cuts.push(line.len());
    let pairs: Vec<(usize, usize)> = cuts.windows(2).map(|pair| (pair[0], pair[1])).collect();
    pairs
        .into_iter()
        .filter_map(|(start, end)| line.get(start..end))
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

fn begins_anew(rest: &str) -> bool {
    rest.strip_prefix(' ').is_some_and(|rest| rest.trim_start().starts_with(char::is_uppercase))
}

#[cfg(test)]
mod tests;
