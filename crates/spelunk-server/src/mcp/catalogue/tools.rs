//! The tools that are listed on request: tasks for the host's agents, plans, thoughts, and the
//! former names of the essential tools, which still work.

use serde_json::{Map, Value, json};
use spelunk_app::asking::{attachments_schema, messages_schema};
use spelunk_app::config::StrategyChoice;
use spelunk_types::Focus;

use super::Action::{Local, Waiting as Waits};
use super::Effect::{Add, Ask, Look, Remove, Set};
use super::{Entry, ToolSet, Waiting, choice, flag, object, objects, or_null, text, texts, whole};
use crate::mcp::{AgentTasks, LIMITS, ModelChoice, contexts, notes, query, run_tools, session_log, tasks};

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
    text("The context id, as in context_list")
}

fn context_looks() -> Vec<Entry> {
    vec![
        Entry::new(Look, "context_peek", "Peek into a context", Local(contexts::peek))
            .doc("Shows the first lines of a context and suggests next steps.")
            .needs("context_id", context_id())
            .takes("lines", whole("Number of lines; default 10, at most 50"))
            .gives("context", object("Its metadata"))
            .gives("preview", text("The first lines"))
            .may_give("truncated", flag("Whether the last line shown is truncated"))
            .may_give("suggestions", texts("Next steps")),
        Entry::new(Look, "context_chunk", "Read a page of a context", Local(contexts::chunk))
            .doc("Reads a context page by page.")
            .needs("context_id", context_id())
            .takes("chunk_index", whole("The page, starting at 0"))
            .takes("chunk_size", whole("Lines per page; default 50, at most 200"))
            .gives("context", context_id())
            .gives("content", text("The page"))
            .gives("chunk", whole("The page number"))
            .gives("total_chunks", whole("The number of pages"))
            .may_give("lines", text("The line numbers"))
            .may_give("navigation", object("The previous and next page, as `prev` and `next`")),
        Entry::new(Look, "context_load", "Load a context", Local(contexts::load))
            .doc("Returns the text of a context from its beginning, up to a limit. Costly: peek and grep first.")
            .needs("context_id", context_id())
            .takes(
                "chars_max",
                whole("Maximum number of characters; default 20000, capped by the server"),
            )
            .gives("context", context_id())
            .gives("content", text("The text"))
            .gives("size_chars", whole("Characters of the whole text"))
            .may_give("size_tokens_approx", whole("Approximate tokens of the whole text"))
            .gives("truncated", flag("Whether the end is missing"))
            .may_give("warning", or_null(text("A better way next time"))),
    ]
}

fn context_searches() -> Vec<Entry> {
    let modes = ["words", "meaning", "hybrid", "pattern"];
    let queries = |doc: &str| json!({ "type": "array", "maxItems": 100, "items": { "type": "object" }, "description": doc });
    let batch_output = |entry: Entry| {
        entry
            .gives("results", objects("One per query; a failed one has `error`"))
            .gives("failed", whole("Number of failures"))
    };
    vec![
        Entry::new(Look, "context_search", "Search all contexts", Local(contexts::search))
            .doc("Finds the passages of all contexts that match a query best: by shared words, by meaning (mode `meaning`), or lists the contexts that match a regular expression (mode `pattern`).")
            .needs("query", text("Words or a regular expression"))
            .takes("mode", choice("The search mode; default words", &modes))
            .takes("contexts", texts("Only these contexts, not with mode `pattern`; default all"))
            .takes("results_max", whole("Maximum number of passages; default 5, at most 20"))
            .gives("mode", text("The search mode used"))
            .gives("results", objects("The results")),
        Entry::new(Set, "context_register", "Register a context", Local(contexts::register))
            .doc("Registers a file, the files of a directory, or a text, so that it can be explored. Only below the server's roots; secrets are refused.")
            .takes("path", text("A file or directory, absolute or relative to the server's directory"))
            .takes("text", text("The text itself, instead of a path"))
            .takes("context_id", text("Its id; default: derived from the file name"))
            .takes("type", text("identity, project, temporal, document, memory, tool_result, web or a new one; default document"))
            .takes("pattern", text("For a directory: only these files, such as `*.md` or `**/*.rs`"))
            .takes("prefix", text("For a directory: a prefix for the ids"))
            .takes("replace", flag("Replace a context with the same id"))
            .gives("added", objects("New contexts"))
            .gives("already", texts("Ids that were already registered"))
            .may_give("skipped", object("Number of skipped files, by reason")),
        Entry::new(Look, "context_combined", "User, project and contexts in use", Local(contexts::combined))
            .doc("Combines the user's contexts, those of a project and those in use into one object; YAML, JSON and Markdown are parsed.")
            .takes("project", text("The project name"))
            .takes("working", texts("Ids of contexts in use"))
            .gives("user", object("Contexts of the user"))
            .may_give("project", object("Contexts of the project"))
            .gives("working", object("Contexts in use")),
        Entry::new(Look, "context_stats", "Context statistics", Local(contexts::stats))
            .doc("Number of contexts, memory of their texts, how often they were read, and recent requests.")
            .gives("store", object("Contexts by type"))
            .gives("memory", object("Memory of the texts"))
            .gives("access_patterns", object("How often they were read"))
            .gives("accesses", objects("Recent requests, oldest first")),
        Entry::new(Remove, "context_evict", "Free memory", Local(contexts::evict))
            .doc("Frees the memory of loaded texts and removes texts that have expired by their policy.")
            .takes("target_bytes", whole("Bytes that may stay in memory; default 0"))
            .gives("evicted", whole("Texts that were evicted"))
            .gives("expired", whole("Contexts that were removed"))
            .gives("memory", object("Memory of the texts")),
        Entry::new(Look, "context_batch_peek", "Peek into many contexts", Local(contexts::batch_peek))
            .doc("Peeks into many contexts in one call, 400 characters each.")
            .needs("queries", queries("Objects with `context_id` and optionally `lines`"))
            .with(batch_output),
        Entry::new(Look, "context_batch_grep", "Grep many contexts", Local(contexts::batch_grep))
            .doc("Greps many contexts in one call, 400 characters of matches each.")
            .needs("queries", queries("Objects with `context_id` and `pattern`"))
            .with(batch_output),
    ]
}

