//! The task tools: a run whose analysts are agents of the host.

use serde_json::{Value, json};
use spelunk_types::Focus;

use super::runs::{limits, material};
use super::{Action, Effect, Entry, Waiting};
use crate::mcp::schema::{choice, flag, input, objects, or_null, output, text, whole};
use crate::mcp::tasks;

fn task() -> Value {
    text("The task, as task_list names it")
}

fn agent() -> Value {
    text("Who you are, the same in every call")
}

fn list_output() -> rmcp::model::JsonObject {
    output(
        &["run", "planned", "done", "tasks"],
        &[
            ("run", text("The run")),
            ("planned", whole("Parts that are read")),
            ("done", whole("Parts with a report")),
            ("failed", whole("Parts without one")),
            ("synthesis_blocked", flag("Whether the synthesis waits for parts")),
            ("tasks", objects("Tasks that can be worked on, and who has them")),
        ],
    )
}

fn task_output() -> rmcp::model::JsonObject {
    output(
        &["task", "instruction", "text"],
        &[
            ("task", task()),
            ("instruction", text("What to do, and the form of the report")),
            ("text", text("What to read")),
            ("text_chars", whole("Characters of all of it")),
            ("next_offset", or_null(whole("Where the text goes on"))),
            (
                "lease_until_ms",
                or_null(whole("When the task goes to another agent, in milliseconds since 1970")),
            ),
        ],
    )
}

pub(super) fn entries() -> Vec<Entry> {
    let mut entries = vec![start()];
    entries.extend(work());
    entries
}

fn start() -> Entry {
    let mut properties = vec![("question", text("The question; every task has the same"))];
    properties.extend(material());
    properties.extend([
        ("focus", choice("What an analysis looks for first", &Focus::ALL.map(Focus::name))),
        ("limits", limits()),
    ]);
    Entry {
        name: "rlm_tasks",
        title: "Cut text into tasks for agents",
        doc: "Starts a run whose analysts are your own agents: the text is cut into parts, each agent claims one after the other with task_claim and hands in its report with task_submit until none remain; the synthesis tasks follow, and rlm_result has the report. Only call it when it was asked for.",
        effect: Effect::Add,
        input: input(&["question"], &properties),
        output: list_output(),
        action: Action::Waiting(Waiting::Tasks),
    }
}

fn work() -> Vec<Entry> {
    vec![
        Entry {
            name: "task_list",
            title: "List tasks",
            doc: "Lists the tasks of a run that can be worked on, and how far it is.",
            effect: Effect::Look,
            input: input(&[], &[("run", text("The run; the only one unless said"))]),
            output: list_output(),
            action: Action::Local(tasks::list),
        },
        Entry {
            name: "task_claim",
            title: "Claim a task",
            doc: "Leases a task to you and gives what to do and what to read. A lease that ends gives the task to the next agent; claiming it again gives more time.",
            effect: Effect::Add,
            input: input(
                &["agent"],
                &[
                    ("agent", agent()),
                    ("task", text("The task; the first that nobody has unless said")),
                    ("run", text("The run; the only one unless said")),
                    ("lease_ms", whole("How long you need; ten minutes unless said")),
                ],
            ),
            output: task_output(),
            action: Action::Local(tasks::claim),
        },
        Entry {
            name: "task_get",
            title: "Read a task",
            doc: "Gives a task once more, or the rest of a long one.",
            effect: Effect::Look,
            input: input(
                &["task"],
                &[("task", task()), ("offset", whole("Leave out so many characters of the text"))],
            ),
            output: task_output(),
            action: Action::Local(tasks::get),
        },
        Entry {
            name: "task_submit",
            title: "Hand in a report",
            doc: "Hands in the report of a task you claimed, in the form that its instruction asks for. A report that cannot be used comes back with what is wrong, as a task that is yours.",
            effect: Effect::Add,
            input: input(
                &["task", "agent", "report"],
                &[
                    ("task", task()),
                    ("agent", agent()),
                    ("report", json!({ "description": "The report: a JSON object, or text" })),
                ],
            ),
            output: output(
                &["task", "accepted"],
                &[
                    ("task", task()),
                    ("accepted", flag("Whether it was taken")),
                    ("notice", text("What came of it, in a line")),
                    ("faults", text("What is wrong with it")),
                ],
            ),
            action: Action::Waiting(Waiting::Submit),
        },
    ]
}
