//! Answers to questions about real texts, as people and models write them: right ones, and wrong ones that are close.

use super::*;
use crate::Kind;

fn task(scoring: Scoring, language: &str, question: &str, answer: &[&str]) -> Task {
    Task {
        id: "t".into(),
        kind: Kind::Needle,
        variant: String::new(),
        seed: 1,
        tokens: 8000,
        question: question.into(),
        answer: answer.iter().map(|item| (*item).to_owned()).collect(),
        scoring,
        accept: Vec::new(),
        tolerance: 0.0,
        language: language.into(),
        files: vec!["t/a.txt".into()],
    }
}

fn exact_task(question: &str, answer: &str) -> Task {
    task(Scoring::Exact, "en", question, &[answer])
}

/// Each answer with its score, one per line.
fn check(task: &Task, expected: &[(&str, f64)]) {
    let scores: Vec<(&str, f64)> = expected
        .iter()
        .map(|(answer, _)| (*answer, (score(task, answer).score * 100.0).round() / 100.0))
        .collect();
    assert_eq!(scores, expected);
}

#[test]
fn a_version_a_date_a_time_or_an_address_is_one_value() {
    check(
        &exact_task("What is the oldest Twisted that works?", "17.9.0"),
        &[
            ("17.9.0", 1.0),
            ("It is v17.9.0.", 1.0),
            ("17.9.0.1", 0.0),
            ("17.9", 0.0),
            ("117.9.0", 0.0),
            ("17.9.0 or 17.10.0", 0.0),
            ("It is 18.9.0, which follows 17.9.0.", 0.0),
        ],
    );
    check(
        &exact_task("On which date, after 2013-01-01?", "2013-07-18"),
        &[
            ("After 2013-01-01, it was on 2013-07-18.", 1.0),
            ("2013-07-18", 1.0),
            ("2013-07-19", 0.0),
            ("From 2013-07-18 to 2013-07-19", 0.0),
        ],
    );
    check(&exact_task("When?", "18:53"), &[("At 18:53.", 1.0), ("At 18:53:10.", 0.0), ("At 18:35.", 0.0)]);
    check(
        &exact_task("Which address?", "101.71.143.238"),
        &[("::ffff:101.71.143.238", 1.0), ("101.71.143.23", 0.0), ("1.101.71.143.238", 0.0)],
    );
}

#[test]
fn a_number_is_given_and_does_not_merely_occur() {
    check(
        &exact_task("What is the size in bytes of that file?", "17"),
        &[
            ("The file is 17 bytes long (notes.rst:12, section 12).", 1.0),
            ("Line 17 of the file says that it has 4096 bytes.", 0.0),
            ("notes.rst:17 says so.", 0.0),
            ("It is not 17.", 0.0),
            ("It is 17 or more.", 0.0),
            ("It is 1.17.", 0.0),
            ("It has 17kg.", 0.0),
            (
                "A file is there. It is a log. It has 17 rows. There are more. They are long. The size is open.",
                0.0,
            ),
            (
                "17 bytes. It is small. It closes a transaction. There are more. All are alike. Some are not.",
                1.0,
            ),
        ],
    );
    check(&exact_task("On which line is it?", "17"), &[("On line 17.", 1.0)]);
    check(&exact_task("Is it 30 or 45?", "45"), &[("45, not 30", 0.0), ("It is 45.", 1.0)]);
    let socket = Task { accept: vec!["700".into()], ..exact_task("Which bits?", "0700") };
    check(&socket, &[("0700", 1.0), ("The bits are 700.", 1.0), ("0770", 0.0), ("770", 0.0)]);
}

