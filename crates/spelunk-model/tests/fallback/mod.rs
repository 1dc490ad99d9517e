//! Chains of models: who is asked when, who answered, and what it cost.

use std::sync::Arc;

use spelunk_model::{FallbackModel, Model, ModelDelta, ModelError, ModelOptions, OpenAiModel, Price};
use spelunk_testkit::{ClosedPort, Fault, ModelServer, on, status};

use crate::adapter::{ask, deltas, stream};

fn model(base_url: &str, microusd_per_mtok: u64) -> Arc<dyn Model> {
    let price = Price { output_microusd_per_mtok: microusd_per_mtok, ..Price::FREE };
    let options = ModelOptions {
        base_url: base_url.to_owned(),
        name: "m".to_owned(),
        key: None,
        price: Some(price),
        label_calls: true,
    };
    Arc::new(OpenAiModel::new(options).unwrap())
}

async fn server(fault: Option<Fault>) -> ModelServer {
    let rule = on("0#0").reply("abc").usage(1, 1_000_000);
    ModelServer::start([fault.into_iter().fold(rule, spelunk_testkit::Rule::fault)]).await
}

#[tokio::test]
async fn the_first_model_answers_where_it_can() {
    let (first, second) = (server(None).await, server(None).await);
    let chain = FallbackModel::new(model(&first.base_url(), 1), vec![model(&second.base_url(), 2)]);
    let reply = ask(&chain, "0#0").await.unwrap();
    assert_eq!((reply.text.as_str(), reply.answered_by, second.requests().len()), ("abc", None, 0));
    assert_eq!(reply.usage.unwrap().cost_microusd, 1);
}

#[tokio::test]
async fn an_outage_before_the_first_word_asks_the_next_at_its_own_price() {
    let faults = [status(500).into(), status(503).into(), status(529).into(), Fault::HangUp];
    for fault in faults {
        let (first, second) = (server(Some(fault.clone())).await, server(None).await);
        let (one, other) = (model(&first.base_url(), 1), model(&second.base_url(), 2));
        let chain = FallbackModel::new(Arc::clone(&one), vec![Arc::clone(&other)]);
        let (seen, error) = deltas(stream(&chain, "0#0")).await;
        assert_eq!(seen.first(), Some(&ModelDelta::AnsweredBy(other.reference().clone())), "{fault:?}");
        assert_eq!(error, None);
        let Some(ModelDelta::Done { usage: Some(usage), .. }) = seen.last() else { panic!("{seen:?}") };
        assert_eq!(usage.cost_microusd, 2);
        assert_eq!((first.requests().len(), second.requests().len()), (1, 1));
        assert_eq!(chain.reference(), one.reference());
    }
}

#[tokio::test]
async fn a_refusal_and_a_reply_that_has_begun_are_not_covered_up() {
    let faults = [
        status(400).into(),
        status(401).into(),
        status(404).into(),
        status(429).into(),
        Fault::CutStream,
        Fault::WrongContentType,
    ];
    for fault in faults {
        let (first, second) = (server(Some(fault.clone())).await, server(None).await);
        let chain = FallbackModel::new(model(&first.base_url(), 1), vec![model(&second.base_url(), 2)]);
        assert!(ask(&chain, "0#0").await.is_err(), "{fault:?}");
        assert_eq!(second.requests(), [], "{fault:?}");
    }
}

#[tokio::test]
async fn when_all_are_out_the_last_error_is_told_and_nobody_was_asked_twice() {
    let port = ClosedPort::reserve();
    let servers = [server(Some(status(500).into())).await, server(Some(status(503).into())).await];
    let [one, two] = [0, 1].map(|idx: usize| model(&servers[idx].base_url(), 1));
    let chain = FallbackModel::new(model(&port.base_url(), 1), vec![one, two]);
    assert_eq!(ask(&chain, "0#0").await, Err(ModelError::Overloaded { retry_after: None }));
    assert_eq!(servers.map(|server| server.requests().len()), [1, 1]);
}

#[test]
fn the_dearest_price_is_reserved() {
    let cheap = model("http://127.0.0.1:9", 1);
    let chain =
        FallbackModel::new(cheap, vec![model("http://127.0.0.1:9", 7), model("http://127.0.0.1:9", 3)]);
    assert_eq!(chain.price(), Some(Price { output_microusd_per_mtok: 7, ..Price::FREE }));
}
