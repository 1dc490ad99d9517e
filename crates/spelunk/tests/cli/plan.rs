//! `spelunk plan`: types, tasks, analysts and costs, before anything is spent.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::scene::Scene;

/// `n_lines` lines, each made from its number.
fn lines(n_lines: u32, line: impl Fn(u32) -> String) -> String {
    (1..=n_lines).fold(String::new(), |mut text, n| {
        writeln!(text, "{}", line(n)).unwrap();
        text
    })
}

/// A folder with every content type that has its own rules, each long enough to be split.
fn mixed() -> Scene {
    let elements = lines(900, |n| format!("{}{{\"id\": {n}}}", if n > 1 { "," } else { "" }));
    Scene::new(&[
        (
            "mix/app.py",
            &format!(
                "import os\n\n{}",
                lines(600, |n| format!("def f{n}(x):\n    y = x + {n}\n    return y\n"))
            ),
        ),
        ("mix/rows.csv", &format!("id,name\n{}", lines(2500, |n| format!("{n},n{n}")))),
        ("mix/items.json", &format!("[\n{elements}]\n")),
        ("mix/events.jsonl", &lines(2100, |n| format!("{{\"n\": {n}}}"))),
        ("mix/server.log", &lines(2600, |n| format!("2026-01-01T00:00:{:02} INFO request {n}", n % 60))),
        ("mix/guide.md", &lines(400, |n| format!("## Part {n}\n\nText of part {n}.\n\nMore of it.\n"))),
        ("mix/app.toml", "[server]\nport = 80\n"),
        ("mix/sub/small.py", "def g():\n    return 1\n"),
        ("mix/.env", "KEY=1\n"),
        ("mix/photo.bin", "\0\0\0\0"),
    ])
}

