//! Replies made to be expensive: the work is counted, not timed.

use super::super::scan::Scan;
use super::{ParsedReply, show};
use crate::CELLS_MAX;

const MIB: usize = 1024 * 1024;
const SIZE: usize = MIB / 16;
/// The maximum bytes examined per byte of the reply.
const WORK_RATIO_MAX: u64 = 40;

/// Scans a reply of about `bytes` that repeats a text.
fn scan(text: &str, bytes: usize) -> ParsedReply {
    let reply = text.repeat(bytes.div_ceil(text.len()));
    let (found, work) = Scan::new(&reply).run();
    let ratio = work / reply.len() as u64;
    assert!(
        ratio <= WORK_RATIO_MAX,
        "each byte of {:?} repeated was looked at {ratio} times",
        text.chars().take(40).collect::<String>()
    );
    assert!(found.cells.len() <= CELLS_MAX);
    found
}

#[test]
fn a_hundred_thousand_fences_give_a_bounded_number_of_cells() {
    let found = scan("```repl\nx = 1\n```\n", 18 * 100_000);
    assert_eq!((found.cells.len(), found.n_dropped), (CELLS_MAX, 100_000 - CELLS_MAX as u64));
}

#[test]
fn strings_that_are_never_closed_are_not_followed_again_and_again() {
    scan("```repl\nx = '''\n```\n", SIZE);
    // An escaped quote does not close a string of an earlier block, and opens one in its own.
    scan("```repl\nx = \\'''\n```\n", SIZE);
    scan("```\nx = \\'''\n```\n", SIZE);
    scan("<python>x = \\'''</python>\n", SIZE);
    scan("```repl\nx = f'''{\n```\n", SIZE);
    scan("```repl\nx = '''a'''; y = \"\"\"\n```\n", SIZE);
    scan("```\nx = '''\n```\n", SIZE);
    scan("```repl\nx = 'a\\\n```\n", SIZE);
    let quotes = "```repl\nx = \"\"\"\n```\n```repl\n".repeat(3) + &"```repl\nx\n```\n".repeat(3_000);
    scan(&quotes, SIZE);
}

#[test]
fn fences_that_are_never_closed_are_read_once() {
    scan("```repl\n", SIZE);
    scan("```repl\n'''\n", SIZE);
    scan("~~~\n", SIZE);
    scan("```json\n", SIZE);
    scan("```\n", SIZE);
    scan("<python>\n", SIZE);
    scan("<python>'''</python>\n", SIZE);
    scan("<code>\n", SIZE);
    scan("<code>x = '''</code>\n", SIZE);
    scan("see ```repl\n", SIZE);
    scan("see ```repl\nx = '''\n```\n", SIZE);
    scan("<think>\n", SIZE);
    scan("FINAL(a)\n</think>\n", SIZE);
}

#[test]
fn answers_and_calls_that_are_not_whole_are_tried_a_few_times() {
    scan("FINAL(\n", SIZE);
    scan("FINAL(\"\n", SIZE);
    scan("FINAL('''\"\n", SIZE);
    scan("FINAL(a) `\n", SIZE);
    scan("{\"a\":\n", SIZE);
    scan("{\"a\":[\n{\"b\":1},\n", SIZE);
    scan("<tool_call>{\"code\":\n", SIZE);
    scan("{\"code\": \"x\"}\n", SIZE);
}

#[test]
fn backticks_of_every_length_are_read_once() {
    let runs: String = (1..1_000).map(|n| "`".repeat(n) + " ").collect();
    scan(&runs, SIZE);
    scan(&(runs + "\nFINAL(a)\n"), SIZE);
    scan("`", SIZE);
    scan("``` ", SIZE);
    scan("~", SIZE);
}

#[test]
fn what_is_no_python_at_all_is_given_up() {
    scan("```repl\n$$$$$$$$\n'\nf'\n", SIZE);
    scan("```repl\n\\\n\x0c\t \\ é 𝒳 \u{feff}\n```\n", SIZE);
}

#[test]
fn a_reply_of_ten_megabytes_is_one_cell() {
    let code = "x = 'some text'\n".repeat(10 * MIB / 16);
    let (found, work) = Scan::new(&format!("```repl\n{code}```\n")).run();
    assert_eq!(found.cells.len(), 1);
    assert_eq!(found.cells[0].code, code.trim_end());
    assert!(work / code.len() as u64 <= 6, "{work}");
}

#[test]
fn a_program_that_nests_too_deep_for_a_tree_is_not_parsed() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("f(", ")"), ("{1:", "}"), ("-", ""), ("not ", ""), ("1**", "1")]
    {
        let code = format!("print({}1{})", open.repeat(50_000), close.repeat(50_000));
        assert_eq!(super::find_cells(&format!("```\n{code}\n```\n")).cells, []);
    }
    for piece in
        ["lambda a, b: ", "not not not lambda a, b: ", "x if y else ", "a.b.", "async ", "1+", "if x:"]
    {
        let code = format!("{}1", piece.repeat(15_000));
        assert_eq!(super::find_cells(&format!("```\n{code}\n```\n")).cells, []);
    }
    let steps: String =
        (0..700).map(|n| format!("{}if x:\n", " ".repeat(n)) + &" ".repeat(n + 1) + ")\n").collect();
    assert_eq!(super::find_cells(&format!("```\n{steps}\n```\n")).cells, []);
}

#[test]
fn a_long_flat_program_is_parsed() {
    let list = "    [1, 'two', (3, 4)],\n".repeat(3_000);
    let code = format!("rows = [\n{list}]\n{}", "total = f(total + 1) * 2\n".repeat(3_000));
    let found = super::find_cells(&format!("```\n{code}```\n"));
    assert_eq!(found.cells.len(), 1, "{}", show(&found));
}
