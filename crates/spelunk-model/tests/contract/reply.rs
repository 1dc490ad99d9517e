//! Good replies.

use spelunk_model::{ModelDelta, ModelError, ModelOptions, Price, Reply, collect};
use spelunk_testkit::{Fault, ModelServer, on};
use spelunk_types::{ModelRef, StopReason, Usage};

use crate::adapter::{Adapter, KEY, ask, deltas, stream};

fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

fn text(text: &str) -> ModelDelta {
    ModelDelta::Text(text.to_owned())
}

fn done(usage: Usage) -> ModelDelta {
    ModelDelta::Done { stop: StopReason::Finished, usage: Some(usage) }
}

pub(crate) async fn a_reply_arrives_in_pieces_and_ends_with_its_usage(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").reply("Grüße!").chunks(2)]).await;
    let model = adapter.open(&server.base_url());
    let (seen, error) = deltas(stream(&*model, "0#0")).await;
    assert_eq!(seen, [text("Grü"), text("ße!"), done(usage(2, 2))]);
    assert_eq!(error, None);
    assert_eq!((server.times_received("0#0"), server.times_served("0#0")), (1, 1));
    assert_eq!(server.served_usage(), usage(2, 2));
}

pub(crate) async fn a_reply_without_text_is_a_reply(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").reply("")]).await;
    let model = adapter.open(&server.base_url());
    let (seen, error) = deltas(stream(&*model, "0#0")).await;
    assert_eq!((seen, error), (vec![done(usage(2, 0))], None));
}

pub(crate) async fn reasoning_is_kept_apart_from_the_answer(adapter: Adapter) {
    let rule = on("0#0").reasoning("hm").reply("yes").chunks(1);
    let server = ModelServer::start([rule]).await;
    let model = adapter.open(&server.base_url());
    let (seen, _) = deltas(stream(&*model, "0#0")).await;
    assert_eq!(seen, [ModelDelta::Reasoning("hm".to_owned()), text("yes"), done(usage(2, 1))]);
    assert_eq!(ask(&*model, "0#0").await.unwrap().text, "yes");
}

pub(crate) async fn each_reason_to_stop_is_told(adapter: Adapter) {
    let server = ModelServer::start([
        on("0#0").reply("a").stop(StopReason::Finished),
        on("0#1").reply("a").stop(StopReason::Length),
        on("0#2").reply("a").stop(StopReason::Filtered),
        on("0#3").reply("a").stop(StopReason::Other),
    ])
    .await;
    let model = adapter.open(&server.base_url());
    assert_eq!(ask(&*model, "0#0").await.unwrap().stop, StopReason::Finished);
    assert_eq!(ask(&*model, "0#1").await.unwrap().stop, StopReason::Length);
    assert_eq!(ask(&*model, "0#2").await.unwrap().stop, StopReason::Filtered);
    assert_eq!(ask(&*model, "0#3").await.unwrap().stop, StopReason::Other);
}

pub(crate) async fn cached_tokens_are_part_of_the_input(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").reply("a").usage(1000, 10).cached(900)]).await;
    let model = adapter.open(&server.base_url());
    let expected = Usage { input_tokens: 1000, cached_tokens: 900, output_tokens: 10, cost_microusd: 0 };
    assert_eq!(ask(&*model, "0#0").await.unwrap().usage, Some(expected));
}

pub(crate) async fn a_price_becomes_a_cost(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").reply("a").usage(1000, 10).cached(900)]).await;
    let price = Price {
        input_microusd_per_mtok: 3_000_000,
        cached_microusd_per_mtok: 300_000,
        output_microusd_per_mtok: 15_000_000,
    };
    let options = ModelOptions {
        base_url: server.base_url(),
        name: "m".to_owned(),
        key: None,
        price: Some(price),
        label_calls: true,
    };
    let model = adapter.open_with(options);
    assert_eq!(model.price(), Some(price));
    let expected = Usage { input_tokens: 1000, cached_tokens: 900, output_tokens: 10, cost_microusd: 720 };
    assert_eq!(ask(&*model, "0#0").await.unwrap().usage, Some(expected));
}

