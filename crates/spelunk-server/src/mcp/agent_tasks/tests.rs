use futures_util::FutureExt as _;

use super::*;

fn call(text: &str) -> CallId {
    text.parse().unwrap()
}

/// A board with two open tasks.
fn board() -> (Arc<AgentTasks>, Vec<impl Future<Output = Result<String, ModelError>>>) {
    let board = Arc::new(AgentTasks::default());
    let asking = ["0.1#0", "0.0#0"].map(|id| {
        let board = Arc::clone(&board);
        let prompt = Prompt::single(
            "You are a code analyst. You read.",
            format!("<document name=\"a\">\nx\n</document>\n\nPart of {id}.\n"),
            10,
        );
        let mut asking = Box::pin(async move { board.ask(call(id), prompt).await });
        assert!((&mut asking).now_or_never().is_none());
        asking
    });
    (board, asking.into_iter().collect())
}

#[test]
fn tasks_are_leased_in_order_and_a_lease_ends() {
    let (board, _asking) = board();
    let first = board.claim(None, None, "ann", 1000, 500).ok().unwrap();
    assert_eq!((first.call.to_string().as_str(), first.about.as_str()), ("0.0#0", "Part of 0.0#0."));
    assert_eq!(first.leased_to, Some(("ann".to_owned(), 1500)));
    assert_eq!(board.claim(None, None, "bob", 1000, 500).ok().unwrap().call, call("0.1#0"));
    assert_eq!(board.claim(None, None, "cy", 1499, 500).err().unwrap().message, "no task is available");
    assert_eq!(
        board.claim(Some(&call("0.0#0")), None, "cy", 1499, 500).err().unwrap().message,
        "the task `0.0#0` is leased to `ann`"
    );
    // The holder may extend its lease.
    assert!(board.claim(Some(&call("0.0#0")), None, "ann", 1499, 500).is_ok());
    assert_eq!(board.list(1500).iter().filter(|task| task.leased_to.is_some()).count(), 1);
    assert_eq!(board.claim(None, None, "cy", 1998, 500).ok().unwrap().call, call("0.1#0"));
    assert_eq!(board.claim(None, None, "dan", 1999, 500).ok().unwrap().call, call("0.0#0"));
}

#[test]
fn a_reply_is_taken_from_the_holder_alone() {
    let (board, mut asking) = board();
    let (id, other) = (call("0.0#0"), call("0.1#0"));
    let submit = |agent: &str, now_ms| {
        board.submit(&id, agent, "r".to_owned(), now_ms).err().map(|error| error.message)
    };
    assert_eq!(submit("ann", 0), Some("the task `0.0#0` was not claimed".to_owned()));
    assert!(board.claim(Some(&id), None, "ann", 0, 10).is_ok());
    assert_eq!(submit("bob", 5), Some("the task `0.0#0` is leased to `ann`".to_owned()));
    // Late, but nobody else took it.
    assert_eq!(submit("ann", 50), None);
    assert_eq!(submit("ann", 51), Some("there is no open task `0.0#0`".to_owned()));
    assert_eq!(asking.pop().unwrap().now_or_never(), Some(Ok("r".to_owned())));
    assert_eq!(board.list(0).len(), 1);
    // A run that ends removes its tasks.
    drop(asking);
    assert_eq!(board.list(0), []);
    assert!(board.prompt(&other).is_err());
}
