//! Calls that another node makes: of any size, given back when they are not wanted, and never beyond what a node bears.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use spelunk_fleet::Fleet;
use spelunk_model::{
    Asked, CallPlaces as _, CommandModel, CommandOptions, CommandOutput, Model, ModelDelta, ModelError,
    ModelOptions, OpenAiModel, Prompt, collect,
};
use spelunk_testkit::{Gate, ModelServer, NatsServer, status, when};
use spelunk_types::{CallId, FrameId};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::access::PERMISSIONS;
use super::options;

/// A server for a user with the documented permissions.
fn serve(dir: &std::path::Path) -> Option<NatsServer> {
    let user = format!("{{ user: u, password: p, permissions: {{ {PERMISSIONS} }} }}");
    NatsServer::configured(dir, &format!("authorization {{ users: [{user}] }}\n"))
}

fn connect(nats: &NatsServer, dir: &std::path::Path, name: &str) -> Fleet {
    let url = nats.url().replace("nats://", "nats://u:p@");
    Fleet::connect(options(&url, dir, name), Duration::ZERO).unwrap()
}

fn open(server: &ModelServer) -> Arc<dyn Model> {
    let (base_url, name) = (server.base_url(), "scripted".to_owned());
    let options = ModelOptions { base_url, name, key: None, price: None, label_calls: true };
    Arc::new(OpenAiModel::new(options).unwrap())
}

fn call() -> CallId {
    CallId { frame: FrameId::root(), ordinal: 7 }
}

/// Waits until a node makes so many calls.
async fn until_calls(fleet: &Fleet, n_calls: u64) {
    let began = Instant::now();
    while fleet.calls() != n_calls {
        assert!(began.elapsed() < Duration::from_secs(20), "{} and not {n_calls}", fleet.calls());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_any_size_goes_to_a_node_with_room_and_comes_back_whole() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = serve(dir.path()) else { return };
    let reply = "r\u{e9}ply ".repeat(400_000);
    let server = ModelServer::start_blocking([
        when(|prompt| prompt.contains("too fast")).always(status(429).retry_after_s(7)),
        when(|_| true).reply(reply.clone()).usage(3, 4).chunks(2),
    ]);
    let (owner, helper) = (connect(&nats, dir.path(), "a"), connect(&nats, dir.path(), "b"));
    let model = open(&server);
    let (stop, stopped) = oneshot::channel::<()>();
    let mut helping = JoinSet::new();
    let (node, offered) = (helper.clone(), Arc::clone(&model));
    helping.spawn(async move { node.make_calls(offered, async { drop(stopped.await) }).await });
    // Both places of the owner are taken, so the next call goes elsewhere.
    let taken =
        [owner.enter(model.as_ref(), Asked::Now).await, owner.enter(model.as_ref(), Asked::Now).await];
    assert_eq!((owner.calls(), owner.calls_max()), (2, 2));
    let place = owner.enter(model.as_ref(), Asked::Now).await;
    assert_eq!((owner.calls(), helper.calls(), server.requests().len()), (2, 1, 0));
    let prompt = Prompt::single("be long", "words ".repeat(500_000), 100);
    let came = collect(place(model.as_ref(), &prompt, &call()), u64::MAX, |_| {}).await.unwrap();
    assert_eq!((came.text, came.usage.unwrap().tokens()), (reply, 7));
    let made = server.requests();
    assert_eq!((made.len(), made[0].call.as_deref()), (1, Some("0#7")));
    assert_eq!(made[0].prompt(), format!("be long\n{}", "words ".repeat(500_000)));
    until_calls(&helper, 0).await;
    // An error is that of the model.
    let place = owner.enter(model.as_ref(), Asked::Now).await;
    let mut refused = place(model.as_ref(), &Prompt::single("", "too fast", 10), &call());
    let retry_after = Some(Duration::from_secs(7));
    assert_eq!(refused.next().await, Some(Err(ModelError::RateLimited { retry_after })));
    until_calls(&helper, 0).await;
    // A place that is not used is given back at once.
    let unused = owner.enter(model.as_ref(), Asked::Now).await;
    assert_eq!(helper.calls(), 1);
    drop(unused);
    until_calls(&helper, 0).await;
    // Where nobody has room, a call waits for whichever place is free first.
    let elsewhere =
        [owner.enter(model.as_ref(), Asked::Now).await, owner.enter(model.as_ref(), Asked::Now).await];
    assert_eq!((owner.calls(), helper.calls()), (2, 2));
    let mut waiting = Box::pin(owner.enter(model.as_ref(), Asked::Now));
    assert!(tokio::time::timeout(Duration::from_millis(200), &mut waiting).await.is_err());
    drop(taken);
    let place = waiting.await;
    assert_eq!((owner.calls(), helper.calls()), (1, 2));
    drop((place, elsewhere));
    drop(stop);
    helping.join_next().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_nobody_wants_is_cancelled_where_it_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = serve(dir.path()) else { return };
    let gate = Gate::new();
    let server = ModelServer::start_blocking([when(|_| true).reply("long").gate(&gate)]);
    let (owner, helper) = (connect(&nats, dir.path(), "a"), connect(&nats, dir.path(), "b"));
    let model = open(&server);
    let mut helping = JoinSet::new();
    let (node, offered) = (helper.clone(), Arc::clone(&model));
    let (stop, stopped) = oneshot::channel::<()>();
    helping.spawn(async move { node.make_calls(offered, async { drop(stopped.await) }).await });
    let _taken =
        [owner.enter(model.as_ref(), Asked::Now).await, owner.enter(model.as_ref(), Asked::Now).await];
    let place = owner.enter(model.as_ref(), Asked::Now).await;
    let mut deltas = place(model.as_ref(), &Prompt::single("", "hello", 10), &call());
    assert!(deltas.next().await.unwrap().is_ok());
    assert_eq!((helper.calls(), server.requests().len()), (1, 1));
    drop(deltas);
    until_calls(&helper, 0).await;
    // A node that stops finishes what it has begun.
    let place = owner.enter(model.as_ref(), Asked::Now).await;
    let mut deltas = place(model.as_ref(), &Prompt::single("", "hello", 10), &call());
    assert!(deltas.next().await.unwrap().is_ok());
    drop(stop);
    gate.open();
    let rest: Vec<_> = deltas.collect().await;
    assert!(matches!(rest.last(), Some(Ok(ModelDelta::Done { .. }))), "{rest:?}");
    helping.join_next().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_is_called_where_the_run_is() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = serve(dir.path()) else { return };
    let owner = connect(&nats, dir.path(), "a");
    let server = ModelServer::start_blocking([when(|_| true).reply("here")]);
    let model = open(&server);
    let _taken =
        [owner.enter(model.as_ref(), Asked::Now).await, owner.enter(model.as_ref(), Asked::Now).await];
    let options = CommandOptions {
        program: "echo".into(),
        arguments: vec!["from here".into()],
        name: "echo".into(),
        output: CommandOutput::Text,
        price: None,
    };
    let program = CommandModel::new(options).unwrap();
    // It needs no place.
    let place = owner.enter(&program, Asked::Now).await;
    let came = collect(place(&program, &Prompt::single("", "hello", 10), &call()), 100, |_| {}).await;
    assert_eq!((came.unwrap().text.as_str(), owner.calls()), ("from here", 2));
    assert!(server.requests().is_empty());
}
