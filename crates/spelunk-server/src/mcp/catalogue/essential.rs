//! The tools that are listed to every client. Descriptions are short: the whole list is in the
//! agent's context window in every conversation.

use serde_json::{Value, json};
use spelunk_app::config::StrategyChoice;

use super::Action::{Local, Waiting as Waits};
use super::Effect::{Add, Ask, Look, Set};
use super::tools::rlm_repl;
use super::{Entry, ToolSet, Waiting, choice, flag, object, text, texts, whole};
use crate::mcp::{contexts, notes, reading, run_tools};

pub(super) fn entries() -> Vec<Entry> {
    let entries = [
        search(),
        context_list(),
        context_read(),
        context_grep(),
        context_add(),
        rlm_repl(),
        rlm_ask(),
        rlm_run(),
        note(),
    ];
    entries.into_iter().map(|entry| entry.listed_in(ToolSet::Essential)).collect()
}

fn of(kind: &str) -> Value {
    json!({ "type": kind })
}

fn ids() -> Value {
    texts("Context ids")
}

fn search() -> Entry {
    Entry::new(Look, "search", "Search text", Local(reading::search))
        .doc("Finds the best passages for a query, by words and by meaning, in files (without registering them) or in contexts.")
        .needs("query", text("The query"))
        .takes("paths", texts("Files or directories; default: the contexts"))
        .takes("contexts", ids())
        .takes("mode", choice("Default hybrid", &["hybrid", "words", "meaning"]))
        .takes("results_max", whole("Default 5, at most 20"))
        .gives("results", of("array"))
}

fn context_list() -> Entry {
    Entry::new(Look, "context_list", "List contexts", Local(contexts::list))
        .doc("Lists registered texts (contexts) with their sizes.")
        .takes("type", text("Only this type"))
        .takes("offset", whole("Skip this many"))
        .gives("contexts", of("array"))
        .gives("total", of("integer"))
        .may_give("next_offset", json!({ "type": ["integer", "null"] }))
}

fn context_read() -> Entry {
    Entry::new(Look, "context_read", "Read contexts", Local(reading::read))
        .doc("Reads lines of one or more contexts.")
        .needs("ids", ids())
        .takes("line", whole("First line, from 1"))
        .takes("lines", whole("Number of lines; default 50, at most 200"))
        .takes("whole", flag("Read the whole text, up to the server's limit"))
        .gives("results", of("array"))
        .gives("failed", of("integer"))
}

fn context_grep() -> Entry {
    Entry::new(Look, "context_grep", "Grep contexts", Local(reading::grep))
        .doc("Finds lines by a regular expression, ignoring case. Shows at most 20 per context and counts all.")
        .needs("pattern", text("A regular expression"))
        .takes("ids", texts("Context ids; default all"))
        .takes("context_lines", whole("Lines around each match; default 2, at most 10"))
        .takes("case_sensitive", flag("Match case"))
        .takes("literal", flag("Match a literal string"))
        .may_give("results", of("array"))
        .may_give("failed", of("integer"))
}

fn context_add() -> Entry {
    Entry::new(Set, "context_add", "Add contexts", Local(reading::add))
        .doc(
            "Registers a file, a directory with everything below it, or a text as contexts to read and grep.",
        )
        .takes("path", text("A file or directory below the server's roots"))
        .takes("text", text("The text itself; needs `id`"))
        .takes("id", text("The context's id; for a directory, ids begin with `ID/`"))
        .takes("type", text("Default document"))
        .takes("pattern", text("For a directory: only these files, such as `*.md`"))
        .takes("replace", flag("Replace the context with this id"))
        .takes("personal", flag("For a directory with `foundation/`, `projects/`, `temporal/` or `memory/graph.json`: register these"))
        .gives("added", of("array"))
        .gives("already", of("array"))
        .may_give("skipped", of("object"))
}

fn rlm_ask() -> Entry {
    let doc = "Starts a run: models read text that is too large for any context window and return one answer with checked citations. Costs model calls: use it only when the user asks for it.";
    Entry::new(Ask, "rlm_ask", "Ask about text of any size", Waits(Waiting::Ask))
        .doc(doc)
        .needs("question", text("The question"))
        .takes("paths", texts("Files or directories below the server's roots"))
        .takes("contexts", ids())
        .takes("strategy", choice("Default auto", StrategyChoice::WORDS))
        .takes("schema", object("JSON Schema of the answer"))
        .takes("run", text("Ask an agent's finished run a follow-up question"))
        .takes("limits", object("Lower limits, such as calls_max, tokens_max, cost_microusd_max"))
        .takes("wait_ms", whole("Default 45000; after that the run continues, and rlm_run gets its result"))
        .with(run_output)
}

fn run_output(entry: Entry) -> Entry {
    entry
        .may_give("run", json!({ "type": ["string", "null"] }))
        .may_give("state", of("string"))
        .may_give("answer", json!({ "type": ["string", "null"] }))
        .may_give("citations", json!({ "type": ["array", "null"] }))
}

fn rlm_run() -> Entry {
    Entry::new(Ask, "rlm_run", "Follow a run", Waits(Waiting::Run))
        .doc("Gets the result of a run, shows its status (without `run`: the newest runs), cancels it, or resumes it after an interruption or a limit.")
        .needs("action", choice("What to do", &run_tools::ACTIONS))
        .takes("run", text("Run id, or the start of its short id"))
        .takes("offset", whole("With result: skip this many characters"))
        .takes("limits", object("With resume: lower limits"))
        .takes("wait_ms", whole("Default 45000"))
        .with(run_output)
        .may_give("runs", of("array"))
}

fn note() -> Entry {
    Entry::new(Add, "notes", "Keep notes", Local(notes::note))
        .doc("Keeps values outside your context window: variables, and lists to assemble a long text.")
        .needs("action", choice("append, read and pop use a list; clear removes either", &notes::ACTIONS))
        .takes("key", text("The name; needed by set and get"))
        .takes("value", json!({ "description": "Text or JSON, with set and append" }))
        .takes("start", whole("With get: start character"))
        .takes("end", whole("With get: end character"))
}
