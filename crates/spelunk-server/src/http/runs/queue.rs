//! A fair queue: waiting runs, round-robin by client. However many runs a client has queued, it
//! delays another client's next run by at most one.

use std::collections::{HashMap, VecDeque};

#[derive(Debug)]
pub(super) struct FairQueue<T> {
    waiting: HashMap<String, VecDeque<T>>,
    /// Clients with queued items; the first one is next.
    turns: VecDeque<String>,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self { waiting: HashMap::new(), turns: VecDeque::new() }
    }
}

impl<T> FairQueue<T> {
    pub(super) fn push(&mut self, client: &str, item: T) {
        let own = self.waiting.entry(client.to_owned()).or_default();
        if own.is_empty() {
            self.turns.push_back(client.to_owned());
        }
        own.push_back(item);
    }

    /// The next item of the client whose turn it is; that client then moves to the back.
    pub(super) fn pop(&mut self) -> Option<T> {
        let client = self.turns.pop_front()?;
        let own = self.waiting.get_mut(&client)?;
        let item = own.pop_front();
        if own.is_empty() {
            self.waiting.remove(&client);
        } else {
            self.turns.push_back(client);
        }
        item
    }

    pub(super) fn remove(&mut self, is_meant: impl Fn(&T) -> bool) -> Option<T> {
        let found = self.waiting.iter_mut().find_map(|(client, own)| {
            let idx = own.iter().position(&is_meant)?;
            Some((client.clone(), own.remove(idx)?, own.is_empty()))
        });
        let (client, item, was_last) = found?;
        if was_last {
            self.waiting.remove(&client);
            self.turns.retain(|other| *other != client);
        }
        Some(item)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.waiting.values().flatten()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn clients_take_turns_whatever_each_of_them_brings() {
        let mut queue = FairQueue::default();
        for item in ["a1", "a2", "a3", "a4"] {
            queue.push("a", item);
        }
        queue.push("b", "b1");
        queue.push("c", "c1");
        queue.push("b", "b2");
        let order: Vec<&str> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
    }

    #[test]
    fn what_is_taken_out_leaves_no_turn_behind() {
        let mut queue = FairQueue::default();
        queue.push("a", 1);
        queue.push("b", 2);
        assert_eq!(queue.remove(|item| *item == 1), Some(1));
        assert_eq!(queue.remove(|item| *item == 1), None);
        assert_eq!((queue.len(), queue.pop(), queue.pop()), (1, Some(2), None));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_doubled_or_kept_waiting_by_another_client(
            pushed in prop::collection::vec(0_u8..4, 0..40),
        ) {
            let mut queue = FairQueue::default();
            for (idx, client) in pushed.iter().enumerate() {
                queue.push(&client.to_string(), (*client, idx));
            }
            let popped: Vec<(u8, usize)> = std::iter::from_fn(|| queue.pop()).collect();
            let mut sorted: Vec<usize> = popped.iter().map(|(_, idx)| *idx).collect();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..pushed.len()).collect::<Vec<_>>());
            // Between two items of one client there is at most one of each other client.
            for client in 0..4 {
                let places: Vec<usize> =
                    popped.iter().enumerate().filter(|(_, item)| item.0 == client).map(|(place, _)| place).collect();
                for pair in places.windows(2) {
                    prop_assert!(pair[1] - pair[0] <= 4);
                }
            }
        }
    }
}
