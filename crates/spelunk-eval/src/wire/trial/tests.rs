//! Results are readable whoever wrote them, and however far they got.

use super::*;

#[test]
fn a_torn_last_line_is_left_out_and_the_last_line_of_a_trial_counts() {
    let mut trial =
        Trial { task: "a".into(), strategy: "auto".into(), status: Status::Outage, ..Trial::default() };
    let mut text = write_trial(&trial);
    (trial.status, trial.score, trial.failure) = (Status::Answered, Some(0.5), Some(Failure::Coverage));
    text.push_str(&write_trial(&trial));
    text.push_str(&write_note(&Note { note: "budget-time".into(), planned: 4, done: 1 }));
    let whole = text.len();
    text.push_str("{\"engine\":\"spelunk\",\"ta");
    let read = read_trials(&text).unwrap();
    assert_eq!((read.trials, read.bytes_whole), (vec![trial], whole));
    assert_eq!(read.note, Some(Note { note: "budget-time".into(), planned: 4, done: 1 }));
}

#[test]
fn the_lines_of_another_engine_are_read() {
    let line = r#"{"engine":"rlms","task":"a","strategy":"rlms","model":"m","repeat":0,"answer":"ANSWER: 5","tokens_in":10,"tokens_out":2,"calls":3,"wall_ms":9,"status":"error","error":"no","score":null,"more":[1]}"#;
    let read = read_trials(&format!(
        "{line}\n{}\n",
        line.replace("\"repeat\":0", "\"repeat\":1")
            .replace("error\":\"no\"", "error\":null")
            .replace("\"status\":\"error\"", "\"status\":\"ok\"")
    ))
    .unwrap();
    let said: Vec<(Status, u64, Option<f64>)> =
        read.trials.iter().map(|trial| (trial.status, trial.tokens_used(), trial.score)).collect();
    assert_eq!(said, [(Status::Failed, 12, None), (Status::Answered, 12, None)]);
}

#[test]
fn a_line_that_is_no_trial_is_refused_by_its_number() {
    let refused = |text: &str| read_trials(text).unwrap_err().to_string();
    assert_eq!(refused("{}\n"), "line 1 of the results is not valid: it has no `task`");
    assert!(refused("\n\nx\n").starts_with("line 3 of the results is not valid: "));
    assert_eq!(read_trials("").unwrap(), Trials::default());
}
