//! Questions over rows to a small model: which of its queries is believed.

use std::sync::Arc;

use spelunk_testkit::{FaultDisk, Recorded, Rule, on};
use spelunk_types::Strategy;

use crate::stage::{Stage, engine_on};

const STAFF: [(&str, &str); 1] =
    [("staff.csv", "name,team,pay\nAnn,red,10\nBob,blue,20\nCid,red,30\nDot,red,40\n")];

const RED: &str = "SELECT count(*) FROM staff WHERE team = 'red'";
const ALL: &str = "SELECT count(*) FROM staff";
const NO_SUCH_COLUMN: &str = "SELECT count(*) FROM staff WHERE colour = 'red'";
const NOT_SAID: &str = "The documents do not say.";

fn stage(rules: Vec<Rule>) -> Stage {
    let mut stage = Stage::new(&STAFF, rules);
    stage.strategy = Strategy::Auto;
    stage.limits.reader_tokens_max = 1_000;
    stage
}

/// The first line of the answer, and the temperature of each request for a query.
async fn answer(stage: &mut Stage) -> (String, Vec<String>) {
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "How many are in the red team?").await;
    let requests = stage.server.requests();
    let queries = requests.iter().map(Recorded::json).filter(|body| body.to_string().contains("SQLite"));
    let temperatures = queries.map(|body| body["temperature"].to_string()).collect();
    (result.answer.unwrap().text.lines().next().unwrap_or_default().to_owned(), temperatures)
}

fn queries(sql: &[&str]) -> Vec<Rule> {
    let rule = |(idx, sql): (usize, &&str)| {
        let rule = on(&format!("0#{idx}")).reply(*sql);
        if idx == 0 { rule.certainty(0.3) } else { rule }
    };
    sql.iter().enumerate().map(rule).collect()
}

#[tokio::test]
async fn a_query_that_the_model_is_certain_of_is_enough() {
    let mut certain = stage(vec![on("0#0").reply(RED).certainty(0.4)]);
    assert_eq!(answer(&mut certain).await, ("3".to_owned(), vec!["0.0".to_owned()]));
    let mut silent = stage(vec![on("0#0").reply(RED)]);
    assert_eq!(answer(&mut silent).await, ("3".to_owned(), vec!["0.0".to_owned()]));
}

#[tokio::test]
async fn of_doubtful_queries_the_result_that_three_have_is_believed() {
    let mut stage = stage(queries(&[ALL, RED, NO_SUCH_COLUMN, RED, ALL, "I cannot.", RED]));
    let (text, temperatures) = answer(&mut stage).await;
    assert_eq!(text, "3");
    assert_eq!(temperatures, ["0.0", "0.7", "0.7", "0.7", "0.7", "0.7", "0.7"]);
}

#[tokio::test]
async fn without_agreement_nine_queries_are_written() {
    let different: Vec<String> = (1..=9).map(|n| format!("SELECT count(*) + {n} FROM staff")).collect();
    let mut rules = queries(&different.iter().map(String::as_str).collect::<Vec<_>>());
    rules.extend([on("0#9").reply("fact"), on("0#10").reply("NOT FOUND")]);
    let (text, temperatures) = answer(&mut stage(rules)).await;
    assert!(text.starts_with(NOT_SAID), "{text}");
    assert_eq!(temperatures.len(), 9);
}

#[tokio::test]
async fn equal_queries_are_sent_again_although_replies_are_cached() {
    let mut stage = stage(queries(&[ALL, RED, ALL, RED, RED]));
    stage.cache_replies = true;
    assert_eq!(answer(&mut stage).await.0, "3");
    assert_eq!(stage.server.requests().len(), 5);
}

#[tokio::test]
async fn without_a_result_only_a_certain_reading_of_the_rows_is_given() {
    let reading = |certainty| {
        let mut rules = queries(&[NO_SUCH_COLUMN; 4]);
        rules.extend([on("0#4").reply("fact"), on("0#5").reply("Ann").certainty(certainty)]);
        stage(rules)
    };
    let (doubted, temperatures) = answer(&mut reading(0.7)).await;
    assert!(doubted.starts_with(NOT_SAID), "{doubted}");
    assert_eq!(temperatures.len(), 4);
    assert_eq!(answer(&mut reading(0.8)).await.0, "Ann");
}
