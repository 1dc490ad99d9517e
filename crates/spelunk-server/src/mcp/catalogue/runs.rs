//! The tools for runs and code sessions.

use serde_json::{Value, json};
use spelunk_app::asking::{attachments_schema, messages_schema};
use spelunk_app::config::StrategyChoice;
use spelunk_types::Focus;

use super::{Action, Effect, Entry, Waiting};
use crate::mcp::models::ModelChoice;
use crate::mcp::query::LIMITS;
use crate::mcp::schema::{choice, flag, input, object, objects, or_null, output, text, texts, whole};
use crate::mcp::{plan, run_tools};

pub(super) fn entries() -> Vec<Entry> {
    let mut entries = vec![ask(), resume(), result()];
    entries.extend(others());
    entries.push(repl());
    entries
}

pub(super) fn material() -> Vec<(&'static str, Value)> {
    vec![
        ("paths", texts("Files or directories below the roots of the server")),
        ("contexts", texts("Registered contexts")),
        ("include", texts("Read only files of directories that match, such as `*.rs`")),
        ("exclude", texts("Do not read files that match")),
    ]
}

fn run() -> Value {
    text("The run, by its name or the end of it")
}

fn wait_ms() -> Value {
    whole(
        "How long to wait for the answer; until the end unless said, 0 starts the run and leaves it running",
    )
}

pub(super) fn limits() -> Value {
    let properties: serde_json::Map<String, Value> =
        LIMITS.iter().map(|name| ((*name).to_owned(), json!({ "type": "integer", "minimum": 0 }))).collect();
    json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "description": "Lower limits for this run; the settings of the server are the most",
    })
}

fn model() -> Value {
    choice(
        "Who answers: the provider of the server, the model of this client by sampling, or the first of these that there is",
        &ModelChoice::WORDS,
    )
}

fn run_output() -> rmcp::model::JsonObject {
    output(
        &["run"],
        &[
            ("run", or_null(text("The run"))),
            ("state", text("How it stands")),
            ("answer", or_null(text("The answer"))),
            (
                "citations",
                json!({ "type": ["array", "null"], "items": { "type": "object" }, "description": "Evidence that was found in the sources" }),
            ),
            ("success", flag("Whether there is an answer")),
            ("evidence", objects("Citations that were looked up, and facts that an agent kept")),
            ("metrics", object("What was counted: calls, tokens, cost, time")),
            ("errors", objects("What went wrong")),
            ("degraded", flag("Whether there was no model, so that these are passages only")),
            (
                "passages",
                objects("The passages that share most words with the question, where there was no model"),
            ),
        ],
    )
}

fn ask() -> Entry {
    let mut properties = vec![
        ("question", text("What you want to know; needed unless there are `messages`")),
        ("messages", messages_schema()),
        ("system", text("The instructions of the conversation, with `messages`")),
        ("attachments", attachments_schema()),
        (
            "run",
            text(
                "Ask the run of an agent more, by its name or the end of it: it goes on with its files, variables and conversation. Goes with `question`, `limits` and `wait_ms` only",
            ),
        ),
    ];
    properties.extend(material());
    properties.extend([
        ("strategy", choice("How to answer; auto unless said", StrategyChoice::WORDS)),
        ("focus", choice("What an analysis looks for first", &Focus::ALL.map(Focus::name))),
        ("schema", object("A JSON Schema that the answer must fit")),
        ("model", model()),
        ("limits", limits()),
        ("wait_ms", wait_ms()),
        (
            "thoughts",
            flag("Take the thoughts of this session along, and keep the answer with the last of them"),
        ),
    ]);
    Entry {
        name: "rlm_query",
        title: "Ask a question of text of any size",
        doc: "Starts a run: models read text that is too large for any window, by code and by parts, and one answer with checked evidence comes back. Costs calls of a model. Only call it when it was asked for.",
        effect: Effect::Ask,
        input: input(&[], &properties),
        output: run_output(),
        action: Action::Waiting(Waiting::Query),
    }
}

