//! Chains of models: their members, and what must be reserved for them. Which one is tried when is the engine's policy,
//! and tested there.

use std::sync::Arc;

use spelunk_model::{FallbackModel, Model, ModelError, ModelOptions, OpenAiModel, Price};
use spelunk_testkit::{ModelServer, on, status};

use crate::adapter::ask;

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

#[tokio::test]
async fn asked_as_one_model_a_chain_is_its_first() {
    let first = ModelServer::start([on("0#0").fault(status(503)).reply("abc").usage(1, 1_000_000)]).await;
    let second = ModelServer::start([on("0#0").reply("never")]).await;
    let (one, other) = (model(&first.base_url(), 1), model(&second.base_url(), 2));
    let chain = FallbackModel::new(Arc::clone(&one), vec![Arc::clone(&other)]);
    assert_eq!(chain.reference(), one.reference());
    assert_eq!(ask(&chain, "0#0").await, Err(ModelError::Overloaded { retry_after: None }));
    let reply = ask(&chain, "0#0").await.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.unwrap().cost_microusd), ("abc", 1));
    assert_eq!((reply.answered_by, second.requests().len()), (None, 0));
    let links: Vec<_> = chain.links().iter().map(|link| link.reference()).collect();
    assert_eq!(links, [one.reference(), other.reference()]);
    assert_eq!(one.links().len(), 0);
}

#[test]
fn the_dearest_price_is_reserved() {
    let cheap = model("http://127.0.0.1:9", 1);
    let chain =
        FallbackModel::new(cheap, vec![model("http://127.0.0.1:9", 7), model("http://127.0.0.1:9", 3)]);
    assert_eq!(chain.facts().price, Some(Price { output_microusd_per_mtok: 7, ..Price::FREE }));
}

#[test]
fn the_catalogue_says_who_sees_and_a_chain_sees_if_all_of_it_does() {
    let hosted = |name: &str| -> Arc<dyn Model> {
        let (base_url, name) = ("https://api.openai.com/v1".to_owned(), name.to_owned());
        Arc::new(
            OpenAiModel::new(ModelOptions { base_url, name, key: None, price: None, label_calls: false })
                .unwrap(),
        )
    };
    let (seeing, blind) = (hosted("gpt-6.1-sol"), hosted("o3-mini"));
    assert!(
        seeing.facts().sees_images && !blind.facts().sees_images && !hosted("unknown").facts().sees_images
    );
    assert!(FallbackModel::new(Arc::clone(&seeing), vec![Arc::clone(&seeing)]).facts().sees_images);
    assert!(!FallbackModel::new(seeing, vec![blind]).facts().sees_images);
}
