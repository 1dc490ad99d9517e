//! The tools that are listed on request: tasks for agents of the host, plans, thoughts, and the former names of the
//! essential tools, which keep working.

use serde_json::{Map, Value, json};
use spelunk_app::asking::{attachments_schema, messages_schema};
use spelunk_app::config::StrategyChoice;
use spelunk_types::Focus;

use super::Action::{Local, Waiting as Waits};
use super::Effect::{Add, Ask, Look, Remove, Set};
use super::{Entry, ToolSet, Waiting};
use crate::mcp::agent_tasks::AgentTasks;
use crate::mcp::models::ModelChoice;
use crate::mcp::query::LIMITS;
use crate::mcp::schema::{choice, flag, object, objects, or_null, text, texts, whole};
use crate::mcp::{contexts, notes, query, run_tools, session_log, tasks};

pub(super) fn entries() -> Vec<Entry> {
    let groups = [
        context_looks(),
        context_searches(),
        vec![rlm_query()],
        runs(),
        vec![rlm_tasks()],
        agent_tasks(),
        variables(),
        buffers(),
        thoughts(),
    ];
    groups.into_iter().flatten().collect()
}

fn context_id() -> Value {
    text("The context, as context_list names it")
}

fn context_looks() -> Vec<Entry> {
    vec![
        Entry::new(Look, "context_peek", "Peek into a context", Local(contexts::peek))
            .doc("Shows the first lines of a context, and what to do next.")
            .needs("context_id", context_id())
            .takes("lines", whole("How many lines; 10 unless said, 50 at most"))
            .gives("context", object("What is known of it"))
            .gives("preview", text("The first lines"))
            .may_give("truncated", flag("Whether the last line shown is cut"))
            .may_give("suggestions", texts("Next steps")),
        Entry::new(Look, "context_chunk", "Read a page of a context", Local(contexts::chunk))
            .doc("Reads a context page by page.")
            .needs("context_id", context_id())
            .takes("chunk_index", whole("Which page, from 0"))
            .takes("chunk_size", whole("Lines of a page; 50 unless said, 200 at most"))
            .gives("context", context_id())
            .gives("content", text("The page"))
            .gives("chunk", whole("Which page this is"))
            .gives("total_chunks", whole("How many pages there are"))
            .may_give("lines", text("Which lines these are"))
            .may_give("navigation", object("The pages before and behind, as `prev` and `next`")),
        Entry::new(Look, "context_load", "Load a context", Local(contexts::load))
            .doc("Gives the text of a context from its beginning, up to a cap. Costly: peek and grep first.")
            .needs("context_id", context_id())
            .takes(
                "chars_max",
                whole("The most characters; 20000 unless said, and never more than the server allows"),
            )
            .gives("context", context_id())
            .gives("content", text("The text"))
            .gives("size_chars", whole("Characters of the whole"))
            .may_give("size_tokens_approx", whole("Tokens of the whole, about"))
            .gives("truncated", flag("Whether the end is missing"))
            .may_give("warning", or_null(text("What to do instead next time"))),
    ]
}