fn resume() -> Entry {
    Entry {
        name: "rlm_resume",
        title: "Go on with a run",
        doc: "Goes on with a run that was cut off, cancelled or stopped at a limit. Calls that were answered are not made again.",
        effect: Effect::Ask,
        input: input(&["run"], &[("run", run()), ("limits", limits()), ("wait_ms", wait_ms())]),
        output: run_output(),
        action: Action::Waiting(Waiting::Resume),
    }
}

fn result() -> Entry {
    Entry {
        name: "rlm_result",
        title: "Get the answer of a run",
        doc: "Gives the answer of a run, and waits for it while the run is under way.",
        effect: Effect::Look,
        input: input(
            &["run"],
            &[
                ("run", run()),
                ("wait_ms", wait_ms()),
                ("offset", whole("Leave out so many characters of the answer, to read on where it was cut")),
            ],
        ),
        output: run_output(),
        action: Action::Waiting(Waiting::Result),
    }
}

fn others() -> Vec<Entry> {
    let mut planned = vec![("question", text("The question; it goes to every task, and counts"))];
    planned.extend(material());
    planned.push(("tasks", flag("Show every task, not only the files")));
    vec![
        Entry {
            name: "rlm_plan",
            title: "Plan a run",
            doc: "Shows how text would be cut into tasks and what that would cost. Nothing is spent.",
            effect: Effect::Look,
            input: input(&[], &planned),
            output: output(
                &["manifest", "tasks", "n_tasks"],
                &[
                    ("manifest", objects("The files, with their types")),
                    ("tasks", objects("The tasks, if wanted")),
                    ("n_tasks", whole("How many tasks")),
                    ("usage_at_most", object("Tokens")),
                    ("cost_microusd_at_most", object("By model, in millionths of a dollar")),
                ],
            ),
            action: Action::Local(plan::plan),
        },
        Entry {
            name: "rlm_status",
            title: "Look at runs",
            doc: "Says how a run stands, or lists the newest runs.",
            effect: Effect::Look,
            input: input(&[], &[("run", run())]),
            output: output(
                &[],
                &[
                    ("run", text("The run")),
                    ("state", text("How it stands")),
                    ("runs", objects("The newest runs")),
                ],
            ),
            action: Action::Local(run_tools::status),
        },
        Entry {
            name: "rlm_cancel",
            title: "Cancel a run",
            doc: "Stops a run of this server. What it has is kept, and rlm_resume goes on with it.",
            effect: Effect::Set,
            input: input(&["run"], &[("run", run())]),
            output: output(&["run", "state"], &[("run", text("The run")), ("state", text("How it stands"))]),
            action: Action::Waiting(Waiting::Cancel),
        },
    ]
}

fn repl() -> Entry {
    let mut properties = vec![
        (
            "code",
            text(
                "Python. `context` is the text; peek(), grep(), chunk(), search(), llm_query() and FINAL() are there; SHOW_VARS() lists variables. Left out: what `context` is",
            ),
        ),
        (
            "session",
            text("The session, to go on with it; left out, a new one is opened over `paths` or `contexts`"),
        ),
        ("end", flag("End the session")),
        ("model", model()),
    ];
    properties.extend(material());
    Entry {
        name: "rlm_repl",
        title: "Run code over text",
        doc: "Runs a cell of Python in a sandbox, over text that stays outside of your window. Variables stay from cell to cell. You are the root model: explore, ask sub-questions with llm_query, and end with FINAL(answer).",
        effect: Effect::Ask,
        input: input(&[], &properties),
        output: output(
            &["session", "ended"],
            &[
                ("session", text("The name of the session")),
                ("output", or_null(text("What the cell printed"))),
                ("ended", flag("Whether the session is over")),
            ],
        ),
        action: Action::Waiting(Waiting::Repl),
    }
}