fn material(entry: Entry) -> Entry {
    entry
        .takes("paths", texts("Files or directories below the server's roots"))
        .takes("contexts", texts("Registered contexts"))
        .takes("include", texts("For directories: only files that match, such as `*.rs`"))
        .takes("exclude", texts("Exclude files that match"))
        .takes("types", texts("Content types of files, such as `*.inc=source_code`"))
}

fn run() -> Value {
    text("The run id, or the start of its short id")
}

fn wait_ms() -> Value {
    whole("How long to wait for the answer; default until the end, 0 returns at once and the run continues")
}

fn limits() -> Value {
    let limit = |name: &&str| ((*name).to_owned(), json!({ "type": "integer", "minimum": 0 }));
    json!({
        "type": "object",
        "properties": LIMITS.iter().map(limit).collect::<Map<_, _>>(),
        "additionalProperties": false,
        "description": "Lower limits for this run; the server's settings are the maximum",
    })
}

fn model() -> Value {
    choice(
        "Who answers: the server's provider, this client's model by sampling, or the first that is available",
        &ModelChoice::WORDS,
    )
}

fn focus() -> Value {
    choice("What an analysis focuses on", &Focus::ALL.map(Focus::name))
}

fn run_output(entry: Entry) -> Entry {
    let citations = json!({ "type": ["array", "null"], "items": { "type": "object" }, "description": "Evidence found in the sources" });
    entry
        .gives("run", or_null(text("The run")))
        .may_give("state", text("Its state"))
        .may_give("answer", or_null(text("The answer")))
        .may_give("citations", citations)
        .may_give("success", flag("Whether there is an answer"))
        .may_give("evidence", objects("Checked citations, and facts that an agent recorded"))
        .may_give("metrics", object("Usage: calls, tokens, cost, time"))
        .may_give("errors", objects("The error"))
        .may_give("degraded", flag("Whether no model was used, so that there are only passages"))
        .may_give(
            "passages",
            objects("Without a model: the passages that share most words with the question"),
        )
}

fn rlm_query() -> Entry {
    let doc = "Starts a run: models read text that is too large for any context window, with code and in parts, and return one answer with checked evidence. Costs model calls: only call it when asked to.";
    let of_run = "Ask a follow-up question of an agent's run (its id, or the start of its short id): it continues with its files, variables and conversation. Only with `question`, `limits` and `wait_ms`";
    let thoughts = "Include the thoughts of this session, and store the answer with the last one";
    Entry::new(Ask, "rlm_query", "Ask about text of any size", Waits(Waiting::Query))
        .doc(doc)
        .takes("question", text("The question; required unless there are `messages`"))
        .takes("messages", messages_schema())
        .takes("system", text("The system message, with `messages`"))
        .takes("attachments", attachments_schema())
        .takes("run", text(of_run))
        .with(material)
        .takes("strategy", choice("The strategy; default auto", StrategyChoice::WORDS))
        .takes("focus", focus())
        .takes("schema", object("A JSON Schema that the answer must match"))
        .takes("model", model())
        .takes("limits", limits())
        .takes("wait_ms", wait_ms())
        .takes("thoughts", flag(thoughts))
        .with(run_output)
}