#[test]
fn a_word_in_a_longer_sentence_counts_unless_another_could_be_meant() {
    let cpus = Task {
        accept: vec!["num_cpus()".into()],
        ..exact_task("Which built-in function of just gives the number of logical processors?", "num_cpus")
    };
    check(
        &cpus,
        &[
            ("The function is `num_cpus()`, which returns the number of logical CPUs.", 1.0),
            ("According to `README.md`, the built-in function to be used for this is `num_cpus()`.", 1.0),
            (
                "The function is `cpu_count()`, which is what `num_cpus()` was called in earlier releases.",
                0.0,
            ),
            ("The function is `logical_cpus`, and num_cpus is the name of the crate that it uses.", 0.0),
            ("num_cpus, cpu_count", 0.0),
            ("It is num_cpus_physical.", 0.0),
            ("It is `just.num_cpus`.", 1.0),
            ("It is `just.functions.num_cpus`.", 1.0),
            (
                "The function is `num_cpus()`; in Python it would be `os.cpu_count()` or something like that.",
                1.0,
            ),
        ],
    );
    check(
        &exact_task("Which company offers Scrapy Cloud?", "Zyte"),
        &[
            ("Scrapy Cloud, a hosted service for spiders, is offered by the company Zyte.", 1.0),
            ("Scrapy Cloud has always been offered by a company named Scrapinghub, before Zyte came.", 0.0),
            (
                "The company is Zyte and it has its office in Cork in Ireland, as the page about Scrapy says.",
                0.0,
            ),
            ("The company is Zyte with its office in Cork in Ireland, as the page about Scrapy says.", 1.0),
            ("Zyte has offered it as part of its Smart Proxy business since the early days of Scrapy.", 1.0),
            (
                "It has been offered for years by Scrapinghub, Zyte, and other companies of the same group.",
                0.0,
            ),
            (
                "{\"answer\": \"Zyte\", \"quote\": \"Scrapy Cloud of Scrapinghub is now run by others at Zyte in Cork\"}",
                1.0,
            ),
            ("{\"answer\": \"Scrapinghub\", \"quote\": \"Zyte\"}", 0.0),
            ("It is Zyte or Scrapinghub.", 0.0),
            ("It is not Zyte.", 0.0),
        ],
    );
}

#[test]
fn a_word_without_a_form_of_its_own_must_be_where_an_answer_is_expected() {
    check(
        &exact_task("Which half of Buildbot, master or worker, is no good under Cygwin?", "master"),
        &[
            ("The half of Buildbot that is no good at all under Cygwin is the master.", 1.0),
            (
                "According to the master configuration, the half that is no good under Cygwin is the worker.",
                0.0,
            ),
            ("master or worker", 0.0),
        ],
    );
    check(
        &exact_task("What is the most requested path?", "/news.html"),
        &[("It is `/news.html`.", 1.0), ("It is /archive/news.html", 0.0), ("/news.html, /index.html", 0.0)],
    );
    check(
        &exact_task("What is the size limit?", "20MiB"),
        &[("20 MiB", 1.0), ("20MiB", 1.0), ("20 MB", 0.0), ("120 MiB", 0.0)],
    );
    let german = task(Scoring::Exact, "de", "Aus welcher Stadt stammte er?", &["London"]);
    check(
        &german,
        &[
            (
                "Der Besitzer des Schiffes, ein reicher Händler aus England, stammte ursprünglich aus London.",
                1.0,
            ),
            (
                "Er stammte aus Bristol und zog erst als alter Mann nach London in ein Haus an der Themse.",
                0.0,
            ),
        ],
    );
}

#[test]
fn other_right_answers_and_a_tolerance_are_in_the_task() {
    let countries =
        Task { accept: vec!["32".into()], ..exact_task("From how many countries?", "thirty-two") };
    check(&countries, &[("32", 1.0), ("Thirty-two", 1.0), ("33", 0.0), ("thirty", 0.0)]);
    let among = vec!["master".to_owned(), "worker".to_owned()];
    let choice = Task {
        accept: vec!["buildmaster".into()],
        ..task(Scoring::Choice { among }, "en", "Which?", &["master"])
    };
    check(
        &choice,
        &[("buildmaster", 1.0), ("master", 1.0), ("worker", 0.0), ("buildmaster and worker", 0.0)],
    );
    let cars = Task { tolerance: 0.5, ..task(Scoring::Number, "en", "The average?", &["2221"]) };
    check(&cars, &[("2221.2", 1.0), ("2,221.5", 1.0), ("2221.6", 0.0), ("2220", 0.0)]);
    let count = task(Scoring::Number, "en", "How many?", &["31"]);
    check(&count, &[("31", 1.0), ("32", 0.75)]);
}

#[test]
fn numbers_are_read_in_the_notation_of_the_language() {
    let rating = Task { tolerance: 0.006, ..task(Scoring::Number, "de", "Der Durchschnitt?", &["5.85"]) };
    check(
        &rating,
        &[("Der Durchschnitt beträgt 5,85.", 1.0), ("5.85", 1.0), ("5,0", 0.0), ("5", 0.0), ("585", 0.0)],
    );
    let bytes = task(Scoring::Number, "de", "Wie viele Bytes?", &["35001272"]);
    check(&bytes, &[("35.001.272", 1.0), ("35,001,272", 1.0), ("35 001 272", 1.0), ("35.001", 0.0)]);
    let limit = task(Scoring::Exact, "fr", "Combien d'octets ?", &["4094"]);
    check(
        &limit,
        &[
            ("4 094 octets", 1.0),
            ("4\u{202f}094", 1.0),
            ("4\u{a0}094", 1.0),
            ("4,094", 1.0),
            ("4 095", 0.0),
            ("94", 0.0),
        ],
    );
    // In English, a comma groups and a space separates.
    let english = task(Scoring::Number, "en", "How many?", &["5"]);
    check(&english, &[("5 094", 1.0), ("5,094", 0.0)]);
}