#[track_caller]
fn check(args: &[&'static str], expected: &Expect) {
    mixed().spelunk([&["plan", "mix"], args].concat()).run().check(expected);
}

#[test]
fn a_mixed_folder_is_planned_by_type() {
    let scene = mixed();
    scene.spelunk(["plan", "mix"]).run().check(&expect![[r#"
        type              files     lines      size
        config                1         2      19 B
        json                  1       902   11.5 kB
        jsonl                 1      2100   24.0 kB
        log                   1      2600   97.6 kB
        prose                 1      2400   17.7 kB
        source_code           2      2404   25.6 kB
        structured_data       1      2501   25.2 kB

          97.6 kB  log                2 chunks  server.log
          25.5 kB  source_code       12 chunks  app.py
          25.2 kB  structured_data    2 chunks  rows.csv
          24.0 kB  jsonl              3 chunks  events.jsonl
          17.7 kB  prose             10 chunks  guide.md
        3 small files in 3 batches

        32 tasks: 29 chunks, 3 batches · analysts: 3 code, 1 data, 1 json, 3 general
        32 to 113 calls · 44.9k to 2.0M tokens in, 64 to 462k out
          anthropic/claude-sonnet-5-5  $0.0905 to $9.80
          anthropic/claude-haiku-5-5   $0.0046 to $0.49
          gemini/gemini-4-argon        $0.0905 to $8.77
          gemini/gemini-3.5-flash-lite $0.0137 to $1.78
          openai/gpt-6.1-terra         $0.0453 to $4.90
          openai/gpt-6-luna            $0.0046 to $0.49
        --- stderr
        Skipped: 1 binary, 1 secret
        --- exit 0
    "#]]);
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn every_task_is_shown_where_that_is_asked_for() {
    check(
        &["--tasks", "-q"],
        &expect![[r#"
            type              files     lines      size
            config                1         2      19 B
            json                  1       902   11.5 kB
            jsonl                 1      2100   24.0 kB
            log                   1      2600   97.6 kB
            prose                 1      2400   17.7 kB
            source_code           2      2404   25.6 kB
            structured_data       1      2501   25.2 kB

              97.6 kB  log                2 chunks  server.log
              25.5 kB  source_code       12 chunks  app.py
              25.2 kB  structured_data    2 chunks  rows.csv
              24.0 kB  jsonl              3 chunks  events.jsonl
              17.7 kB  prose             10 chunks  guide.md
            3 small files in 3 batches

               1  code        511 tokens  app.py:1-202
               2  code        516 tokens  app.py:203-402
               3  code        540 tokens  app.py:403-602
               4  code        540 tokens  app.py:603-802
               5  code        540 tokens  app.py:803-1002
               6  code        540 tokens  app.py:1003-1202
               7  code        540 tokens  app.py:1203-1402
               8  code        540 tokens  app.py:1403-1602
               9  code        540 tokens  app.py:1603-1802
              10  code        540 tokens  app.py:1803-2002
              11  code        540 tokens  app.py:2003-2202
              12  code        540 tokens  app.py:2203-2402
              13  json       2.7k tokens  events.jsonl:1-1000
              14  json       3.0k tokens  events.jsonl:1001-2000
              15  json        300 tokens  events.jsonl:2001-2100
              16  general     437 tokens  guide.md:1-246  Part 1
              17  general     441 tokens  guide.md:247-492  Part 42
              18  general     453 tokens  guide.md:493-738  Part 83
              19  general     462 tokens  guide.md:739-984  Part 124
              20  general     462 tokens  guide.md:985-1230  Part 165
              21  general     462 tokens  guide.md:1231-1476  Part 206
              22  general     462 tokens  guide.md:1477-1722  Part 247
              23  general     462 tokens  guide.md:1723-1968  Part 288
              24  general     462 tokens  guide.md:1969-2214  Part 329
              25  general     349 tokens  guide.md:2215-2400  Part 370
              26  data       4.9k tokens  rows.csv:1-2001
              27  data       1.3k tokens  rows.csv:2002-2501
              28  general   23.4k tokens  server.log:1-2500
              29  general    1.1k tokens  server.log:2501-2600
              30  code          6 tokens  batch of 1: sub/small.py
              31  json       2.8k tokens  batch of 1: items.json
              32  general       5 tokens  batch of 1: app.toml

            32 tasks: 29 chunks, 3 batches · analysts: 3 code, 1 data, 1 json, 3 general
            32 to 113 calls · 44.9k to 2.0M tokens in, 64 to 462k out
              anthropic/claude-sonnet-5-5  $0.0905 to $9.80
              anthropic/claude-haiku-5-5   $0.0046 to $0.49
              gemini/gemini-4-argon        $0.0905 to $8.77
              gemini/gemini-3.5-flash-lite $0.0137 to $1.78
              openai/gpt-6.1-terra         $0.0453 to $4.90
              openai/gpt-6-luna            $0.0046 to $0.49
            --- stderr
            --- exit 0
        "#]],
    );
}

#[test]
fn plain_cuts_by_tokens_whatever_the_files_are() {
    check(
        &["--tasks", "--plain", "-q"],
        &expect![[r#"
            type              files     lines      size
            config                1         2      19 B
            json                  1       902   11.5 kB
            jsonl                 1      2100   24.0 kB
            log                   1      2600   97.6 kB
            prose                 1      2400   17.7 kB
            source_code           2      2404   25.6 kB
            structured_data       1      2501   25.2 kB

              97.6 kB  log               13 chunks  server.log
              25.5 kB  source_code        4 chunks  app.py
              25.2 kB  structured_data    4 chunks  rows.csv
              24.0 kB  jsonl              4 chunks  events.jsonl
              17.7 kB  prose              3 chunks  guide.md
            3 small files in 3 batches

               1  code       1.8k tokens  app.py:1-726
               2  code       1.9k tokens  app.py:727-1430
               3  code       1.9k tokens  app.py:1431-2134
               4  code        820 tokens  app.py:2135-2402
               5  json       1.8k tokens  events.jsonl:1-700
               6  json       1.9k tokens  events.jsonl:701-1358
               7  json       1.9k tokens  events.jsonl:1359-1991
               8  json        426 tokens  events.jsonl:1992-2100
               9  general    1.8k tokens  guide.md:1-1038
              10  general    1.9k tokens  guide.md:1039-2046
              11  general     763 tokens  guide.md:2047-2400
              12  data       1.8k tokens  rows.csv:1-868
              13  data       1.9k tokens  rows.csv:869-1582
              14  data       1.9k tokens  rows.csv:1583-2272
              15  data        729 tokens  rows.csv:2273-2501
              16  general    1.8k tokens  server.log:1-208
              17  general    1.9k tokens  server.log:209-413
              18  general    1.9k tokens  server.log:414-618
              19  general    1.9k tokens  server.log:619-823
              20  general    1.9k tokens  server.log:824-1027
              21  general    2.0k tokens  server.log:1028-1227
              22  general    2.0k tokens  server.log:1228-1427
              23  general    2.0k tokens  server.log:1428-1627
              24  general    2.0k tokens  server.log:1628-1827
              25  general    2.0k tokens  server.log:1828-2027
              26  general    2.0k tokens  server.log:2028-2227
              27  general    2.0k tokens  server.log:2228-2427
              28  general    1.7k tokens  server.log:2428-2600
              29  code          6 tokens  batch of 1: sub/small.py
              30  json       2.8k tokens  batch of 1: items.json
              31  general       5 tokens  batch of 1: app.toml

            31 tasks: 28 chunks, 3 batches · analysts: 1 code, 1 data, 1 json, 4 general
            31 to 109 calls · 44.4k to 2.0M tokens in, 62 to 446k out
              anthropic/claude-sonnet-5-5  $0.0896 to $9.52
              anthropic/claude-haiku-5-5   $0.0045 to $0.48
              gemini/gemini-4-argon        $0.0896 to $8.51
              gemini/gemini-3.5-flash-lite $0.0135 to $1.73
              openai/gpt-6.1-terra         $0.0448 to $4.76
              openai/gpt-6-luna            $0.0045 to $0.48
            --- stderr
            --- exit 0
        "#]],
    );
}

#[test]
fn json_is_the_whole_plan() {
    let scene = Scene::new(&[
        ("d/app.py", &lines(3100, |n| format!("x{n} = {n}"))),
        ("d/a.md", "# One\n"),
        ("d/b.md", "# Two\n"),
        ("d/z.txt", "last\n"),
        ("d/.env", "KEY=1\n"),
    ]);
    let plan = ["plan", "d", "--json", "--files-max", "3", "--set", "limits.chunk_code_lines=1600"];
    let ran = scene.spelunk(plan).run();
    let shown: BTreeMap<String, Value> = serde_json::from_str(&ran.stdout).unwrap();
    let shown: Vec<String> = shown.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    expect![[r#"
        analysts: [{"analyst":"code","labels":["code-analyst-1"],"tasks":2},{"analyst":"general","labels":["general-analyst-1"],"tasks":1}]
        calls_at_least: 3
        calls_at_most: 12
        cost_microusd_at_least: {"anthropic/claude-haiku-5-5":744,"anthropic/claude-sonnet-5-5":14868,"gemini/gemini-3.5-flash-lite":2237,"gemini/gemini-4-argon":14868,"openai/gpt-6-luna":744,"openai/gpt-6.1-terra":7434}
        cost_microusd_at_most: {"anthropic/claude-haiku-5-5":58189,"anthropic/claude-sonnet-5-5":1163760,"gemini/gemini-3.5-flash-lite":203550,"gemini/gemini-4-argon":1029312,"openai/gpt-6-luna":58189,"openai/gpt-6.1-terra":581880}
        left_out: ["z.txt"]
        manifest: [{"bytes":6,"custom_type":null,"file":"a.md","lines":1,"partitions":0,"partitions_expected":0,"schema":null,"tier":"small","type":"prose","via":"extension"},{"bytes":38086,"custom_type":null,"file":"app.py","lines":3100,"partitions":2,"partitions_expected":2,"schema":null,"tier":"medium","type":"source_code","via":"extension"},{"bytes":6,"custom_type":null,"file":"b.md","lines":1,"partitions":0,"partitions_expected":0,"schema":null,"tier":"small","type":"prose","via":"extension"}]
        reader: null
        redacted: {}
        skipped: {"files-max":1,"secret":1}
        tasks: [{"analyst":"code","tokens_estimate":4647,"work":{"chunk":0,"file":"app.py","line_end":1600,"line_start":1,"of":2,"scope":null}},{"analyst":"code","tokens_estimate":4940,"work":{"chunk":1,"file":"app.py","line_end":3100,"line_start":1601,"of":2,"scope":null}},{"analyst":"general","tokens_estimate":4,"work":{"files":["a.md","b.md"]}}]
        unreadable: []
        usage_at_least: {"input_tokens":7404,"output_tokens":6}
        usage_at_most: {"input_tokens":268896,"output_tokens":49152}
        warnings: ["1 file is excluded by `files_max`; set it to 0 to include all"]"#]].assert_eq(&shown.join("\n"));
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (0, "Skipped: 1 beyond the maximum number of files, 1 secret\n")
    );
}

#[test]
fn json_that_is_cut_is_sketched_and_what_is_read_whole_is_not() {
    let record = |n: u32| match n {
        1..=1600 => format!("{{\"ts\": {n}, \"level\": \"info\", \"user\": {{\"id\": {n}}}}}"),
        n => format!("{{\"ts\": {n}, \"level\": \"error\", \"error\": \"boom\"}}"),
    };
    let elements = lines(1600, |n| format!("{}{{\"id\": {n}}}", if n > 1 { "," } else { "" }));
    let scene = Scene::new(&[
        ("d/all.json", &format!("[\n{elements}]\n")),
        ("d/app.jsonl", &lines(1700, record)),
        ("d/small.json", "[1, 2, 3]\n"),
    ]);
    let ran = scene.spelunk(["plan", "d", "--json"]).run();
    let plan: Value = serde_json::from_str(&ran.stdout).unwrap();
    let schemas: Vec<String> =
        plan["manifest"].as_array().unwrap().iter().map(|row| row["schema"].to_string()).collect();
    expect![[r#"
        {"records":null,"sampled_bytes":21283,"sketch":"[{id: integer}; 1600]"}
        {"records":{"begins_with_metadata":false,"fields":[{"class":"error","path":".error","present":20,"types":["string"]},{"class":"level","path":".level","present":41,"types":["string"]},{"class":"timestamp","path":".ts","present":41,"types":["number"]},{"class":null,"path":".user.id","present":21,"types":["number"]}],"fields_left_out":0,"malformed":0,"only_early":[".user.id"],"only_late":[".error"],"recipes":{"extract-errors":"inputs | fromjson? | objects | select(.error != null)","filter-level":"inputs | fromjson? | objects | select((.level | tostring | ascii_downcase) == \"error\")","time-range":"inputs | fromjson? | objects | select(.ts >= FROM and .ts < TO)","top-errors":"[inputs | fromjson? | objects] | map(select(.error != null)) | group_by(.error) | map({error: (.[0] | .error), n: length}) | sort_by(-.n) | .[:10]"},"sampled":41,"shapes":2},"sampled_bytes":1954,"sketch":"1700 lines of {ts: integer, level: string, user?: {id: integer}, error?: string}"}
        null"#]].assert_eq(&schemas.join("\n"));
}

#[test]
fn the_users_word_for_a_type_is_taken() {
    let scene = Scene::new(&[("a.inc", "int main(void) { return 0; }\n"), ("b.md", "# Log of a ship\n")]);
    scene.spelunk(["plan", "--type", "*.inc=source_code", "--type", "b.md=log"]).run().check(&expect![[r#"
        type              files     lines      size
        log                   1         1      16 B
        source_code           1         1      29 B

        2 small files in 2 batches

        2 tasks: 0 chunks, 2 batches · analysts: 1 code, 1 general
        2 to 10 calls · 680 to 175k tokens in, 4 to 40.9k out
          anthropic/claude-sonnet-5-5  $0.0014 to $0.85
          anthropic/claude-haiku-5-5   <$0.0001 to $0.0425
          gemini/gemini-4-argon        $0.0014 to $0.77
          gemini/gemini-3.5-flash-lite $0.0003 to $0.16
          openai/gpt-6.1-terra         $0.0007 to $0.43
          openai/gpt-6-luna            <$0.0001 to $0.0425
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_question_goes_to_every_task_and_counts() {
    let scene = Scene::new(&[("a.md", "one\n"), ("b.log", "2026-01-01 00:00:00 up\n")]);
    scene.spelunk(["plan"]).run().check(&expect![[r#"
        type              files     lines      size
        log                   1         1      23 B
        prose                 1         1       4 B

        2 small files in 2 batches

        2 tasks: 0 chunks, 2 batches · analysts: 1 general
        2 to 10 calls · 624 to 175k tokens in, 4 to 40.9k out
          anthropic/claude-sonnet-5-5  $0.0013 to $0.85
          anthropic/claude-haiku-5-5   <$0.0001 to $0.0424
          gemini/gemini-4-argon        $0.0013 to $0.77
          gemini/gemini-3.5-flash-lite $0.0002 to $0.16
          openai/gpt-6.1-terra         $0.0007 to $0.43
          openai/gpt-6-luna            <$0.0001 to $0.0424
        --- stderr
        --- exit 0
    "#]]);
    let question = "why? ".repeat(200);
    scene.spelunk(["plan", "--query", &question]).run().check(&expect![[r#"
        type              files     lines      size
        log                   1         1      23 B
        prose                 1         1       4 B

        2 small files in 2 batches

        2 tasks: 0 chunks, 2 batches · analysts: 1 general
        2 to 10 calls · 957 to 180k tokens in, 4 to 40.9k out
          anthropic/claude-sonnet-5-5  $0.0020 to $0.87
          anthropic/claude-haiku-5-5   <$0.0001 to $0.0431
          gemini/gemini-4-argon        $0.0020 to $0.78
          gemini/gemini-3.5-flash-lite $0.0003 to $0.16
          openai/gpt-6.1-terra         $0.0010 to $0.44
          openai/gpt-6-luna            <$0.0001 to $0.0431
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn one_file_is_planned() {
    let scene = mixed();
    scene.spelunk(["plan", "mix/rows.csv", "--tasks"]).run().check(&expect![[r#"
        type              files     lines      size
        structured_data       1      2501   25.2 kB

          25.2 kB  structured_data    2 chunks  mix/rows.csv

           1  data       4.9k tokens  mix/rows.csv:1-2001
           2  data       1.3k tokens  mix/rows.csv:2002-2501

        2 tasks: 2 chunks, 0 batches · analysts: 1 data
        2 to 5 calls · 4.9k to 111k tokens in, 4 to 20.4k out
          anthropic/claude-sonnet-5-5  $0.0100 to $0.49
          anthropic/claude-haiku-5-5   $0.0005 to $0.0242
          gemini/gemini-4-argon        $0.0100 to $0.43
          gemini/gemini-3.5-flash-lite $0.0016 to $0.0847
          openai/gpt-6.1-terra         $0.0050 to $0.25
          openai/gpt-6-luna            $0.0005 to $0.0242
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn standard_input_is_planned() {
    let scene = Scene::new(&[]);
    scene.spelunk(["plan", "-", "--tasks"]).stdin("one\ntwo\n").run().check(&expect![[r#"
        type              files     lines      size
        unknown               1         2       8 B

        1 small file in 1 batch

           1  general       2 tokens  batch of 1: stdin

        1 task: 0 chunks, 1 batch · analysts: 1 general
        1 to 3 calls · 311 to 33.9k tokens in, 2 to 12.2k out
          anthropic/claude-sonnet-5-5  $0.0007 to $0.21
          anthropic/claude-haiku-5-5   <$0.0001 to $0.0104
          gemini/gemini-4-argon        $0.0007 to $0.20
          gemini/gemini-3.5-flash-lite <$0.0001 to $0.0409
          openai/gpt-6.1-terra         $0.0004 to $0.11
          openai/gpt-6-luna            <$0.0001 to $0.0104
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn what_holds_nothing_to_read_is_refused() {
    let scene = Scene::new(&[("photo.bin", "\0\0\0\0")]);
    std::fs::create_dir_all(scene.path("void")).unwrap();
    scene.spelunk(["plan", "void"]).run().check(&expect![[r#"
        --- stderr
        error: no readable documents in `void`

        hint: pass a path that contains text files
        --- exit 1
    "#]]);
    scene.spelunk(["plan", "photo.bin"]).run().check(&expect![[r#"
        --- stderr
        error: `photo.bin` is not text: it is a binary file

        hint: extract its text first and pass that file
        --- exit 1
    "#]]);
    scene.spelunk(["plan", "nowhere", "--json"]).run().check(&expect![[r#"
        {"error":{"causes":[],"code":"source-not-found","hint":"look in `DIR/work`, the nearest directory that exists","message":"`DIR/work/nowhere` does not exist"}}
        --- stderr
        error: `DIR/work/nowhere` does not exist

        hint: look in `DIR/work`, the nearest directory that exists
        --- exit 1
    "#]]);
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn a_type_that_does_not_exist_or_a_broken_pattern_is_refused() {
    let scene = Scene::new(&[("a.md", "one\n")]);
    scene.spelunk(["plan", "--type", "*.md=poem"]).run().check(&expect![[r#"
        --- stderr
        error: there is no content type `poem`

        hint: the types are source_code, structured_data, json, jsonl, log, prose, markup, config, unknown
        --- exit 2
    "#]]);
    scene.spelunk(["plan", "--type", "*.md=prosa"]).run().check(&expect![[r#"
        --- stderr
        error: there is no content type `prosa`

        hint: did you mean `prose`? the types are source_code, structured_data, json, jsonl, log, prose, markup, config, unknown
        --- exit 2
    "#]]);
    scene.spelunk(["plan", "--type", "prose"]).run().check(&expect![[r#"
        --- stderr
        error: `prose` does not have the form GLOB=TYPE

        hint: write it as `*.inc=source_code`; the types are source_code, structured_data, json, jsonl, log, prose, markup, config, unknown
        --- exit 2
    "#]]);
    scene.spelunk(["plan", "--type", "*.md[=prose"]).run().check(&expect![[r#"
        --- stderr
        error: `*.md[` is not a valid file name pattern

        hint: correct the pattern
        --- exit 2
    "#]]);
}
