//! The rate limit of a model for the whole fleet. It is divided into shares, each held by at most one
//! node. A node takes its part of the shares and gives back the others; those of a lost node expire like
//! leases. So all nodes together stay within the limit, and a node without a share sends nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use spelunk_model::Rate;
use spelunk_types::ModelRef;

use crate::nodes::{entries_below, key_of};
use crate::{AGAIN, Fleet, Result, lock, refused};

/// The number of shares of a rate, unless it allows fewer requests per minute.
const SHARES: u64 = 64;
/// A share is renewed this many times before it would expire.
const RENEWALS: u32 = 4;

/// This node's shares of a model's rate.
pub(crate) struct Shares {
    /// The key of the model and its rate.
    model: String,
    n_all: u64,
    held: Mutex<BTreeMap<u64, Held>>,
    used_at: Mutex<Instant>,
}

#[derive(Clone, Copy)]
struct Held {
    revision: u64,
    /// Counted from before the request, so that it ends before the key expires.
    valid_until: Instant,
}

impl Fleet {
    /// The part of a rate that this node may use now; `None` while it has none.
    pub(crate) fn share_of(&self, model: &ModelRef, rate: Rate) -> Option<Rate> {
        let name = format!("{model} {} {rate:?}", model.base_url);
        let key = blake3::hash(name.as_bytes()).to_hex().to_string();
        let mut all = lock(&self.inner.rates);
        let shares = all.entry(key.clone()).or_insert_with(|| {
            let n_all = rate.requests_per_minute.map_or(SHARES, |requests| requests.clamp(1, SHARES));
            let used_at = Mutex::new(Instant::now());
            let shares = Arc::new(Shares { model: key, n_all, held: Mutex::default(), used_at });
            self.spawn(keep(self.clone(), Arc::clone(&shares)));
            shares
        });
        *lock(&shares.used_at) = Instant::now();
        shares.part_of(rate)
    }

    /// Gives back all shares, so that other nodes need not wait for them to expire.
    pub(crate) async fn give_back_shares(&self) {
        let all = std::mem::take(&mut *lock(&self.inner.rates));
        for shares in all.values() {
            self.give_back(shares).await;
        }
    }

    async fn give_back(&self, shares: &Shares) {
        self.adjust(shares, 0..0).await;
        drop(self.connected().rates.delete(self.node_key(shares)).await);
    }

    /// If not, forgets its shares.
    fn uses(&self, shares: &Arc<Shares>) -> bool {
        let mut all = lock(&self.inner.rates);
        let is_known = all.get(&shares.model).is_some_and(|known| Arc::ptr_eq(known, shares));
        let is_used = lock(&shares.used_at).elapsed() <= self.inner.options.lease;
        if is_known && !is_used {
            all.remove(&shares.model);
        }
        is_known && is_used
    }

    fn node_key(&self, shares: &Shares) -> String {
        format!("{}.node.{}", shares.model, key_of(self.node()))
    }

    /// This node's part: the nodes that use the model divide the shares in the order of their names.
    async fn part(&self, shares: &Shares) -> Result<Range<u64>> {
        let (bucket, key) = (&self.connected().rates, self.node_key(shares));
        let done = bucket.put(&key, Bytes::from_static(b"here")).await;
        done.map_err(refused("register the use of a model"))?;
        let there = entries_below(bucket, &format!("{}.node.", shares.model)).await?;
        let nodes: BTreeSet<String> = there.into_iter().map(|(key, _)| key).chain([key.clone()]).collect();
        let place = nodes.iter().position(|node| *node == key).unwrap_or_default() as u64;
        Ok(part(place, nodes.len() as u64, shares.n_all, self.round()))
    }

    /// Decides whose turn it is if there are more nodes than shares.
    #[expect(clippy::disallowed_methods, reason = "clocks that differ only delay a turn")]
    fn round(&self) -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        since.as_secs() / self.inner.options.lease.as_secs().max(1)
    }

    /// Gives back shares outside `part`, renews held ones and takes free ones; true if it has all then.
    async fn adjust(&self, shares: &Shares, part: Range<u64>) -> bool {
        let (bucket, lease) = (&self.connected().rates, self.inner.options.lease);
        let key = |share: u64| format!("{}.share.{share}", shares.model);
        let value = || Bytes::from(self.node().to_owned());
        let held = lock(&shares.held).clone();
        for (share, Held { revision, .. }) in held.iter().filter(|(share, _)| !part.contains(*share)) {
            // Removed here first, so that it is no longer used.
            lock(&shares.held).remove(share);
            drop(bucket.delete_expect_revision(key(*share), Some(*revision)).await);
        }
        let mut has_all = true;
        for share in part {
            let valid_until = Instant::now() + lease;
            let revision = match held.get(&share) {
                Some(Held { revision, .. }) => bucket.update(key(share), value(), *revision).await.ok(),
                None => bucket.create(key(share), value()).await.ok(),
            };
            match revision {
                Some(revision) => {
                    lock(&shares.held).insert(share, Held { revision, valid_until });
                }
                // A share that was lost ends at `valid_until` and is taken again later.
                None => has_all = false,
            }
        }
        lock(&shares.held).retain(|_, held| held.valid_until > Instant::now());
        has_all
    }
}

/// Keeps this node's part of a rate for as long as the model is used.
async fn keep(fleet: Fleet, shares: Arc<Shares>) {
    let lease = fleet.inner.options.lease;
    while fleet.uses(&shares) {
        let has_all = match fleet.part(&shares).await {
            Ok(part) => fleet.adjust(&shares, part).await,
            Err(_) => false,
        };
        tokio::time::sleep(if has_all { lease / RENEWALS } else { AGAIN.min(lease / RENEWALS) }).await;
    }
    fleet.give_back(&shares).await;
}

impl Shares {
    fn part_of(&self, rate: Rate) -> Option<Rate> {
        let now = Instant::now();
        let n_held = lock(&self.held).values().filter(|held| held.valid_until > now).count() as u64;
        let part = |whole: u64| {
            let part = u128::from(whole) * u128::from(n_held) / u128::from(self.n_all);
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        (n_held > 0).then(|| Rate {
            requests_per_minute: rate.requests_per_minute.map(part),
            tokens_per_minute: rate.tokens_per_minute.map(part),
        })
    }
}

/// The shares of the node at `place`. If there are fewer shares than nodes, the nodes take turns.
fn part(place: u64, n_nodes: u64, n_all: u64, round: u64) -> Range<u64> {
    let place = if n_nodes > n_all { (place + round) % n_nodes } else { place };
    place * n_all / n_nodes..(place + 1) * n_all / n_nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_all_of_it() {
        for (n_nodes, n_all) in [(1, 64), (3, 64), (64, 64), (5, 3), (100, 1)] {
            for round in 0..3 {
                let mut shares: Vec<u64> =
                    (0..n_nodes).flat_map(|place| part(place, n_nodes, n_all, round)).collect();
                shares.sort_unstable();
                assert_eq!(shares, (0..n_all).collect::<Vec<_>>(), "{n_nodes} nodes, {n_all} shares");
            }
        }
    }

    #[test]
    fn every_node_has_a_turn() {
        let turns = |place| (0..5).filter(|round| !part(place, 5, 2, *round).is_empty()).count();
        assert_eq!((0..5).map(turns).collect::<Vec<_>>(), [2; 5]);
    }
}
