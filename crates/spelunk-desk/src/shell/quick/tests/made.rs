//! Programs, words and options that are made up, beside the GNU tools of this machine.

use proptest::prelude::*;

use super::gnu::{gnu, has_gnu};
use super::{desk, quick};

fn one_of(all: &'static [&'static str]) -> impl Strategy<Value = String> + Clone {
    prop::sample::select(all).prop_map(str::to_owned)
}

/// An awk expression, in brackets or not.
fn expr() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        one_of(&["0", "1", "2", "10", "0.5", "3.25", "100000.5", "\"\"", "\"a\"", "\"10\"", "\"b c\""]),
        one_of(&["$1", "$2", "$3", "$NF", "$0", "NR", "NF", "FNR", "length"]),
        one_of(&["x", "y", "x++", "--y", "a[1]", "a[$1]", "a[x]++", "b[$2]", "/a/", "$x", "$(NF - 1)"]),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let operator = one_of(&[
            " + ", " - ", " * ", " / ", " % ", " ", " ", "", " < ", " <= ", " == ", " != ", " > ", " >= ", " && ",
            " || ", " -", " +",
        ]);
        let place = one_of(&["x", "y", "a[1]", "a[$1]", "a[x++]", "b[x, y]", "b[$1 $2]"]);
        let assign = one_of(&[" = ", " += ", " -= ", " *= ", "/=", "%="]);
        prop_oneof![
            3 => (inner.clone(), operator, inner.clone()).prop_map(|(a, sign, b)| format!("{a}{sign}{b}")),
            2 => inner.clone().prop_map(|of| format!("({of})")),
            1 => (one_of(&["!", "-", "+", "- ", "! "]), inner.clone()).prop_map(|(sign, of)| sign + &of),
            1 => (place, assign, inner.clone()).prop_map(|(to, sign, of)| format!("{to}{sign}{of}")),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("{a} ? {b} : {c}")),
            1 => (inner.clone(), one_of(&["~ /a/", "!~ /^[0-9]+$/", "~ /b|c/", "in a", "in b"]))
                .prop_map(|(of, test)| format!("{of} {test}")),
            1 => (one_of(&["length", "length ", "int", "toupper", "tolower", "substr", "index"]), inner.clone(),
                    one_of(&["", ", 2", ", 1, 2", ", \"a\"", ", x"]))
                .prop_map(|(name, of, more)| format!("{name}({of}{more})")),
        ]
    })
}

fn statement() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::collection::vec(expr(), 1..3).prop_map(|items| format!("print {}", items.join(", "))),
        2 => expr(),
        1 => (expr(), expr()).prop_map(|(of, then)| format!("if ({of}) print {then}; else x = NR")),
        1 => (expr(), expr()).prop_map(|(of, then)| format!("if ({of}) {{{then}}} else {{print \"no\"}}")),
        1 => one_of(&["for (k in a) print k, a[k]", "for (k in b) {s = s k}", "next", "print", "x += $2; y = $1"]),
        1 => (one_of(&["%s|", "%d ", "%5.1f\\n", "%-4s%%", "%03d\\n"]), expr())
            .prop_map(|(format, of)| format!("printf \"{format}\", {of}")),
    ]
}

fn program() -> impl Strategy<Value = String> {
    let block = || prop::collection::vec(statement(), 1..4).prop_map(|all| format!("{{{}}}", all.join("; ")));
    let rule = prop_oneof![
        3 => block(),
        2 => (expr(), block()).prop_map(|(of, block)| format!("{of} {block}")),
        1 => expr(),
        1 => block().prop_map(|block| format!("END {block}")),
        1 => block().prop_map(|block| format!("BEGIN {block}")),
    ];
    prop::collection::vec(rule, 1..3).prop_map(|rules| rules.join("\n"))
}

fn rows() -> impl Strategy<Value = String> {
    let word = prop_oneof!["[ab]{1,2}", "-?[0-9]{1,2}", "[0-9]{0,6}\\.[05]{1,2}", "10|0|1e2|\\+3"];
    let line = prop::collection::vec(word, 0..4).prop_map(|words| words.join(" "));
    prop::collection::vec(line, 0..5).prop_map(|lines| lines.join("\n") + "\n")
}

/// Words as people quote them.
fn word() -> impl Strategy<Value = String> {
    let part = one_of(&[
        "a",
        "b",
        "1",
        "-",
        "=",
        "'b  c'",
        "\"d  e\"",
        "\"$x\"",
        "$x",
        "${x}",
        "\"${y}z\"",
        "$y",
        "'$x'",
        "\"\\$x\"",
        "\\$",
        "\\\\",
        "\"a\\b\"",
        "\"\\\\\"",
        "''",
        "\"\"",
        "#",
        "a#b",
        "\\ ",
        "%",
        ":",
        "/",
        "é",
        "\"'\"",
        "'\"'",
        "\"a\\\"b\"",
        "~",
        "^",
        "x=1",
        ".",
        ",",
        "@",
        "+",
        "\"$\"",
        "\"a$ b\"",
        "\\'",
        "1>",
        "{",
        "}",
        "!",
        "[a]",
    ]);
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.concat())
}

