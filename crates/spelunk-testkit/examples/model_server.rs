//! The scripted model server as a program, for tests in other languages. The first line of standard input is the script: a
//! JSON array of rules, each with `reply` and either `call` (`0#*`) or `contains` (a part of the prompt; empty matches
//! all), and `delay_ms` if it shall be slow. It prints its base URL, then the prompt of each request as a JSON string for
//! every further line it reads, and ends with standard input.

use std::io::{BufRead as _, Error, Write as _};

use serde_json::{Value, json};
use spelunk_testkit::{ModelServer, Rule, on, when};

fn main() -> Result<(), Error> {
    let mut lines = std::io::stdin().lock().lines();
    let script: Value = serde_json::from_str(&lines.next().ok_or(Error::other("no script"))??)?;
    let rules = script.as_array().into_iter().flatten().map(rule);
    let server = ModelServer::start_blocking(rules.collect::<Vec<_>>());
    let mut out = std::io::stdout();
    writeln!(out, "{}", server.base_url())?;
    for line in lines {
        line?;
        let prompts: Vec<String> = server.requests().into_iter().map(|request| request.prompt()).collect();
        writeln!(out, "{}", json!(prompts))?;
    }
    Ok(())
}

fn rule(rule: &Value) -> Rule {
    let text = |name: &str| rule[name].as_str().unwrap_or_default().to_owned();
    let matching = match rule["call"].as_str() {
        Some(call) => on(call),
        None => {
            let part = text("contains");
            when(move |prompt| prompt.contains(&part))
        }
    };
    matching.reply(text("reply")).delay_ms(rule["delay_ms"].as_u64().unwrap_or_default())
}
