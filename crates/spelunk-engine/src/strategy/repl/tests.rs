use super::{ErrorCode, LoopGuard, Turn, find_cells};

/// The messages to the model after these replies, each given with the output of its cells.
fn judged(turns: &[(&str, &str)]) -> Vec<String> {
    let mut loop_guard = LoopGuard::default();
    let told = turns.iter().map(|(reply, said)| {
        let said = if said.is_empty() { Vec::new() } else { vec![(*said).to_owned()] };
        match loop_guard.judge(&find_cells(reply), said) {
            Turn::Message(text) => text.lines().next_back().unwrap_or_default().chars().take(24).collect(),
            Turn::Stuck(ErrorCode::ModelStuck) => "stuck".to_owned(),
            Turn::Stuck(_) | Turn::Answered(_) => "?".to_owned(),
        }
    });
    told.collect()
}

#[test]
fn talk_without_code_is_named_and_then_ended() {
    let code = "```repl\nprint(1)\n```";
    assert_eq!(
        judged(&[("Hm.", ""), (code, "Output:\n1"), ("Hm.", ""), ("Hm.", ""), ("Hm.", "")]),
        ["No code was found in you", "1", "No code was found in you", "No code was found in you", "stuck"]
    );
}

#[test]
fn the_same_code_with_the_same_result_is_named_and_then_ended() {
    let code = "```repl\nprint(1)\n```";
    let same = (code, "Output:\n1");
    assert_eq!(
        judged(&[same, same, (code, "Output:\n2"), same, same, same, same]),
        [
            "1",
            "This repeats an earlier ",
            "2",
            "This repeats an earlier ",
            "This repeats an earlier ",
            "stuck",
            "stuck"
        ]
    );
}
