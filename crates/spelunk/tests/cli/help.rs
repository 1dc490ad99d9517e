//! Help, version and completions.

use expect_test::expect;

use crate::scene::Scene;

#[test]
fn help_lists_the_commands_and_the_exit_codes() {
    Scene::new(&[]).spelunk(["--help"]).run().check(&expect![[r#"
        Ask questions of text too large for any model

        Usage: spelunk [OPTIONS] <COMMAND>

        Commands:
          ask          Answer a question from files, directories or standard input
          resume       Go on with a run that was stopped, crashed or reached a limit
          plan         Show how files would be cut into tasks and what that would cost; nothing is spent
          outline      Show what there is to read
          search       Find passages by words and by meaning, without a model
          repl         Explore text with Python, in the sandbox that models use
          context      Register text under a name, and explore it
          mcp          Serve the contexts and the loop to an agent, by the Model Context Protocol on
                       standard input and output
          serve        Serve runs, contexts and models over HTTP, with a page that shows them
          show         Show a run: its tree, costs and answer
          tail         Follow a run while it goes on, in any process
          tool         The tools of an agent as commands, in a folder of plain files
          run          The runs of this workspace
          config       The settings in force and where each comes from
          model        The models that can be asked: what they cost and whether they work
          doctor       Check settings, workspace and model, and say what to do
          eval         Judge strategies and models by tasks with known answers
          demo         See a whole run, a crash and its resume, without a key: the model is scripted
          repair       Keep the sound beginning of a damaged journal
          gc           Remove what no run needs
          trust        Take over a workspace that you did not create here, such as one that was moved
          completions  Print completions for a shell
          help         Print this message or the help of the given subcommand(s)

        Options:
              --set <KEY=VALUE>  Change a setting for this command, such as `limits.calls_max=50`
              --workspace <DIR>  Where runs are kept [default: .spelunk]
              --json             Print the result as JSON
          -q, --quiet            Print nothing but the result
          -h, --help             Print help
          -V, --version          Print version

        Examples:
          spelunk ask "which services still call the v1 billing API?" ./monorepo
          journalctl -u nginx | spelunk ask "why did it restart?" -
          spelunk demo

        Exit codes: 0 answered, 1 failed, 2 wrong usage or settings, 3 stopped at a limit, 130 interrupted.
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn help_of_ask_lists_its_flags() {
    Scene::new(&[]).spelunk(["ask", "--help"]).run().check(&expect![[r#"
        Answer a question from files, directories or standard input

        Usage: spelunk ask [OPTIONS] [QUESTION] [PATH]...

        Arguments:
          [QUESTION]  What you want to know
          [PATH]...   Files or directories to answer from, `-` for standard input [default: .]

        Options:
              --run <RUN>            Ask about the files of an earlier run instead, by the beginning of its
                                     name; an agent goes on with its work
          -m, --model <MODEL>        The model: a NAME of `[models.NAME]` or of the provider, or
                                     PROVIDER/NAME with provider openai, openai-responses, anthropic,
                                     gemini, bedrock, azure or command; `local:NAME` runs inside this
                                     program; `none` asks nobody
              --sub-model <MODEL>    The model of sub-calls and analysts: a NAME of `[models.NAME]`, or a
                                     model of the same provider
              --base-url <URL>       Where requests go, such as `http://127.0.0.1:PORT/v1`
              --max-cost <DOLLARS>   Spend at most so many dollars, such as 0.50
              --max-tokens <TOKENS>  Use at most so many tokens in both directions, such as 200000, 200k or
                                     2M
              --max-calls <CALLS>    Send at most so many requests to models; one that is tried again counts
                                     again
              --max-time <TIME>      Stop after this time, such as 90s, 10m or 2h
              --messages <FILE>      A conversation to answer instead of a question: a file of JSON,
                                     `[{role, content}, ...]` or `{system, messages}`
              --attach <FILE>        A file that belongs to the question, beside the paths; may be given
                                     several times
              --strategy <STRATEGY>  How to answer: auto, direct, repl, search, map, hybrid or agent
              --focus <FOCUS>        What an analysis looks for first: general, security, architecture,
                                     performance or data
              --schema <FILE>        Answer with JSON that fits the JSON Schema in this file
              --report <FILE>        Also write a report into this file: .md, .html, .sarif or .json; may be
                                     given several times
              --sandbox <SANDBOX>    What runs the code that models write: monty or cpython
              --no-cache             Ask again even where the same question was answered before
              --set <KEY=VALUE>      Change a setting for this command, such as `limits.calls_max=50`
              --workspace <DIR>      Where runs are kept [default: .spelunk]
              --json                 Print the result as JSON
              --events               Print every event as a line of JSON instead of the answer
          -q, --quiet                Print nothing but the result
              --open                 Show the run in a browser while it goes on, and until Ctrl-C
          -h, --help                 Print help

        Which files:
              --include <GLOB>       Read only files that match, such as `*.rs`; also reads what is left out
                                     by default
              --exclude <GLOB>       Do not read files that match
              --no-recursive         Do not enter directories below the ones named
              --no-gitignore         Read files that `.gitignore` names too
              --files-max <N>        Read at most so many files; 0 reads all
              --order <ORDER>        Which files stay under `--files-max`: size, path or priority
              --extract-html         Read HTML as Markdown
              --allow-secrets        Read files that look like secrets, hidden ones too, and leave secrets
                                     in text as they are
              --allow-secret <GLOB>  The same, only for files that match
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn help_of_plan_lists_its_flags() {
    Scene::new(&[]).spelunk(["plan", "--help"]).run().check(&expect![[r#"
        Show how files would be cut into tasks and what that would cost; nothing is spent

        Usage: spelunk plan [OPTIONS] [PATH]...

        Arguments:
          [PATH]...  Files or directories to plan for [default: .]

        Options:
              --query <QUESTION>   The question; it goes to every task, and counts
              --tasks              Show every task, not only the files
              --plain              Cut by tokens, whatever the files are
              --type <GLOB=TYPE>   Take files that match as of a type, built in or of your own, such as
                                   `*.inc=source_code`
          -m, --model <MODEL>      The model: a NAME of `[models.NAME]` or of the provider, or PROVIDER/NAME
                                   with provider openai, openai-responses, anthropic, gemini, bedrock, azure
                                   or command; `local:NAME` runs inside this program; `none` asks nobody
              --sub-model <MODEL>  The model of sub-calls and analysts: a NAME of `[models.NAME]`, or a
                                   model of the same provider
              --base-url <URL>     Where requests go, such as `http://127.0.0.1:PORT/v1`
              --set <KEY=VALUE>    Change a setting for this command, such as `limits.calls_max=50`
              --workspace <DIR>    Where runs are kept [default: .spelunk]
              --json               Print the result as JSON
          -q, --quiet              Print nothing but the result
          -h, --help               Print help

        Which files:
              --include <GLOB>       Read only files that match, such as `*.rs`; also reads what is left out
                                     by default
              --exclude <GLOB>       Do not read files that match
              --no-recursive         Do not enter directories below the ones named
              --no-gitignore         Read files that `.gitignore` names too
              --files-max <N>        Read at most so many files; 0 reads all
              --order <ORDER>        Which files stay under `--files-max`: size, path or priority
              --extract-html         Read HTML as Markdown
              --allow-secrets        Read files that look like secrets, hidden ones too, and leave secrets
                                     in text as they are
              --allow-secret <GLOB>  The same, only for files that match
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn help_of_context_lists_its_commands() {
    Scene::new(&[]).spelunk(["context", "--help"]).run().check(&expect![[r#"
        Register text under a name, and explore it

        Usage: spelunk context [OPTIONS] <COMMAND>

        Commands:
          add     Register a file, the files of a directory, or standard input
          list    List contexts
          rm      Take a context out of the registry; its file stays
          peek    Show the first lines
          grep    Find lines by a regular expression; exits with 1 if no line matches
          chunk   Read a page
          load    Print all of it
          search  Find lines in every context, or passages by what they mean
          stats   How many contexts there are, how often they were looked at, and the memory they may take
          help    Print this message or the help of the given subcommand(s)

        Options:
              --allow-secrets    Read files that look like secrets, hidden ones too, and leave secrets in
                                 text as they are, also for a search
              --set <KEY=VALUE>  Change a setting for this command, such as `limits.calls_max=50`
              --workspace <DIR>  Where runs are kept [default: .spelunk]
              --json             Print the result as JSON
          -q, --quiet            Print nothing but the result
          -h, --help             Print help
        --- stderr
        --- exit 0
    "#]]);
    Scene::new(&[]).spelunk(["context", "add", "--help"]).run().check(&expect![[r#"
        Register a file, the files of a directory, or standard input

        Usage: spelunk context add [OPTIONS] <PATH>

        Arguments:
          <PATH>  A file, a directory, or `-` for standard input; of PDF, DOCX and HTML the text, of an
                  archive all documents in one

        Options:
              --id <ID>          The id [default: made from the file's name]
              --kind <KIND>      The kind: identity, project, temporal, document, memory, `tool_result`, web
                                 or a new one [default: document]
              --pattern <GLOB>   For a directory: which files, such as `*.md` or `**/*.rs` [default: *]
              --prefix <TEXT>    For a directory: what the ids begin with
              --replace          Take the place of a context that has the id already
              --allow-secrets    Read files that look like secrets, hidden ones too, and leave secrets in
                                 text as they are, also for a search
              --set <KEY=VALUE>  Change a setting for this command, such as `limits.calls_max=50`
              --workspace <DIR>  Where runs are kept [default: .spelunk]
              --json             Print the result as JSON
          -q, --quiet            Print nothing but the result
          -h, --help             Print help
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn help_of_outline_says_what_is_shown() {
    Scene::new(&[]).spelunk(["outline", "--help"]).run().check(&expect![[r#"
        Show what there is to read

        Usage: spelunk outline [OPTIONS] [PATH]...

        Arguments:
          [PATH]...  Files or directories; of one file, its headings, definitions, sections or keys are
                     shown [default: .]

        Options:
              --set <KEY=VALUE>  Change a setting for this command, such as `limits.calls_max=50`
              --workspace <DIR>  Where runs are kept [default: .spelunk]
              --json             Print the result as JSON
          -q, --quiet            Print nothing but the result
          -h, --help             Print help

        Which files:
              --include <GLOB>       Read only files that match, such as `*.rs`; also reads what is left out
                                     by default
              --exclude <GLOB>       Do not read files that match
              --no-recursive         Do not enter directories below the ones named
              --no-gitignore         Read files that `.gitignore` names too
              --files-max <N>        Read at most so many files; 0 reads all
              --order <ORDER>        Which files stay under `--files-max`: size, path or priority
              --extract-html         Read HTML as Markdown
              --allow-secrets        Read files that look like secrets, hidden ones too, and leave secrets
                                     in text as they are
              --allow-secret <GLOB>  The same, only for files that match
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