#[test]
fn numbers_of_the_question_are_not_the_answer() {
    let planes = task(Scoring::Number, "en", "How many planes were built in 2001?", &["284"]);
    check(
        &planes,
        &[
            ("In 2001, 284 planes were built.", 1.0),
            ("In 2001, none.", 0.0),
            ("In 2001, 285.", 0.75),
            ("2001", 0.0),
        ],
    );
    let wet = Task {
        tolerance: 0.11,
        ..task(Scoring::Number, "ja", "シアトルの2014年の降水量の合計は?", &["1232.8"])
    };
    check(&wet, &[("2014年の合計は1232.8です。", 1.0), ("2014年の合計は1132.8です。", 0.0)]);
    let same = task(Scoring::Number, "en", "How many of the 60 games were won?", &["60"]);
    check(&same, &[("All 60.", 1.0), ("60 of 60.", 1.0)]);
}

#[test]
fn a_value_between_chinese_or_japanese_characters_is_found() {
    let port = task(Scoring::Exact, "ja", "どのポートですか。", &["5555"]);
    check(
        &port,
        &[("答えは5555です。", 1.0), ("答えは55550です。", 0.0), ("答えは5555または5556です。", 0.0)],
    );
    let company = task(Scoring::Exact, "zh", "哪家公司?", &["Zyte"]);
    check(&company, &[("是Zyte公司。", 1.0), ("是Zytex公司。", 0.0), ("不是Zyte。", 0.0)]);
    let year = task(Scoring::Exact, "zh", "哪一年?", &["2024"]);
    check(&year, &[("2024年。", 1.0), ("2023年。", 0.0)]);
    let capital = Task {
        accept: vec!["北京".into()],
        ..task(Scoring::Exact, "zh", "首都是哪里?", &["Beijing"])
    };
    check(&capital, &[("首都是北京。", 1.0), ("首都是南京。", 0.0)]);
}

#[test]
fn lists_may_have_bullets_an_and_and_short_names() {
    let question = "Which classes derive directly from MissingHostKeyPolicy?";
    let policies = task(Scoring::Set, "en", question, &["AutoAddPolicy", "RejectPolicy", "WarningPolicy"]);
    check(
        &policies,
        &[
            ("- AutoAddPolicy\n- RejectPolicy\n- WarningPolicy", 1.0),
            ("Answer:\n\n1. `AutoAddPolicy`: adds\n2. `RejectPolicy`\n3. `WarningPolicy` (warns)", 1.0),
            ("AutoAddPolicy, RejectPolicy and WarningPolicy", 1.0),
            ("AutoAddPolicy, RejectPolicy, und WarningPolicy", 1.0),
            (
                "From MissingHostKeyPolicy derive AutoAddPolicy, RejectPolicy and WarningPolicy (client.py).",
                1.0,
            ),
            ("- AutoAddPolicy\n- OtherPolicy", 0.4),
            ("AutoAddPolicy, RejectPolicy, WarningPolicy, OtherPolicy", 0.86),
            ("There are three.", 0.0),
        ],
    );
    let callers =
        ["dispatcher.create_socket", "dispatcher.set_socket", "file_dispatcher.set_file", "Stream.close"];
    let callers = task(Scoring::Set, "en", "Find everything that calls add_channel.", &callers);
    check(
        &callers,
        &[
            ("`create_socket`, `set_socket`, `close` and `set_file`", 1.0),
            ("dispatcher.create_socket, set_socket, close, set_file", 1.0),
            ("other.create_socket, set_socket, close, set_file", 0.75),
            ("They close the channel with create_socket.", 0.4),
        ],
    );
    let same = task(Scoring::Set, "en", "What calls it?", &["SFTPClient.__init__", "SFTPServer.__init__"]);
    check(&same, &[("`__init__`", 0.0), ("SFTPClient.__init__ and SFTPServer.__init__", 1.0)]);
    let colours = task(Scoring::Set, "en", "Which colours?", &["dark red", "blue"]);
    check(
        &colours,
        &[("The colours are blue and dark red.", 1.0), ("- blue\n- dark red", 1.0), ("red, blue", 0.5)],
    );
}

#[test]
fn to_say_that_it_is_not_there_is_no_right_answer_but_a_denial() {
    let commit = exact_task("What is the size of that file?", "17");
    let denial = score(&commit, "The documents do not say.");
    assert_eq!((denial.score, denial.is_denial), (0.0, true));
    let guess = score(&commit, "The documents do not say, but it is 18.");
    assert_eq!((guess.score, guess.is_denial), (0.0, false));
}
