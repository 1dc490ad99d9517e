//! KV cache cells: the memory of a model's attention, one per token. Calls share cells by position: this module decides
//! which earlier sequence a new call continues, and what is evicted to make room. Tokens are plain numbers here.

/// A sequence is continued if it loses at most a quarter of what is kept. A reply that comes back
/// as a message may be tokenized differently, so its last few tokens may not match.
const LOSS_DIVISOR: usize = 4;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sequence {
    pub(super) tokens: Vec<i32>,
    /// Cells reserved for the call that uses it; `None` if no call does.
    pub(super) reserved: Option<usize>,
    /// The call counter at its last use.
    pub(super) used: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Start {
    /// The sequence assigned to it.
    pub(super) own: usize,
    /// The sequence whose prefix it reuses; its own if nothing has to be copied.
    pub(super) from: usize,
    /// Tokens that need not be computed.
    pub(super) n_common: usize,
    /// The sequences to evict first, as bits.
    pub(super) forgotten: u64,
}

/// A sequence for a call with this prompt and reply length; `None` while there is no room. At least
/// the last token of the prompt is computed, because its output is not cached.
pub(super) fn place(sequences: &[Sequence], prompt: &[i32], n_reply: usize, n_cells: usize) -> Option<Start> {
    let needed = prompt.len().saturating_add(n_reply);
    let common = |sequence: &Sequence| {
        let same = sequence.tokens.iter().zip(prompt).take_while(|(one, other)| one == other).count();
        same.min(prompt.len().saturating_sub(1))
    };
    let free = || sequences.iter().enumerate().filter(|(_, sequence)| sequence.reserved.is_none());
    let (from, n_common) = sequences.iter().map(common).enumerate().max_by_key(|(idx, n_common)| {
        // Prefer a free sequence among equals: nothing has to be copied then.
        (*n_common, sequences[*idx].reserved.is_none(), usize::MAX - idx)
    })?;
    let is_free = sequences[from].reserved.is_none();
    let n_lost = sequences[from].tokens.len() - n_common;
    // A free sequence that would lose little is continued; otherwise the prefix is copied into the least recently used
    // one.
    let own = if is_free && n_common > 0 && n_lost.saturating_mul(LOSS_DIVISOR) <= n_common {
        from
    } else {
        free().min_by_key(|(idx, sequence)| (sequence.used, *idx)).map(|(idx, _)| idx)?
    };
    let mut held: usize =
        sequences.iter().enumerate().filter(|(idx, _)| *idx != own).map(|(_, sequence)| held(sequence)).sum();
    let mut forgotten = 0_u64;
    let mut others: Vec<usize> =
        free().map(|(idx, _)| idx).filter(|idx| *idx != own && *idx != from).collect();
    others.sort_by_key(|idx| sequences[*idx].used);
    others.extend((from != own && is_free).then_some(from));
    for idx in others {
        if held.saturating_add(needed) <= n_cells {
            break;
        }
        held -= self::held(&sequences[idx]);
        forgotten |= 1 << idx;
    }
    if held.saturating_add(needed) > n_cells {
        return None;
    }
    // The source is copied before anything is evicted, so it may itself be evicted.
    Some(Start { own, from, n_common, forgotten })
}

/// Cells that a sequence uses or has reserved.
fn held(sequence: &Sequence) -> usize {
    sequence.reserved.unwrap_or_default().max(sequence.tokens.len())
}

#[cfg(test)]
mod tests;