fn runs() -> Vec<Entry> {
    vec![
        Entry::new(Ask, "rlm_resume", "Continue a run", Waits(Waiting::Resume))
            .doc("Continues a run that was interrupted, cancelled or stopped at a limit. Completed calls are not repeated.")
            .needs("run", run())
            .takes("limits", limits())
            .takes("wait_ms", wait_ms())
            .with(run_output),
        Entry::new(Look, "rlm_result", "Get a run's answer", Waits(Waiting::Result))
            .doc("Returns the answer of a run; waits for it while the run is in progress.")
            .needs("run", run())
            .takes("wait_ms", wait_ms())
            .takes("offset", whole("Skip this many characters, to continue a truncated answer"))
            .with(run_output),
        Entry::new(Look, "rlm_plan", "Plan a run", Local(query::plan))
            .doc("Shows how text would be split into tasks and what that would cost. Nothing is spent.")
            .takes("question", text("The question; it is part of every task and adds to the cost"))
            .with(material)
            .takes("tasks", flag("List every task, not only the files"))
            .gives("manifest", objects("The files, with their types"))
            .gives("tasks", objects("The tasks, if requested"))
            .gives("n_tasks", whole("The number of tasks"))
            .may_give("usage_at_most", object("Tokens"))
            .may_give("cost_microusd_at_most", object("By model, in millionths of a dollar")),
        Entry::new(Look, "rlm_status", "Show runs", Local(run_tools::status))
            .doc("Shows the state of a run, or lists the newest runs.")
            .takes("run", run())
            .may_give("run", text("The run"))
            .may_give("state", text("Its state"))
            .may_give("runs", objects("The newest runs")),
        Entry::new(Set, "rlm_cancel", "Cancel a run", Waits(Waiting::Cancel))
            .doc("Stops a run of this server. Its progress is kept; rlm_resume continues it.")
            .needs("run", run())
            .gives("run", text("The run"))
            .gives("state", text("Its state")),
    ]
}

pub(super) fn rlm_repl() -> Entry {
    let doc = "Runs Python in a sandbox over text that stays outside your context window. Variables persist between cells. `context` is the text; peek(), grep(), chunk(), search(), llm_query() and SHOW_VARS() are defined; FINAL(answer) ends the session.";
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
    text("The task id, as in task_list")
}

fn agent() -> Value {
    text("Your name, the same in every call")
}

fn list_output(entry: Entry) -> Entry {
    entry
        .gives("run", text("The run"))
        .gives("planned", whole("Completed parts"))
        .gives("done", whole("Parts with a report"))
        .may_give("failed", whole("Parts without one"))
        .may_give("synthesis_blocked", flag("Whether the synthesis is waiting for parts"))
        .gives("tasks", objects("Available tasks, and who has claimed them"))
}

fn task_output(entry: Entry) -> Entry {
    let lease = "When the lease expires, in milliseconds since 1970";
    entry
        .gives("task", task())
        .gives("instruction", text("The instructions, and the format of the report"))
        .gives("text", text("The text to read"))
        .may_give("analyst", text("The analyst it is for"))
        .may_give("files", texts("The question"))
        .may_give("text_chars", whole("Characters of the whole text"))
        .may_give("next_offset", or_null(whole("The offset where the text continues")))
        .may_give("lease_until_ms", or_null(whole(lease)))
}

fn rlm_tasks() -> Entry {
    let doc = "Starts a run whose analysts are your own agents: the text is split into parts, and each agent claims tasks with task_claim and submits reports with task_submit until none remain; then come the synthesis tasks, and rlm_run returns the report. Only call it when asked to.";
    Entry::new(Add, "rlm_tasks", "Split text into tasks for agents", Waits(Waiting::Tasks))
        .doc(doc)
        .needs("question", text("The question; the same for every task"))
        .with(material)
        .takes("focus", focus())
        .takes("limits", limits())
        .with(list_output)
        .listed_in(ToolSet::Tasks)
}