pub(crate) async fn a_reply_in_one_document_is_taken(adapter: Adapter) {
    let rule = on("0#0").fault(Fault::NotStreamed).reasoning("hm").reply("whole").usage(5, 6).cached(2);
    let server = ModelServer::start([rule]).await;
    let model = adapter.open(&server.base_url());
    let (seen, error) = deltas(stream(&*model, "0#0")).await;
    let usage = Usage { input_tokens: 5, cached_tokens: 2, output_tokens: 6, cost_microusd: 0 };
    assert_eq!(seen, [ModelDelta::Reasoning("hm".to_owned()), text("whole"), done(usage)]);
    assert_eq!(error, None);
}

/// Deltas carry no number: a repeated one cannot be told from a repeated word.
pub(crate) async fn a_doubled_event_doubles_its_text_and_nothing_else(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").fault(Fault::DuplicateDeltas).reply("ab").chunks(2)]).await;
    let model = adapter.open(&server.base_url());
    let (seen, error) = deltas(stream(&*model, "0#0")).await;
    assert_eq!(seen, [text("a"), text("a"), text("b"), text("b"), done(usage(2, 1))]);
    assert_eq!(error, None);
}

pub(crate) async fn a_long_reply_is_taken_up_to_the_bound(adapter: Adapter) {
    let server = ModelServer::start([on("0#0").always(Fault::LongReply { bytes: 10_000_000 })]).await;
    let model = adapter.open(&server.base_url());
    let reply = ask(&*model, "0#0").await.unwrap();
    assert_eq!(reply.text.len(), 10_000_000);
    assert_eq!(reply.usage, Some(usage(2, 2_500_000)));
    let bounded = collect(stream(&*model, "0#0"), 8_000_000, |_| {}).await;
    assert_eq!(bounded, Err(ModelError::ReplyTooLong { bytes_max: 8_000_000 }));
}

pub(crate) async fn the_request_carries_key_and_call(adapter: Adapter) {
    let server = ModelServer::start([on("0.3#2").reply("a")]).await;
    let model = adapter.open(&server.base_url());
    let reply = ask(&*model, "0.3#2").await;
    assert_eq!(reply.map(|reply: Reply| reply.text), Ok("a".to_owned()));
    let requests = server.requests();
    let [request] = requests.as_slice() else { panic!("one request: {requests:?}") };
    assert_eq!(request.call.as_deref(), Some("0.3#2"));
    assert_eq!(request.prompt(), "Sys\nUser");
    let header = |name| request.header(name);
    match adapter {
        Adapter::OpenAi => {
            assert_eq!(request.path, "/v1/chat/completions");
            assert_eq!(header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        }
        Adapter::Anthropic => {
            assert_eq!(request.path, "/v1/messages");
            assert_eq!((header("x-api-key"), header("anthropic-version")), (Some(KEY), Some("2023-06-01")));
        }
    }
}

pub(crate) async fn without_a_key_or_a_label_neither_is_sent(adapter: Adapter) {
    let server = ModelServer::start([spelunk_testkit::when(|prompt| prompt == "Sys\nUser").reply("a")]).await;
    let options = ModelOptions {
        base_url: server.base_url(),
        name: "m".to_owned(),
        key: None,
        price: None,
        label_calls: false,
    };
    let model = adapter.open_with(options);
    assert_eq!(ask(&*model, "0#0").await.unwrap().text, "a");
    let requests = server.requests();
    let [request] = requests.as_slice() else { panic!("one request: {requests:?}") };
    assert_eq!(request.call, None);
    assert_eq!((request.header("authorization"), request.header("x-api-key")), (None, None));
}

pub(crate) async fn the_address_and_the_name_are_the_reference(adapter: Adapter) {
    let model = adapter.open("http://127.0.0.1:9/v1/");
    let provider = match adapter {
        Adapter::OpenAi => "openai",
        Adapter::Anthropic => "anthropic",
    };
    let expected = ModelRef {
        provider: provider.to_owned(),
        name: "scripted".to_owned(),
        base_url: adapter.shown("http://127.0.0.1:9/v1"),
    };
    assert_eq!(model.reference(), &expected);
    assert_eq!(model.price(), Some(Price::FREE));
}
