//! The tools for notes: variables and buffers.

use super::{Action, Effect, Entry};
use crate::mcp::schema::{input, objects, or_null, output, text, whole};
use crate::mcp::{notes, session_log as thinking};

pub(super) fn entries() -> Vec<Entry> {
    let mut entries = state();
    entries.extend(buffers());
    entries.extend(thoughts());
    entries
}

fn key() -> serde_json::Value {
    text("The name of the variable")
}

fn label() -> serde_json::Value {
    text("The buffer; `default` unless said")
}

fn state() -> Vec<Entry> {
    vec![
        Entry {
            name: "state_set",
            title: "Set a variable",
            doc: "Keeps a value outside of your window. At most 100 variables of 1 MB; they live as long as the server.",
            effect: Effect::Set,
            input: input(
                &["key", "value"],
                &[("key", key()), ("value", serde_json::json!({ "description": "A text, or any JSON" }))],
            ),
            output: output(
                &["key", "chars"],
                &[
                    ("key", key()),
                    ("chars", whole("Characters of the value")),
                    ("keys", whole("Variables altogether")),
                ],
            ),
            action: Action::Local(notes::set),
        },
        Entry {
            name: "state_get",
            title: "Get a variable",
            doc: "Gives a variable, or the part of it from character `start` to character `end`.",
            effect: Effect::Look,
            input: input(
                &["key"],
                &[
                    ("key", key()),
                    ("start", whole("The first character, from 0")),
                    ("end", whole("The character behind the last")),
                ],
            ),
            output: output(
                &["key", "value"],
                &[
                    ("key", key()),
                    ("value", text("The value, or the part")),
                    ("chars", whole("Characters of the whole")),
                ],
            ),
            action: Action::Local(notes::get),
        },
        Entry {
            name: "state_list",
            title: "List variables and buffers",
            doc: "Lists variables with a preview of 100 characters, and buffers with their sizes.",
            effect: Effect::Look,
            input: input(&[], &[]),
            output: output(
                &["state", "buffers"],
                &[("state", objects("The variables")), ("buffers", objects("The buffers"))],
            ),
            action: Action::Local(notes::list),
        },
        Entry {
            name: "state_clear",
            title: "Clear variables",
            doc: "Removes a variable, or all of them.",
            effect: Effect::Remove,
            input: input(&[], &[("key", key())]),
            output: output(&["cleared"], &[("cleared", whole("How many"))]),
            action: Action::Local(notes::clear),
        },
    ]
}

fn buffers() -> Vec<Entry> {
    let entries = || whole("Entries it has now");
    vec![
        Entry {
            name: "buffer_append",
            title: "Append to a buffer",
            doc: "Adds a piece to a buffer, to put a long text together.",
            effect: Effect::Add,
            input: input(&["text"], &[("text", text("The piece")), ("label", label())]),
            output: output(&["label", "entries"], &[("label", label()), ("entries", entries())]),
            action: Action::Local(notes::append),
        },
        Entry {
            name: "buffer_read",
            title: "Read a buffer",
            doc: "Gives the pieces of a buffer as one text.",
            effect: Effect::Look,
            input: input(
                &[],
                &[("label", label()), ("join", text("What stands between pieces; a line end unless said"))],
            ),
            output: output(
                &["label", "text"],
                &[("label", label()), ("text", text("All of it")), ("entries", entries())],
            ),
            action: Action::Local(notes::read),
        },
        Entry {
            name: "buffer_pop",
            title: "Take back the last piece",
            doc: "Removes the last piece of a buffer and gives it.",
            effect: Effect::Remove,
            input: input(&[], &[("label", label())]),
            output: output(
                &["label", "entries"],
                &[("label", label()), ("text", or_null(text("The piece"))), ("entries", entries())],
            ),
            action: Action::Local(notes::pop),
        },
        Entry {
            name: "buffer_clear",
            title: "Clear buffers",
            doc: "Removes a buffer, or all of them.",
            effect: Effect::Remove,
            input: input(&[], &[("label", text("The buffer; all unless said"))]),
            output: output(&["cleared"], &[("cleared", whole("How many pieces"))]),
            action: Action::Local(notes::clear_buffer),
        },
    ]
}

fn thoughts() -> Vec<Entry> {
    let session = || text("The context that holds the thoughts of this session");
    vec![
        Entry {
            name: "thought_add",
            title: "Keep a thought",
            doc: "Keeps a step of your reasoning. Thoughts outlive the session as a context; rlm_query takes them along with `thoughts`.",
            effect: Effect::Add,
            input: input(&["text"], &[("text", text("The thought"))]),
            output: output(
                &["thought", "context_id"],
                &[("thought", whole("Its number")), ("context_id", session())],
            ),
            action: Action::Local(thinking::add),
        },
        Entry {
            name: "thought_list",
            title: "List thoughts",
            doc: "Gives the thoughts of this session with the answers that were found, and the beginnings of the three sessions before.",
            effect: Effect::Look,
            input: input(&[], &[]),
            output: output(
                &["thoughts", "earlier"],
                &[
                    ("context_id", session()),
                    ("thoughts", objects("The thoughts, each with its answers")),
                    ("earlier", objects("Earlier sessions, the newest first")),
                ],
            ),
            action: Action::Local(thinking::list),
        },
    ]
}
