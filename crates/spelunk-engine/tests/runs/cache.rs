//! The reply cache: a reply that was paid for is free for the same question to the same model about the same text.

use std::sync::Arc;

use expect_test::expect;
use spelunk_engine::Engine;
use spelunk_testkit::{FaultDisk, on};
use spelunk_types::{BlobId, Usage};

use super::{NOTE, cited, told};
use crate::stage::{Stage, engine_on, events, view};

fn caching_stage(text: &str) -> Stage {
    let mut stage = Stage::new(&[("a.md", text)], [on("0#0").reply("42.").usage(10, 2)]);
    stage.cache_replies = true;
    stage
}

/// The names of the cache's records.
fn records(disk: &FaultDisk) -> Vec<String> {
    disk.files().into_keys().filter(|name| name.starts_with("replies-v1/")).collect()
}

/// A disk, and an engine on it that has run once.
async fn warm(stage: &Stage) -> (Arc<FaultDisk>, Engine) {
    let disk = Arc::new(FaultDisk::sound());
    let engine = engine_on(disk.clone());
    stage.ask(&engine, "Which number?").await;
    assert_eq!(stage.server.requests().len(), 1);
    (disk, engine)
}

#[tokio::test]
async fn the_same_question_over_the_same_text_is_asked_once() {
    let stage = caching_stage(NOTE[0].1);
    let (_, engine) = warm(&stage).await;
    let again = stage.ask(&engine, "Which number?").await;
    assert_eq!(again.answer, Some(cited("42.", "a.md")));
    expect![[r#"
        run.started      direct openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 direct
        passages.chosen  0 documents=1 bytes=24 of=24
        call.started     0#0
        call.settled     0#0 replied cache tokens=0+0
        frame.closed     0 answered cited=1
        run.finished     answered"#]]
    .assert_eq(&told(&engine, &again.run));
    let seen = view(&events(&engine, &again.run));
    assert_eq!((seen.spent, seen.n_cached_calls(), seen.n_paid_calls()), (Usage::default(), 1, 0));
    assert_eq!(stage.server.requests().len(), 1);
}

#[tokio::test]
async fn the_same_words_at_another_address_are_another_question() {
    let here = caching_stage(NOTE[0].1);
    let (_, engine) = warm(&here).await;
    let there = caching_stage(NOTE[0].1);
    there.ask(&engine, "Which number?").await;
    assert_eq!((here.server.requests().len(), there.server.requests().len()), (1, 1));
    assert_eq!(here.server.requests()[0].body, there.server.requests()[0].body);
}

#[tokio::test]
async fn other_text_is_another_question() {
    let stage = caching_stage(NOTE[0].1);
    let (disk, engine) = warm(&stage).await;
    std::fs::write(stage.documents.path().join("a.md"), "The magic number is 43.\n").unwrap();
    stage.ask(&engine, "Which number?").await;
    assert_eq!((stage.server.requests().len(), records(&disk).len()), (2, 2));
}

#[tokio::test]
async fn a_run_without_the_cache_neither_reads_nor_writes_it() {
    let mut stage = caching_stage(NOTE[0].1);
    stage.cache_replies = false;
    let (disk, engine) = warm(&stage).await;
    assert_eq!(records(&disk), Vec::<String>::new());
    stage.cache_replies = true;
    stage.ask(&engine, "Which number?").await;
    assert_eq!((stage.server.requests().len(), records(&disk).len()), (2, 1));
    stage.cache_replies = false;
    stage.ask(&engine, "Which number?").await;
    assert_eq!(stage.server.requests().len(), 3);
}

#[tokio::test]
async fn a_damaged_record_counts_as_absent_and_is_replaced() {
    let stage = caching_stage(NOTE[0].1);
    let (disk, engine) = warm(&stage).await;
    let [name] = <[String; 1]>::try_from(records(&disk)).unwrap();
    let sound = disk.files()[&name].clone();
    let mut damaged = sound.clone();
    *damaged.last_mut().unwrap() ^= 1;
    disk.put(&name, &damaged);
    let again = stage.ask(&engine, "Which number?").await;
    assert_eq!(again.answer, Some(cited("42.", "a.md")));
    assert_eq!(stage.server.requests().len(), 2);
    assert_eq!(disk.files()[&name], sound);
}

#[tokio::test]
async fn a_record_of_another_engine_counts_as_absent() {
    let stage = caching_stage(NOTE[0].1);
    let (disk, engine) = warm(&stage).await;
    let [name] = <[String; 1]>::try_from(records(&disk)).unwrap();
    let key: BlobId = name.rsplit('/').next().unwrap().parse().unwrap();
    engine.workspace().replies().put(&key, br#"{"words":"42."}"#).unwrap();
    let again = stage.ask(&engine, "Which number?").await;
    assert_eq!(again.answer, Some(cited("42.", "a.md")));
    assert_eq!(stage.server.requests().len(), 2);
}