fn said() -> impl Strategy<Value = String> {
    let echo = prop::collection::vec(word(), 0..4).prop_map(|words| format!("echo {}", words.join(" ")));
    let set = || (one_of(&["x", "y", "z"]), word()).prop_map(|(name, value)| format!("{name}={value}"));
    let line = prop_oneof![
        4 => echo,
        3 => set(),
        1 => (set(), word()).prop_map(|(set, word)| format!("{set}; for y in {word} {word}; do echo $y \"$x\"; done")),
        1 => word().prop_map(|word| format!("grep {word}")),
        1 => one_of(&["true", "grep -q a", "grep -q nothing", "# said", "", "cat | wc -l"]),
    ];
    let join = one_of(&["; ", "\n", " && ", " || ", ";", " | cat; "]);
    prop::collection::vec((line, join), 1..5)
        .prop_map(|lines| lines.into_iter().fold(String::new(), |all, (line, join)| all + &line + &join))
        .prop_map(|all| all + "echo end")
}

/// A command with options.
fn command() -> impl Strategy<Value = String> {
    let list = "(-?[1-4]|[1-3]-[2-5]?)(,[2-9]-?)?";
    let set = one_of(&[
        "a",
        "ab",
        "a-c",
        "A-Z",
        "a-zA-Z",
        "[:lower:]",
        "[:digit:]",
        "[:alpha:]x",
        "\\n",
        " \\n",
        "0-9",
        "-a",
        "a-",
        "é",
        "\\t:",
        "[:punct:]",
        "[a]",
        "\\\\",
        "z-y",
        "[:space:]",
    ]);
    let sort = prop::collection::vec(
        one_of(&[
            "-n", "-r", "-u", "-s", "-k2", "-k1,1", "-k2,2n", "-k2nr", "-k1,2", "-k3,1", "-t:", "-t ' '",
            "-k2,2r",
        ]),
        0..4,
    );
    let grep = prop::collection::vec(
        one_of(&[
            "-i", "-v", "-c", "-n", "-o", "-x", "-m1", "-m 2", "-E", "-F", "-h", "-s", "-a", "-e a", "-q",
        ]),
        0..3,
    );
    prop_oneof![
        3 => sort.prop_map(|options| format!("sort {}", options.join(" "))),
        2 => (one_of(&["-d: -f", "-f", "-d' ' -f", "-c", "-b", "-s -d: -f", "-d: -s -f "]), list)
            .prop_map(|(by, list)| format!("cut {by}{list}")),
        2 => (one_of(&["", "-d ", "-s ", "-c ", "-cd ", "-cs ", "-ds "]), set.clone(), prop::option::of(set))
            .prop_map(|(how, from, to)| match to {
                Some(to) => format!("tr {how}'{from}' '{to}'"),
                None => format!("tr {how}'{from}'"),
            }),
        2 => (grep, one_of(&["a", "a.", "b*", "'a b'", "'^a'", "'b$'", "[0-9]", "''", ".", "é", "A"]))
            .prop_map(|(options, pattern)| format!("grep {} {pattern}", options.join(" "))),
        1 => (one_of(&["head", "tail"]), one_of(&["", "-1", "-n 2", "-n0", "-c 3", "-c0", "-n +2", "-c +2", "-n -1", "-n+0"]))
            .prop_map(|(name, how)| format!("{name} {how}")),
        1 => one_of(&["uniq", "uniq -c", "uniq -d", "uniq -u", "uniq -cd", "uniq -cu", "wc", "wc -lc", "wc -w", "wc -cw"]),
        1 => one_of(&["sed 2d", "sed -n 2p", "sed 2q", "sed -n '2,$p'", "sed 1,2d", "sed 0p", "sed -n 3,2p", "sed '$d'", "sed p"]),
        1 => one_of(&["sed s/a/b/", "sed 's/[ab]/&&/g'", "sed 's/a/\\n/g'", "sed 's,b,x/y,'", "sed 's/é/e/g'", "sed 's/./x/2'", "sed -n s/a/b/p"]),
    ]
}

fn texts() -> impl Strategy<Value = String> {
    let line = "(a|b|ab|A|é|:|::|[0-9]|-3|10|1\\.5| |  |\\t|x y|a:b:c|b 2|b 10|0x1|\\+1|\\.5){0,4}";
    (prop::collection::vec(line, 0..8), any::<bool>())
        .prop_map(|(lines, has_end)| lines.join("\n") + if has_end { "\n" } else { "" })
}

/// Where a script is quick it must say what they say.
fn agrees(script: &str, theirs: &str, text: &str) -> Result<(), TestCaseError> {
    if !has_gnu() {
        return Ok(());
    }
    if let Some((stdout, _, exit_code)) = quick(&desk(), script, Some(text)) {
        prop_assert_eq!((stdout, exit_code), gnu(theirs, text), "{} on {:?}", script, text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn programs_of_awk_say_what_gnu_awk_says(program in program(), text in rows()) {
        agrees(&format!("awk '{program}'"), &format!("gawk '{program}'"), &text)?;
    }

    #[test]
    fn words_are_read_as_bash_reads_them(script in said(), text in rows()) {
        let in_bash = format!("bash -c '{}'", script.replace('\'', "'\\''"));
        agrees(&script, &in_bash, &text)?;
    }

    #[test]
    fn options_are_read_as_the_gnu_tools_read_them(
        first in command(),
        second in prop::option::of(command()),
        text in texts(),
    ) {
        let script = second.map_or(first.clone(), |second| format!("{first} | {second}"));
        agrees(&script, &script, &text)?;
    }
}
