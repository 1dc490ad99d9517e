//! Spans of journals, complete and cut off anywhere.

use expect_test::expect;
use proptest::prelude::*;

use super::*;

const JOURNAL: &str = r#"{"seq":1,"at_ms":1000,"frame":"0","type":"run.started","format":1,"engine":"0","question":{"text":"secret question"},"strategy":"repl","sources":[],"model":{"provider":"openai","name":"m","base_url":"http://x"},"corpus_digest":"DIGEST","settings_digest":"DIGEST","limits":{}}
{"seq":2,"at_ms":1010,"frame":"0","type":"frame.opened","strategy":"repl","question":{"text":"secret question"},"view":"DIGEST"}
{"seq":3,"at_ms":1020,"frame":"0","type":"call.started","call":"0#0","model":"m","prompt":"DIGEST","text":{"text":"secret prompt"}}
{"seq":4,"at_ms":1120,"frame":"0","type":"call.settled","call":"0#0","outcome":{"is":"replied","reply":{"text":"secret reply"},"stop":"finished","usage":{"input_tokens":7,"output_tokens":3}},"served":"live"}
{"seq":5,"at_ms":1140,"frame":"0","type":"cell.ran","cell":0,"code":{"text":"secret code"},"outcome":{"is":"printed"},"output":{"text":"secret output"},"calls":0,"children":0,"took_ms":15}
{"seq":6,"at_ms":1150,"frame":"0.0","type":"frame.opened","strategy":"direct","question":{"text":"secret question"},"view":"DIGEST"}
{"seq":7,"at_ms":1160,"frame":"0.0","type":"call.started","call":"0.0#0","model":"m","prompt":"DIGEST","text":{"text":"secret prompt"}}
{"seq":8,"at_ms":1170,"frame":"0.0","type":"call.settled","call":"0.0#0","outcome":{"is":"failed","code":"model-overloaded","message":"secret"},"served":"live"}
{"seq":9,"at_ms":1180,"frame":"0.0","type":"frame.closed","outcome":{"is":"failed","code":"model-overloaded","message":"secret"}}
{"seq":10,"at_ms":1190,"frame":"0","type":"frame.closed","outcome":{"is":"answered","answer":{"text":"secret answer"},"citations":[],"grounding":{"is":"uncited"}}}
{"seq":11,"at_ms":1200,"frame":"0","type":"run.finished","outcome":{"is":"answered"}}"#;

fn run() -> RunId {
    RunId::new(1_700_000_000_000, 7)
}

fn events(n_max: usize) -> Vec<Event> {
    let digest = digest(b"x");
    let lines = JOURNAL.lines().take(n_max).map(|line| line.replace("DIGEST", &digest.to_string()));
    lines.map(|line| serde_json::from_str(&line).unwrap()).collect()
}

fn shown(spans: &[Value]) -> String {
    let name = |id: &Value| spans.iter().find(|span| span["spanId"] == *id).map(|span| span["name"].clone());
    let lines = spans.iter().map(|span| {
        let attribute = |key: &str| {
            let all = span["attributes"].as_array().unwrap();
            all.iter()
                .find(|attribute| attribute["key"] == key)
                .map(|attribute| attribute["value"].to_string())
        };
        format!(
            "{} {}-{} below {} {} {}\n",
            span["name"],
            span["startTimeUnixNano"].as_str().unwrap().trim_end_matches("000000"),
            span["endTimeUnixNano"].as_str().unwrap().trim_end_matches("000000"),
            name(&span["parentSpanId"]).unwrap_or_default(),
            attribute("gen_ai.usage.input_tokens").unwrap_or_default(),
            attribute("error.type").unwrap_or_default(),
        )
    });
    lines.collect::<Vec<_>>().concat()
}

#[test]
fn a_run_becomes_a_tree_of_spans_without_a_word_of_what_was_said() {
    let spans = spans(&run(), events(99).iter());
    expect![[r#"
        "invoke_agent spelunk" 1000-1200 below null  
        "chat m" 1020-1120 below "invoke_agent repl" {"intValue":"7"} 
        "execute_tool python" 1125-1140 below "invoke_agent repl"  
        "chat m" 1160-1170 below "invoke_agent direct"  {"stringValue":"model-overloaded"}
        "invoke_agent direct" 1150-1180 below "invoke_agent repl"  {"stringValue":"model-overloaded"}
        "invoke_agent repl" 1010-1190 below "invoke_agent spelunk"  
    "#]]
    .assert_eq(&shown(&spans));
    assert!(!request(&spans).to_string().contains("secret"));
}

#[test]
fn headers_are_pairs() {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(headers("a=1, b = 2=3 ,,c,=4"), [pair("a", "1"), pair("b", "2=3")]);
}

proptest! {
    #[test]
    fn a_run_that_was_cut_off_anywhere_is_whole(n_events in 0_usize..12) {
        let spans = spans(&run(), events(n_events).iter());
        let ids: Vec<&Value> = spans.iter().map(|span| &span["spanId"]).collect();
        for span in spans.iter().skip(1) {
            prop_assert!(ids.contains(&&span["parentSpanId"]), "{}", span);
        }
        let mut unique = ids.iter().map(ToString::to_string).collect::<Vec<_>>();
        unique.sort();
        unique.dedup();
        prop_assert_eq!(unique.len(), ids.len());
    }
}
