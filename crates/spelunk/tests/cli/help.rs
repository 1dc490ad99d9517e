//! Help, version and completions.

use expect_test::expect;

use crate::scene::Scene;

#[test]
fn help_lists_the_commands_and_the_exit_codes() {
    Scene::new(&[]).spelunk(["--help"]).run().check(&expect![[r#"
        Ask questions of text too large for any model

        Usage: spelunk [OPTIONS] [COMMAND]

        Commands:
          ask          Answer a question from files, directories or standard input
          resume       Continue a run that was stopped, crashed or hit a limit
          plan         Show how files would be split into tasks and what that would cost, without spending
                       anything
          outline      Show the structure of files and directories
          search       Find passages by words and by meaning, without asking a model
          index        Build the search index of files and directories ahead of the first search
          repl         Explore text with Python, in the same sandbox that models use
          context      Register text under a name and explore it
          mcp          Serve contexts and queries to an agent over the Model Context Protocol, on standard
                       input and output
          serve        Serve runs, contexts and models over HTTP, with a web page to view them
          worker       Work on the runs of a fleet, without serving anything
          fleet        Show the state of a fleet
          show         Show a run: its tree, costs and answer
          tail         Follow a run in progress, even in another process
          tools        List and call your own tools: MCP servers and programs that a model may use
          tool         Run the tools of an agent as commands, in a folder of plain files
          run          List, show, export, archive and remove runs
          config       Show the settings and where each value comes from
          model        List, test and install models
          doctor       Check settings, workspace and model, and suggest fixes
          eval         Evaluate strategies and models on tasks with known answers
          demo         Watch the recursive loop, a crash and a resume; the model is scripted, so no key is
                       needed
          repair       Recover the intact beginning of a damaged journal
          gc           Remove data that no run needs
          trust        Trust a workspace that you did not create here, such as one that was moved
          completions  Print shell completions
          help         Print this message or the help of the given subcommand(s)

        Options:
              --set <KEY=VALUE>     Override a setting for this command, such as `limits.calls_max=50`
              --workspace <DIR>     The directory for runs [default: .spelunk]
              --fleet <URL>         Work with the fleet at these NATS servers, such as
                                    `nats://10.0.0.1:4222`
              --fleet-creds <FILE>  The file with the credentials for them
              --json                Print the result as JSON
          -q, --quiet               Print only the result
          -h, --help                Print help
          -V, --version             Print version

        Examples:
          spelunk ask "which services still call the v1 billing API?" ./monorepo
          journalctl -u nginx | spelunk ask "why did it restart?" -
          spelunk demo

        Exit codes: 0 answered, 1 failed, 2 invalid usage or settings, 3 stopped
                    at a limit, 4 no model (passages shown), 130 interrupted.
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "the whole text is compared")]
fn help_of_ask_lists_its_flags() {
    Scene::new(&[]).spelunk(["ask", "--help"]).run().check(&expect![[r#"
        Answer a question from files, directories or standard input

        Usage: spelunk ask [OPTIONS] [QUESTION] [PATH]...

        Arguments:
          [QUESTION]  The question to answer, or `-` to read a request of any length from standard input,
                      which needs no paths
          [PATH]...   Files or directories to answer from, or `-` for standard input [default: .]

        Options:
              --context <ID>         Answer from a registered context, by its id, in addition to the paths;
                                     may be repeated
              --run <RUN>            Ask about the files of an earlier run (its id or a unique prefix); an
                                     agent continues its work
          -m, --model <MODEL>        The model: a NAME from `[models.NAME]`, a model of the default
                                     provider, or PROVIDER/NAME, where PROVIDER is openai, openai-responses,
                                     anthropic, gemini, bedrock, azure or command; `local:NAME` runs inside
                                     this program; `none` uses no model
              --sub-model <MODEL>    The model for sub-calls and analysts: a NAME from `[models.NAME]`, or a
                                     model of the same provider
              --base-url <URL>       The base URL for requests, such as `http://127.0.0.1:PORT/v1`
              --max-cost <DOLLARS>   Spend at most this many dollars, such as 0.50
              --max-tokens <TOKENS>  Use at most this many input and output tokens, such as 200000, 200k or
                                     2M
              --max-calls <CALLS>    Send at most this many requests to models, including retries
              --max-time <TIME>      Stop after this time, such as 90s, 10m or 2h
              --messages <FILE>      Answer a conversation instead of a question: a JSON file, `[{role,
                                     content}, ...]` or `{system, messages}`
              --attach <FILE>        Attach a file to the question, in addition to the paths; may be
                                     repeated
              --strategy <STRATEGY>  The strategy: auto, direct, repl, search, map, hybrid or agent
              --focus <FOCUS>        The focus of an analysis: general, security, architecture, performance
                                     or data
              --schema <FILE>        Answer with JSON that matches the JSON Schema in this file
              --report <FILE>        Also write a report to this file (.md, .html, .sarif or .json); may be
                                     repeated
              --sandbox <SANDBOX>    The sandbox for code that models write: monty or cpython
              --no-cache             Do not answer from cached replies
              --tool <NAME>          Let the model use a tool of your settings (`[tools.NAME]`); may be
                                     repeated
              --mcp <SERVER>         Let the model use the tools of an MCP server: a command or a URL; may
                                     be repeated
              --allow-tool <NAME>    Let a tool, or all of a source, change something without asking; may be
                                     repeated
              --deny-tool <NAME>     Leave out a tool, or all of a source; may be repeated
              --sub-tool <NAME>      Let child frames use a tool, or all tools of a source; may be repeated
              --plain                Split by tokens, regardless of file type
              --type <GLOB=TYPE>     Treat matching files as a built-in or user-defined type, such as
                                     `*.inc=source_code`
              --set <KEY=VALUE>      Override a setting for this command, such as `limits.calls_max=50`
              --workspace <DIR>      The directory for runs [default: .spelunk]
              --fleet <URL>          Work with the fleet at these NATS servers, such as
                                     `nats://10.0.0.1:4222`
              --fleet-creds <FILE>   The file with the credentials for them
              --json                 Print the result as JSON
          -q, --quiet                Print only the result
              --events               Print each event as a line of JSON instead of the answer
          -v, --verbose              Show the code of each turn and what it printed
              --open                 Show the run in a browser while it is in progress, until Ctrl-C
          -h, --help                 Print help

        File selection:
              --include <GLOB>       Read only files that match, such as `*.rs`, even if they are skipped by
                                     default
              --exclude <GLOB>       Skip files that match
              --no-recursive         Do not descend into subdirectories
              --no-gitignore         Also read files that `.gitignore` excludes
              --files-max <N>        Read at most this many files; 0 means no limit
              --order <ORDER>        How `--files-max` chooses files: by size, path or priority
              --extract-html         Convert HTML to Markdown
              --allow-secrets        Read files that look like secrets, including hidden ones, and do not
                                     redact secrets in text
              --allow-secret <GLOB>  Like `--allow-secrets`, but only for files that match
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn help_of_plan_lists_its_flags() {
    Scene::new(&[]).spelunk(["plan", "--help"]).run().check(&expect![[r#"
        Show how files would be split into tasks and what that would cost, without spending anything

        Usage: spelunk plan [OPTIONS] [PATH]...

        Arguments:
          [PATH]...  Files or directories to plan for [default: .]

        Options:
              --query <QUESTION>    The question; every task includes it, so it adds to the cost
              --tasks               Show every task, not just the files
              --plain               Split by tokens, regardless of file type
              --type <GLOB=TYPE>    Treat matching files as a built-in or user-defined type, such as
                                    `*.inc=source_code`
          -m, --model <MODEL>       The model: a NAME from `[models.NAME]`, a model of the default provider,
                                    or PROVIDER/NAME, where PROVIDER is openai, openai-responses, anthropic,
                                    gemini, bedrock, azure or command; `local:NAME` runs inside this
                                    program; `none` uses no model
              --sub-model <MODEL>   The model for sub-calls and analysts: a NAME from `[models.NAME]`, or a
                                    model of the same provider
              --base-url <URL>      The base URL for requests, such as `http://127.0.0.1:PORT/v1`
              --set <KEY=VALUE>     Override a setting for this command, such as `limits.calls_max=50`
              --workspace <DIR>     The directory for runs [default: .spelunk]
              --fleet <URL>         Work with the fleet at these NATS servers, such as
                                    `nats://10.0.0.1:4222`
              --fleet-creds <FILE>  The file with the credentials for them
              --json                Print the result as JSON
          -q, --quiet               Print only the result
          -h, --help                Print help

        File selection:
              --include <GLOB>       Read only files that match, such as `*.rs`, even if they are skipped by
                                     default
              --exclude <GLOB>       Skip files that match
              --no-recursive         Do not descend into subdirectories
              --no-gitignore         Also read files that `.gitignore` excludes
              --files-max <N>        Read at most this many files; 0 means no limit
              --order <ORDER>        How `--files-max` chooses files: by size, path or priority
              --extract-html         Convert HTML to Markdown
              --allow-secrets        Read files that look like secrets, including hidden ones, and do not
                                     redact secrets in text
              --allow-secret <GLOB>  Like `--allow-secrets`, but only for files that match
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn help_of_context_lists_its_commands() {
    Scene::new(&[]).spelunk(["context", "--help"]).run().check(&expect![[r#"
        Register text under a name and explore it

        Usage: spelunk context [OPTIONS] <COMMAND>

        Commands:
          add       Register a file, the files in a directory, or standard input
          import    Register the text, the answer and the results in a workspace of another RLM tool
          personal  Register personal contexts: `foundation/`, `projects/`, `temporal/` and
                    `memory/graph.json` of a directory
          combined  Print the user, a project and the contexts in use as one JSON object
          list      List contexts
          rm        Remove a context from the registry; its file is kept
          peek      Show the first lines of a context
          grep      Search a context with a regular expression; exits with 1 if no line matches
          chunk     Print one page of a context
          load      Print a whole context
          search    Search all contexts with a regular expression or by meaning
          stats     Show the number of contexts, how often they were read, and their memory limit
          log       Show the latest requests for contexts, from all interfaces
          evict     Remove texts whose policy says that they have expired
          help      Print this message or the help of the given subcommand(s)

        Options:
              --allow-secrets       Read files that look like secrets, including hidden ones, and do not
                                    redact secrets in text or search results
              --set <KEY=VALUE>     Override a setting for this command, such as `limits.calls_max=50`
              --workspace <DIR>     The directory for runs [default: .spelunk]
              --fleet <URL>         Work with the fleet at these NATS servers, such as
                                    `nats://10.0.0.1:4222`
              --fleet-creds <FILE>  The file with the credentials for them
              --json                Print the result as JSON
          -q, --quiet               Print only the result
          -h, --help                Print help
        --- stderr
        --- exit 0
    "#]]);
    Scene::new(&[]).spelunk(["context", "add", "--help"]).run().check(&expect![[r#"
        Register a file, the files in a directory, or standard input

        Usage: spelunk context add [OPTIONS] <PATH>

        Arguments:
          <PATH>  A file, a directory, or `-` for standard input; PDF, DOCX and HTML are converted to text,
                  and an archive becomes one context

        Options:
              --id <ID>             The id [default: derived from the file name]
              --kind <KIND>         The kind: identity, project, temporal, document, memory, `tool_result`,
                                    web or any other word [default: document]
              --policy <POLICY>     How long its text may be reused: hot, lazy, refresh, query or
                                    ttl:SECONDS [default: the kind's]
              --pattern <GLOB>      For a directory: the files to register, such as `*.md` or `**/*.rs`
                                    [default: *]
              --prefix <TEXT>       For a directory: a prefix for the ids
              --replace             Replace an existing context with the same id
              --allow-secrets       Read files that look like secrets, including hidden ones, and do not
                                    redact secrets in text or search results
              --set <KEY=VALUE>     Override a setting for this command, such as `limits.calls_max=50`
              --workspace <DIR>     The directory for runs [default: .spelunk]
              --fleet <URL>         Work with the fleet at these NATS servers, such as
                                    `nats://10.0.0.1:4222`
              --fleet-creds <FILE>  The file with the credentials for them
              --json                Print the result as JSON
          -q, --quiet               Print only the result
          -h, --help                Print help
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn help_of_outline_says_what_is_shown() {
    Scene::new(&[]).spelunk(["outline", "--help"]).run().check(&expect![[r#"
        Show the structure of files and directories

        Usage: spelunk outline [OPTIONS] [PATH]...

        Arguments:
          [PATH]...  Files or directories; for a single file, its headings, definitions, sections or keys
                     [default: .]

        Options:
              --set <KEY=VALUE>     Override a setting for this command, such as `limits.calls_max=50`
              --workspace <DIR>     The directory for runs [default: .spelunk]
              --fleet <URL>         Work with the fleet at these NATS servers, such as
                                    `nats://10.0.0.1:4222`
              --fleet-creds <FILE>  The file with the credentials for them
              --json                Print the result as JSON
          -q, --quiet               Print only the result
          -h, --help                Print help

        File selection:
              --include <GLOB>       Read only files that match, such as `*.rs`, even if they are skipped by
                                     default
              --exclude <GLOB>       Skip files that match
              --no-recursive         Do not descend into subdirectories
              --no-gitignore         Also read files that `.gitignore` excludes
              --files-max <N>        Read at most this many files; 0 means no limit
              --order <ORDER>        How `--files-max` chooses files: by size, path or priority
              --extract-html         Convert HTML to Markdown
              --allow-secrets        Read files that look like secrets, including hidden ones, and do not
                                     redact secrets in text
              --allow-secret <GLOB>  Like `--allow-secrets`, but only for files that match
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn the_version_is_printed() {
    Scene::new(&[]).spelunk(["--version"]).run().check(&expect![[r"
        spelunk 0.1.0
        --- stderr
        --- exit 0
    "]]);
}

#[test]
fn completions_know_every_command() {
    let ran = Scene::new(&[]).spelunk(["completions", "bash"]).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let commands = [
        "ask",
        "resume",
        "plan",
        "outline",
        "context",
        "show",
        "tail",
        "run",
        "config",
        "doctor",
        "demo",
        "repair",
        "gc",
        "completions",
        "help",
    ];
    let missing: Vec<_> =
        commands.into_iter().filter(|command| !ran.stdout.contains(&format!("spelunk,{command})"))).collect();
    assert_eq!(missing, [""; 0], "{}", ran.stdout);
}
