//! The supported shapes of replies, each with everything found in it.

mod final_text;
mod hostile;
mod properties;
mod shapes;

use expect_test::Expect;

use super::{FinalText, ParsedReply, find_cells};

fn check(reply: &str, expected: &Expect) {
    expected.assert_eq(&show(&find_cells(reply)));
}

fn show(found: &ParsedReply) -> String {
    let mut shown = String::new();
    for cell in &found.cells {
        let cut = if cell.is_cut { ", cut" } else { "" };
        shown.push_str(&format!("cell at line {}{cut}: {:?}\n", cell.line, cell.code));
    }
    match &found.final_text {
        Some(FinalText::Value(value)) => shown.push_str(&format!("final: {value:?}\n")),
        Some(FinalText::Variable(name)) => shown.push_str(&format!("final variable: {name}\n")),
        None => {}
    }
    if !found.prose.is_empty() {
        shown.push_str(&format!("prose: {:?}\n", found.prose));
    }
    if found.n_dropped > 0 {
        shown.push_str(&format!("dropped: {}\n", found.n_dropped));
    }
    shown
}
