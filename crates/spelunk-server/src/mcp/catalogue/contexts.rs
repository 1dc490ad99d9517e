//! The context tools.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::{Action, Effect, Entry};
use crate::mcp::contexts;
use crate::mcp::schema::{choice, flag, input, object, objects, or_null, output, text, texts, whole};

pub(super) fn entries() -> Vec<Entry> {
    vec![list(), peek(), grep(), chunk(), load(), search(), register(), batch_peek(), batch_grep()]
}

fn id() -> Value {
    text("The context, as context_list names it")
}

fn list() -> Entry {
    Entry {
        name: "context_list",
        title: "List contexts",
        doc: "Lists the registered texts with their sizes, never their content. Begin here.",
        effect: Effect::Look,
        input: input(
            &[],
            &[
                ("type", text("Only contexts of this type")),
                ("offset", whole("How many to leave out at the beginning")),
            ],
        ),
        output: output(
            &["contexts", "total"],
            &[
                ("contexts", objects("What is known of each")),
                ("total", whole("How many there are")),
                ("next_offset", or_null(whole("Where the next list begins"))),
            ],
        ),
        action: Action::Local(contexts::list),
    }
}

fn peek() -> Entry {
    Entry {
        name: "context_peek",
        title: "Peek into a context",
        doc: "Shows the first lines of a context, and what to do next.",
        effect: Effect::Look,
        input: input(
            &["context_id"],
            &[("context_id", id()), ("lines", whole("How many lines; 10 unless said, 50 at most"))],
        ),
        output: output(
            &["context", "preview"],
            &[
                ("context", object("What is known of it")),
                ("preview", text("The first lines")),
                ("truncated", flag("Whether the last line shown is cut")),
                ("suggestions", texts("Next steps")),
            ],
        ),
        action: Action::Local(contexts::peek),
    }
}

fn grep() -> Entry {
    Entry {
        name: "context_grep",
        title: "Grep a context",
        doc: "Finds lines of a context by a regular expression, without regard to case. At most 20 are shown, all are counted.",
        effect: Effect::Look,
        input: input(
            &["context_id", "pattern"],
            &[
                ("context_id", id()),
                ("pattern", text("A regular expression")),
                ("context_lines", whole("Lines around each match; 2 unless said, 10 at most")),
                ("case_sensitive", flag("Tell upper and lower case apart")),
                ("literal", flag("Take the pattern as it is")),
            ],
        ),
        output: output(
            &["context", "matches", "total_matches"],
            &[
                ("context", id()),
                ("matches", objects("Line number, text, and the lines around")),
                ("total_matches", whole("Lines that match")),
                ("truncated", flag("Whether more match than are shown")),
                ("suggestions", texts("Next steps")),
            ],
        ),
        action: Action::Local(contexts::grep),
    }
}

fn chunk() -> Entry {
    Entry {
        name: "context_chunk",
        title: "Read a page of a context",
        doc: "Reads a context page by page.",
        effect: Effect::Look,
        input: input(
            &["context_id"],
            &[
                ("context_id", id()),
                ("chunk_index", whole("Which page, from 0")),
                ("chunk_size", whole("Lines of a page; 50 unless said, 200 at most")),
            ],
        ),
        output: output(
            &["context", "content", "chunk", "total_chunks"],
            &[
                ("context", id()),
                ("content", text("The page")),
                ("chunk", whole("Which page this is")),
                ("total_chunks", whole("How many pages there are")),
                ("lines", text("Which lines these are")),
                ("navigation", object("The pages before and behind, as `prev` and `next`")),
            ],
        ),
        action: Action::Local(contexts::chunk),
    }
}

fn load() -> Entry {
    Entry {
        name: "context_load",
        title: "Load a context",
        doc: "Gives the text of a context from its beginning, up to a cap. Costly: peek and grep first.",
        effect: Effect::Look,
        input: input(
            &["context_id"],
            &[
                ("context_id", id()),
                (
                    "chars_max",
                    whole("The most characters; 20000 unless said, and never more than the server allows"),
                ),
            ],
        ),
        output: output(
            &["context", "content", "size_chars", "truncated"],
            &[
                ("context", id()),
                ("content", text("The text")),
                ("size_chars", whole("Characters of the whole")),
                ("size_tokens_approx", whole("Tokens of the whole, about")),
                ("truncated", flag("Whether the end is missing")),
                ("warning", or_null(text("What to do instead next time"))),
            ],
        ),
        action: Action::Local(contexts::load),
    }
}

fn search() -> Entry {
    Entry {
        name: "context_search",
        title: "Search all contexts",
        doc: "Finds the passages of all contexts that share most words with a query, best first; with mode `meaning`, those that mean the same in whatever words; or, with mode `pattern`, the contexts in which a regular expression matches.",
        effect: Effect::Look,
        input: input(
            &["query"],
            &[
                ("query", text("Words, or a regular expression")),
                (
                    "mode",
                    choice("How to search; words unless said", &["words", "meaning", "hybrid", "pattern"]),
                ),
                ("contexts", texts("Only these, but not with mode `pattern`; all unless named")),
                ("results_max", whole("Passages at most; 5 unless said, 20 at most")),
            ],
        ),
        output: output(
            &["mode", "results"],
            &[("mode", text("How it was searched")), ("results", objects("What was found"))],
        ),
        action: Action::Local(contexts::search),
    }
}

fn register() -> Entry {
    Entry {
        name: "context_register",
        title: "Register a context",
        doc: "Registers a file, the files of a directory, or a text, so that it can be explored. Only below the roots of the server; secrets are refused.",
        effect: Effect::Set,
        input: input(
            &[],
            &[
                ("path", text("A file or a directory, absolute or from the directory of the server")),
                ("text", text("The text itself, instead of a path")),
                ("context_id", text("Its id; made from the name of the file unless said")),
                (
                    "type",
                    text(
                        "identity, project, temporal, document, memory, tool_result, web or a new one; document unless said",
                    ),
                ),
                ("pattern", text("For a directory: which files, such as `*.md` or `**/*.rs`")),
                ("prefix", text("For a directory: what the ids begin with")),
                ("replace", flag("Take the place of a context that has the id already")),
            ],
        ),
        output: output(
            &["added", "already"],
            &[
                ("added", objects("New contexts")),
                ("already", texts("Ids that were there")),
                ("skipped", object("How many files were left out, by reason")),
            ],
        ),
        action: Action::Local(contexts::register),
    }
}

fn batch_peek() -> Entry {
    Entry {
        name: "context_batch_peek",
        title: "Peek into many contexts",
        doc: "Many peeks in one call, 400 characters of each.",
        effect: Effect::Look,
        input: input(
            &["queries"],
            &[("queries", queries("Objects with `context_id` and, if wanted, `lines`"))],
        ),
        output: batch_output(),
        action: Action::Local(contexts::batch_peek),
    }
}

fn batch_grep() -> Entry {
    Entry {
        name: "context_batch_grep",
        title: "Grep many contexts",
        doc: "Many greps in one call, 400 characters of matches of each.",
        effect: Effect::Look,
        input: input(&["queries"], &[("queries", queries("Objects with `context_id` and `pattern`"))]),
        output: batch_output(),
        action: Action::Local(contexts::batch_grep),
    }
}

/// The queries of a batch.
fn queries(doc: &str) -> Value {
    json!({ "type": "array", "maxItems": 100, "items": { "type": "object" }, "description": doc })
}

fn batch_output() -> JsonObject {
    output(
        &["results", "failed"],
        &[
            ("results", objects("One for each query; one that failed has `error`")),
            ("failed", whole("How many failed")),
        ],
    )
}
