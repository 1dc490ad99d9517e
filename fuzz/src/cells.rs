//! Model replies: code is found in them, whatever they contain.

use spelunk_sandbox::{CELLS_MAX, find_cells, needs_more};

/// Finding code is total, bounded and in order, and finds no code that is not in the reply.
pub(crate) fn cells(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    // The samples are documents; as replies they are fenced, half fenced, tool calls and tagged.
    let half = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(half);
    let forms = [
        text.to_string(),
        format!("```repl\n{text}\n```\nFINAL({first})"),
        format!("{first}\n```python\n{second}"),
        format!("<think>{first}</think><repl>{second}</repl>"),
        format!("~~~~py\n{first}\n~~~\n{second}\n~~~~\n"),
    ];
    for reply in forms {
        check(&reply);
    }
}

fn check(reply: &str) {
    let found = find_cells(reply);
    assert!(found.cells.len() <= CELLS_MAX, "more cells than are taken");
    assert!(found.n_dropped == 0 || found.cells.len() == CELLS_MAX, "cells are dropped for no reason");
    let n_lines = reply.lines().count().max(1);
    let mut last = 0;
    for cell in &found.cells {
        assert!(cell.line >= last && cell.line as usize <= n_lines + 1, "cells are out of order");
        last = cell.line;
        assert!(cell.code.len() <= reply.len(), "there is more code than reply");
        needs_more(&cell.code);
    }
}
