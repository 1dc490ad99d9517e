//! A light English stemmer, so that `retries`, `retried` and `retry` are one word. It only removes a suffix, keeps at
//! least three letters, and leaves words with a digit or a non-ASCII letter unchanged.

/// Stems a lower-case word in place and returns its new length. The first two bytes never change.
pub(crate) fn stem(word: &mut [u8]) -> usize {
    if word.len() < 4 || !word.iter().all(u8::is_ascii_lowercase) {
        return word.len();
    }
    let n_singular = without_plural(word, word.len());
    let n_plain = without_participle(word, n_singular);
    // `cache`, `caches`, `cached` and `caching` become equal without the `e`.
    if n_plain > 3 && word[n_plain - 1] == b'e' { n_plain - 1 } else { n_plain }
}

fn without_plural(word: &mut [u8], n: usize) -> usize {
    let part = &word[..n];
    if n > 4 && part.ends_with(b"ies") {
        word[n - 3] = b'y';
        n - 2
    } else if part.ends_with(b"sses") || (n > 4 && ends_with_any(part, &[b"xes", b"ches", b"shes", b"zes"])) {
        n - 2
    } else if part.ends_with(b"s") && !ends_with_any(part, &[b"ss", b"us", b"is"]) {
        n - 1
    } else {
        n
    }
}

fn without_participle(word: &mut [u8], n: usize) -> usize {
    let part = &word[..n];
    if n > 5 && part.ends_with(b"ied") {
        word[n - 3] = b'y';
        return n - 2;
    }
    let n_root = if part.ends_with(b"ing") {
        n - 3
    } else if part.ends_with(b"ed") && !part.ends_with(b"eed") {
        n - 2
    } else {
        return n;
    };
    let root = &part[..n_root];
    if n_root < 3 || !root.iter().any(|byte| b"aeiouy".contains(byte)) {
        return n;
    }
    let is_doubled = root[n_root - 1] == root[n_root - 2] && !b"aeioulsz".contains(&root[n_root - 1]);
    if is_doubled && n_root > 3 { n_root - 1 } else { n_root }
}

fn ends_with_any(word: &[u8], ends: &[&[u8]]) -> bool {
    ends.iter().any(|end| word.ends_with(end))
}

#[cfg(test)]
mod tests;