fn context_searches() -> Vec<Entry> {
    let modes = ["words", "meaning", "hybrid", "pattern"];
    let queries = |doc: &str| json!({ "type": "array", "maxItems": 100, "items": { "type": "object" }, "description": doc });
    let batch_output = |entry: Entry| {
        entry
            .gives("results", objects("One for each query; one that failed has `error`"))
            .gives("failed", whole("How many failed"))
    };
    vec![
        Entry::new(Look, "context_search", "Search all contexts", Local(contexts::search))
            .doc("Finds the passages of all contexts that share most words with a query, best first; with mode `meaning`, those that mean the same in whatever words; or, with mode `pattern`, the contexts in which a regular expression matches.")
            .needs("query", text("Words, or a regular expression"))
            .takes("mode", choice("How to search; words unless said", &modes))
            .takes("contexts", texts("Only these, but not with mode `pattern`; all unless named"))
            .takes("results_max", whole("Passages at most; 5 unless said, 20 at most"))
            .gives("mode", text("How it was searched"))
            .gives("results", objects("What was found")),
        Entry::new(Set, "context_register", "Register a context", Local(contexts::register))
            .doc("Registers a file, the files of a directory, or a text, so that it can be explored. Only below the roots of the server; secrets are refused.")
            .takes("path", text("A file or a directory, absolute or from the directory of the server"))
            .takes("text", text("The text itself, instead of a path"))
            .takes("context_id", text("Its id; made from the name of the file unless said"))
            .takes("type", text("identity, project, temporal, document, memory, tool_result, web or a new one; document unless said"))
            .takes("pattern", text("For a directory: which files, such as `*.md` or `**/*.rs`"))
            .takes("prefix", text("For a directory: what the ids begin with"))
            .takes("replace", flag("Take the place of a context that has the id already"))
            .gives("added", objects("New contexts"))
            .gives("already", texts("Ids that were there"))
            .may_give("skipped", object("How many files were left out, by reason")),
        Entry::new(Look, "context_combined", "User, project and contexts in use", Local(contexts::combined))
            .doc("The user's contexts, those of a project and those in use as one object; YAML, JSON and Markdown are parsed.")
            .takes("project", text("The name of the project"))
            .takes("working", texts("Ids of contexts in use"))
            .gives("user", object("Contexts of the user"))
            .may_give("project", object("Contexts of the project"))
            .gives("working", object("Contexts in use")),
        Entry::new(Look, "context_stats", "Statistics of contexts", Local(contexts::stats))
            .doc("How many contexts there are, the memory of their texts, how often they were read, and the last requests for them.")
            .gives("store", object("Contexts by type"))
            .gives("memory", object("The memory of texts"))
            .gives("access_patterns", object("How often they were read"))
            .gives("accesses", objects("The last requests, oldest first")),
        Entry::new(Remove, "context_evict", "Free memory", Local(contexts::evict))
            .doc("Frees the memory of loaded texts, and removes texts that are past the time their policy gives them.")
            .takes("target_bytes", whole("What may stay in memory; nothing unless said"))
            .gives("evicted", whole("Texts that were in memory"))
            .gives("expired", whole("Contexts that were removed"))
            .gives("memory", object("The memory of texts")),
        Entry::new(Look, "context_batch_peek", "Peek into many contexts", Local(contexts::batch_peek))
            .doc("Many peeks in one call, 400 characters of each.")
            .needs("queries", queries("Objects with `context_id` and, if wanted, `lines`"))
            .with(batch_output),
        Entry::new(Look, "context_batch_grep", "Grep many contexts", Local(contexts::batch_grep))
            .doc("Many greps in one call, 400 characters of matches of each.")
            .needs("queries", queries("Objects with `context_id` and `pattern`"))
            .with(batch_output),
    ]
}

fn material(entry: Entry) -> Entry {
    entry
        .takes("paths", texts("Files or directories below the roots of the server"))
        .takes("contexts", texts("Registered contexts"))
        .takes("include", texts("Read only files of directories that match, such as `*.rs`"))
        .takes("exclude", texts("Do not read files that match"))
        .takes("types", texts("Types of files, such as `*.inc=source_code`"))
}

fn run() -> Value {
    text("The run, by its name or the end of it")
}

fn wait_ms() -> Value {
    whole(
        "How long to wait for the answer; until the end unless said, 0 starts the run and leaves it running",
    )
}