fn agent_tasks() -> Vec<Entry> {
    let only_run = || text("The run; may be omitted if there is only one");
    let entries = vec![
        Entry::new(Look, "task_list", "List tasks", Local(tasks::list))
            .doc("Lists the available tasks of a run and its progress.")
            .takes("run", only_run())
            .with(list_output),
        Entry::new(Add, "task_claim", "Claim a task", Local(tasks::claim))
            .doc("Leases a task to you and returns its instructions and text. An expired lease frees the task for other agents; claim it again for more time.")
            .needs("agent", agent())
            .takes("task", text("The task; default: the first unclaimed one"))
            .takes("analyst", choice("Only tasks for this analyst", &AgentTasks::analysts()))
            .takes("run", only_run())
            .takes("lease_ms", whole("How long you need; default ten minutes"))
            .with(task_output),
        Entry::new(Look, "task_get", "Read a task", Local(tasks::get))
            .doc("Returns a task again, or the rest of a long one.")
            .needs("task", task())
            .takes("offset", whole("Skip this many characters of the text"))
            .with(task_output),
        Entry::new(Add, "task_submit", "Submit a report", Waits(Waiting::Submit))
            .doc("Submits the report of a task you claimed, in the format its instructions ask for. An unusable report comes back to you with its errors, as a new task.")
            .needs("task", task())
            .needs("agent", agent())
            .needs("report", json!({ "description": "The report: a JSON object, or text" }))
            .gives("task", task())
            .gives("accepted", flag("Whether it was accepted"))
            .may_give("notice", text("A one-line result"))
            .may_give("faults", text("The errors in it")),
    ];
    entries.into_iter().map(|entry| entry.listed_in(ToolSet::Tasks)).collect()
}

fn key() -> Value {
    text("The name of the variable")
}

fn variables() -> Vec<Entry> {
    vec![
        Entry::new(Set, "state_set", "Set a variable", Local(notes::set))
            .doc("Stores a value outside your context window. At most 100 variables of 1 MB; they last as long as the server.")
            .needs("key", key())
            .needs("value", json!({ "description": "Text or any JSON" }))
            .gives("key", key())
            .gives("chars", whole("Characters of the value"))
            .may_give("keys", whole("Number of variables")),
        Entry::new(Look, "state_get", "Get a variable", Local(notes::get))
            .doc("Returns a variable, or its characters from `start` to `end`.")
            .needs("key", key())
            .takes("start", whole("The first character, starting at 0"))
            .takes("end", whole("The character after the last"))
            .gives("key", key())
            .gives("value", text("The value, or the requested part"))
            .may_give("chars", whole("Characters of the whole value")),
        Entry::new(Look, "state_list", "List variables and buffers", Local(notes::list))
            .doc("Lists variables with a preview of 100 characters, and buffers with their sizes.")
            .gives("state", objects("The variables"))
            .gives("buffers", objects("The buffers")),
        Entry::new(Remove, "state_clear", "Clear variables", Local(notes::clear))
            .doc("Removes a variable, or all of them.")
            .takes("key", key())
            .gives("cleared", whole("The number removed")),
    ]
}

fn buffers() -> Vec<Entry> {
    let label = || text("The buffer; default `default`");
    let entries = || whole("Its number of entries");
    vec![
        Entry::new(Add, "buffer_append", "Append to a buffer", Local(notes::append))
            .doc("Appends a piece to a buffer, to assemble a long text.")
            .needs("text", text("The piece"))
            .takes("label", label())
            .gives("label", label())
            .gives("entries", entries()),
        Entry::new(Look, "buffer_read", "Read a buffer", Local(notes::read))
            .doc("Returns the pieces of a buffer as one text.")
            .takes("label", label())
            .takes("join", text("The separator between pieces; default newline"))
            .gives("label", label())
            .gives("text", text("The whole text"))
            .may_give("entries", entries()),
        Entry::new(Remove, "buffer_pop", "Remove the last piece", Local(notes::pop))
            .doc("Removes the last piece of a buffer and returns it.")
            .takes("label", label())
            .gives("label", label())
            .may_give("text", or_null(text("The piece")))
            .gives("entries", entries()),
        Entry::new(Remove, "buffer_clear", "Clear buffers", Local(notes::clear_buffer))
            .doc("Removes a buffer, or all of them.")
            .takes("label", text("The buffer; default all"))
            .gives("cleared", whole("The number removed")),
    ]
}

fn thoughts() -> Vec<Entry> {
    let session = || text("The context that stores the thoughts of this session");
    vec![
        Entry::new(Add, "thought_add", "Record a thought", Local(session_log::add))
            .doc("Records a step of your reasoning. Thoughts outlive the session as a context; rlm_query can include them with `thoughts`.")
            .needs("text", text("The thought"))
            .gives("thought", whole("Its number"))
            .gives("context_id", session()),
        Entry::new(Look, "thought_list", "List thoughts", Local(session_log::list))
            .doc("Returns the thoughts of this session with the answers found, and the beginnings of the three previous sessions.")
            .may_give("context_id", session())
            .gives("thoughts", objects("The thoughts, each with its answers"))
            .gives("earlier", objects("Earlier sessions, newest first")),
    ]
}