fn limits() -> Value {
    let limit = |name: &&str| ((*name).to_owned(), json!({ "type": "integer", "minimum": 0 }));
    json!({
        "type": "object",
        "properties": LIMITS.iter().map(limit).collect::<Map<_, _>>(),
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

fn focus() -> Value {
    choice("What an analysis looks for first", &Focus::ALL.map(Focus::name))
}

fn run_output(entry: Entry) -> Entry {
    let citations = json!({ "type": ["array", "null"], "items": { "type": "object" }, "description": "Evidence that was found in the sources" });
    entry
        .gives("run", or_null(text("The run")))
        .may_give("state", text("How it stands"))
        .may_give("answer", or_null(text("The answer")))
        .may_give("citations", citations)
        .may_give("success", flag("Whether there is an answer"))
        .may_give("evidence", objects("Citations that were looked up, and facts that an agent kept"))
        .may_give("metrics", object("What was counted: calls, tokens, cost, time"))
        .may_give("errors", objects("What went wrong"))
        .may_give("degraded", flag("Whether there was no model, so that these are passages only"))
        .may_give(
            "passages",
            objects("The passages that share most words with the question, where there was no model"),
        )
}

fn rlm_query() -> Entry {
    let doc = "Starts a run: models read text that is too large for any window, by code and by parts, and one answer with checked evidence comes back. Costs calls of a model. Only call it when it was asked for.";
    let of_run = "Ask the run of an agent more, by its name or the end of it: it goes on with its files, variables and conversation. Goes with `question`, `limits` and `wait_ms` only";
    let thoughts = "Take the thoughts of this session along, and keep the answer with the last of them";
    Entry::new(Ask, "rlm_query", "Ask a question of text of any size", Waits(Waiting::Query))
        .doc(doc)
        .takes("question", text("What you want to know; needed unless there are `messages`"))
        .takes("messages", messages_schema())
        .takes("system", text("The instructions of the conversation, with `messages`"))
        .takes("attachments", attachments_schema())
        .takes("run", text(of_run))
        .with(material)
        .takes("strategy", choice("How to answer; auto unless said", StrategyChoice::WORDS))
        .takes("focus", focus())
        .takes("schema", object("A JSON Schema that the answer must fit"))
        .takes("model", model())
        .takes("limits", limits())
        .takes("wait_ms", wait_ms())
        .takes("thoughts", flag(thoughts))
        .with(run_output)
}

fn runs() -> Vec<Entry> {
    vec![
        Entry::new(Ask, "rlm_resume", "Go on with a run", Waits(Waiting::Resume))
            .doc("Goes on with a run that was cut off, cancelled or stopped at a limit. Calls that were answered are not made again.")
            .needs("run", run())
            .takes("limits", limits())
            .takes("wait_ms", wait_ms())
            .with(run_output),
        Entry::new(Look, "rlm_result", "Get the answer of a run", Waits(Waiting::Result))
            .doc("Gives the answer of a run, and waits for it while the run is under way.")
            .needs("run", run())
            .takes("wait_ms", wait_ms())
            .takes("offset", whole("Leave out so many characters of the answer, to read on where it was cut"))
            .with(run_output),
        Entry::new(Look, "rlm_plan", "Plan a run", Local(query::plan))
            .doc("Shows how text would be cut into tasks and what that would cost. Nothing is spent.")
            .takes("question", text("The question; it goes to every task, and counts"))
            .with(material)
            .takes("tasks", flag("Show every task, not only the files"))
            .gives("manifest", objects("The files, with their types"))
            .gives("tasks", objects("The tasks, if wanted"))
            .gives("n_tasks", whole("How many tasks"))
            .may_give("usage_at_most", object("Tokens"))
            .may_give("cost_microusd_at_most", object("By model, in millionths of a dollar")),
        Entry::new(Look, "rlm_status", "Look at runs", Local(run_tools::status))
            .doc("Says how a run stands, or lists the newest runs.")
            .takes("run", run())
            .may_give("run", text("The run"))
            .may_give("state", text("How it stands"))
            .may_give("runs", objects("The newest runs")),
        Entry::new(Set, "rlm_cancel", "Cancel a run", Waits(Waiting::Cancel))
            .doc("Stops a run of this server. What it has is kept, and rlm_resume goes on with it.")
            .needs("run", run())
            .gives("run", text("The run"))
            .gives("state", text("How it stands")),
    ]
}

pub(super) fn rlm_repl() -> Entry {
    let doc = "Runs Python in a sandbox over text that stays outside of your window. Variables persist between cells. `context` is the text; peek(), grep(), chunk(), search(), llm_query() and SHOW_VARS() are defined; FINAL(answer) ends the session.";
    Entry::new(Ask, "rlm_repl", "Run code over text", Waits(Waiting::Repl))
        .doc(doc)
        .takes("code", text("Python; without it, `context` is described"))
        .takes("session", text("Continue this session; without it, open one over `paths` or `contexts`"))
        .takes("end", flag("End the session"))
        .takes("paths", texts("Files or directories below the server's roots"))
        .takes("contexts", texts("Context ids"))
        .gives("session", json!({ "type": "string" }))
        .may_give("output", json!({ "type": ["string", "null"] }))
        .gives("ended", json!({ "type": "boolean" }))
}

fn task() -> Value {
    text("The task, as task_list names it")
}

fn agent() -> Value {
    text("Who you are, the same in every call")
}

fn list_output(entry: Entry) -> Entry {
    entry
        .gives("run", text("The run"))
        .gives("planned", whole("Parts that are read"))
        .gives("done", whole("Parts with a report"))
        .may_give("failed", whole("Parts without one"))
        .may_give("synthesis_blocked", flag("Whether the synthesis waits for parts"))
        .gives("tasks", objects("Tasks that can be worked on, and who has them"))
}

fn task_output(entry: Entry) -> Entry {
    let lease = "When the task goes to another agent, in milliseconds since 1970";
    entry
        .gives("task", task())
        .gives("instruction", text("What to do, and the form of the report"))
        .gives("text", text("What to read"))
        .may_give("analyst", text("Who it is for"))
        .may_give("files", texts("What it is about"))
        .may_give("text_chars", whole("Characters of all of it"))
        .may_give("next_offset", or_null(whole("Where the text goes on")))
        .may_give("lease_until_ms", or_null(whole(lease)))
}

fn rlm_tasks() -> Entry {
    let doc = "Starts a run whose analysts are your own agents: the text is cut into parts, each agent claims one after the other with task_claim and hands in its report with task_submit until none remain; the synthesis tasks follow, and rlm_run has the report. Only call it when it was asked for.";
    Entry::new(Add, "rlm_tasks", "Cut text into tasks for agents", Waits(Waiting::Tasks))
        .doc(doc)
        .needs("question", text("The question; every task has the same"))
        .with(material)
        .takes("focus", focus())
        .takes("limits", limits())
        .with(list_output)
        .listed_in(ToolSet::Tasks)
}

fn agent_tasks() -> Vec<Entry> {
    let only_run = || text("The run; the only one unless said");
    let entries = vec![
        Entry::new(Look, "task_list", "List tasks", Local(tasks::list))
            .doc("Lists the tasks of a run that can be worked on, and how far it is.")
            .takes("run", only_run())
            .with(list_output),
        Entry::new(Add, "task_claim", "Claim a task", Local(tasks::claim))
            .doc("Leases a task to you and gives what to do and what to read. A lease that ends gives the task to the next agent; claiming it again gives more time.")
            .needs("agent", agent())
            .takes("task", text("The task; the first that nobody has unless said"))
            .takes("analyst", choice("Only a task for this analyst", &AgentTasks::analysts()))
            .takes("run", only_run())
            .takes("lease_ms", whole("How long you need; ten minutes unless said"))
            .with(task_output),
        Entry::new(Look, "task_get", "Read a task", Local(tasks::get))
            .doc("Gives a task once more, or the rest of a long one.")
            .needs("task", task())
            .takes("offset", whole("Leave out so many characters of the text"))
            .with(task_output),
        Entry::new(Add, "task_submit", "Hand in a report", Waits(Waiting::Submit))
            .doc("Hands in the report of a task you claimed, in the form that its instruction asks for. A report that cannot be used comes back with what is wrong, as a task that is yours.")
            .needs("task", task())
            .needs("agent", agent())
            .needs("report", json!({ "description": "The report: a JSON object, or text" }))
            .gives("task", task())
            .gives("accepted", flag("Whether it was taken"))
            .may_give("notice", text("What came of it, in a line"))
            .may_give("faults", text("What is wrong with it")),
    ];
    entries.into_iter().map(|entry| entry.listed_in(ToolSet::Tasks)).collect()
}

fn key() -> Value {
    text("The name of the variable")
}

fn variables() -> Vec<Entry> {
    vec![
        Entry::new(Set, "state_set", "Set a variable", Local(notes::set))
            .doc("Keeps a value outside of your window. At most 100 variables of 1 MB; they live as long as the server.")
            .needs("key", key())
            .needs("value", json!({ "description": "A text, or any JSON" }))
            .gives("key", key())
            .gives("chars", whole("Characters of the value"))
            .may_give("keys", whole("Variables altogether")),
        Entry::new(Look, "state_get", "Get a variable", Local(notes::get))
            .doc("Gives a variable, or the part of it from character `start` to character `end`.")
            .needs("key", key())
            .takes("start", whole("The first character, from 0"))
            .takes("end", whole("The character behind the last"))
            .gives("key", key())
            .gives("value", text("The value, or the part"))
            .may_give("chars", whole("Characters of the whole")),
        Entry::new(Look, "state_list", "List variables and buffers", Local(notes::list))
            .doc("Lists variables with a preview of 100 characters, and buffers with their sizes.")
            .gives("state", objects("The variables"))
            .gives("buffers", objects("The buffers")),
        Entry::new(Remove, "state_clear", "Clear variables", Local(notes::clear))
            .doc("Removes a variable, or all of them.")
            .takes("key", key())
            .gives("cleared", whole("How many")),
    ]
}

fn buffers() -> Vec<Entry> {
    let label = || text("The buffer; `default` unless said");
    let entries = || whole("Entries it has now");
    vec![
        Entry::new(Add, "buffer_append", "Append to a buffer", Local(notes::append))
            .doc("Adds a piece to a buffer, to put a long text together.")
            .needs("text", text("The piece"))
            .takes("label", label())
            .gives("label", label())
            .gives("entries", entries()),
        Entry::new(Look, "buffer_read", "Read a buffer", Local(notes::read))
            .doc("Gives the pieces of a buffer as one text.")
            .takes("label", label())
            .takes("join", text("What stands between pieces; a line end unless said"))
            .gives("label", label())
            .gives("text", text("All of it"))
            .may_give("entries", entries()),
        Entry::new(Remove, "buffer_pop", "Take back the last piece", Local(notes::pop))
            .doc("Removes the last piece of a buffer and gives it.")
            .takes("label", label())
            .gives("label", label())
            .may_give("text", or_null(text("The piece")))
            .gives("entries", entries()),
        Entry::new(Remove, "buffer_clear", "Clear buffers", Local(notes::clear_buffer))
            .doc("Removes a buffer, or all of them.")
            .takes("label", text("The buffer; all unless said"))
            .gives("cleared", whole("How many pieces")),
    ]
}

fn thoughts() -> Vec<Entry> {
    let session = || text("The context that holds the thoughts of this session");
    vec![
        Entry::new(Add, "thought_add", "Keep a thought", Local(session_log::add))
            .doc("Keeps a step of your reasoning. Thoughts outlive the session as a context; rlm_query takes them along with `thoughts`.")
            .needs("text", text("The thought"))
            .gives("thought", whole("Its number"))
            .gives("context_id", session()),
        Entry::new(Look, "thought_list", "List thoughts", Local(session_log::list))
            .doc("Gives the thoughts of this session with the answers that were found, and the beginnings of the three sessions before.")
            .may_give("context_id", session())
            .gives("thoughts", objects("The thoughts, each with its answers"))
            .gives("earlier", objects("Earlier sessions, the newest first")),
    ]
}
