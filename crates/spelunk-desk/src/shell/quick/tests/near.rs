//! Near what was once read wrongly: exact rows, and scripts made up around them, beside the GNU tools of this machine.
//! A script that is quick says what they say; one that is not is left alone.

use std::process::Command;

use proptest::prelude::*;

use super::gnu::{gnu, has_gnu};
use super::{desk, path, quick};
use crate::Desk;

/// A script, its standard input, and what the GNU tools print; nothing where it must not be quick.
type Row = (&'static str, &'static str, Option<&'static str>);

const ROWS: &[Row] = &[
    // Zeros before the point are digits.
    ("awk '{s += $1} END {print s, s / NR}'", "100000.2\n134560.3\n", Some("234560 117280\n")),
    (
        "awk '{print $1 + 0}'",
        "999999.4\n999999.5\n-100000.5\n99999.95\n",
        Some("999999\n1e+06\n-100000\n99999.9\n"),
    ),
    // Two elements of one name to GNU awk, one to others.
    ("awk '{n[$1 / 4]++} END {print (\"100000\" in n)}'", "400001\n", None),
    ("awk '{n[$1 / 4]++} END {print (\"2.5\" in n)}'", "10\n", Some("1\n")),
    // In a bracket, sed reads escapes and grep reads backslashes.
    ("sed -E 's/[ \\t]+$//'", "report\nreport \t\n", Some("report\nreport\n")),
    ("sed 's/[\\t]/X/g'", "a\\t\tb\n", Some("a\\tXb\n")),
    ("sed 's/[\\n]/X/g'", "nine\\n\n", None),
    ("sed 's/[\\r\\n]*x/X/'", "nrx\n", None),
    ("sed 's/[\\.]/X/g'", "a.b\\c\n", None),
    ("sed 's/[\\]]/X/g'", "a\\]b]\n", None),
    ("sed 's/[A-\\t]/X/g'", "PQ\n", None),
    ("grep -o '[\\t]'", "a\\t\tb\n", Some("\\\nt\n")),
    // A backspace, and no edge of a word.
    ("awk '/\\bcat\\b/'", "a cat\n", None),
    ("awk '/\\<cat\\>/'", "a cat\nconcat\n", Some("a cat\n")),
    // A blank before the bracket of a function.
    ("awk '{print length ($1), length ($2) \"x\", length $1}'", "foo ab\n", Some("3 2x 6foo\n")),
    ("awk '{print length\n(3)}'", "foo ab\n", Some("6\n")),
    // Nothing at the edge of a word.
    ("sed 's/\\b[a-z]*\\b//g'", "foo bar\n", None),
    ("sed 's/\\<//g'", "foo bar\n", None),
    ("sed 's/\\>/!/'", "foo bar\n", None),
    ("sed 's/\\b[a-z]/X/g'", "foo bar\n", Some("Xoo Xar\n")),
    // A zero that is known is refused before anything runs.
    ("awk '0 {print 1 / 0}'", "a\n", None),
    ("awk '0 {print 1 % !1}'", "a\n", None),
    ("awk '{print 7 / 2, 7 % 4}'", "a\n", Some("3.5 3\n")),
    // Looking at an element makes a text of it, to GNU awk.
    ("awk '{print a[1]; print (a[1] < $1)}'", "-0\n", None),
    ("awk '{print (a[$1] == 0), (a[$1] < 1)}'", "x\n", Some("1 1\n")),
    ("awk '{print (a[$1] == 0); a[$1]++} {print (a[$1] < 2)}'", "x\n", Some("1\n1\n")),
    // What stands in brackets is no place.
    ("awk '{print (x)++}'", "a\n", None),
    ("awk '{(x) = 1; print x}'", "a\n", None),
    ("awk '{x = 3; print (x), (x) - 1, -(x)}'", "a\n", Some("3 2 -3\n")),
    // Where every line is left out, none is counted.
    ("grep -vc ''", "", None),
    // Quitting gives the last line an end.
    ("sed 2q", "a\nb", None),
    ("sed 2q", "a\nb\nc", Some("a\nb\n")),
    // Where nothing is found differs.
    ("awk '{print index($1, \"\")}'", "a\n", None),
    ("awk '{print index($1, \"b\")}'", "ab\n", Some("2\n")),
    // Standard input by its name.
    ("wc -l -", "a\n", Some("1 -\n")),
    ("wc -", "a b\n", Some("      1       2       4 -\n")),
    // A key is computed once.
    ("awk '{a[n++] += $1} END {print n, length(a), a[0], a[1]}'", "5\n7\n", Some("2 2 5 7\n")),
    ("awk '{a[n++] = n; a[++n] -= n--} END {for (k in a) print k, a[k]}'", "5\n7\n", Some("0 \n1 1\n2 -2\n")),
    // Only the first start of a basic pattern is one.
    ("grep '^^a'", "^a\na\n", Some("^a\n")),
    ("grep '^*a'", "*a\na\n", Some("*a\n")),
    ("grep '\\(^^a\\)'", "^a\na\n", Some("^a\n")),
    ("grep -E '^^a'", "^a\na\n", None),
    // Fields that are not there are not looked for.
    ("sort -k 999999999999", "b\na\n", Some("a\nb\n")),
    ("sort -k 2,999999999999", "x b\ny a\n", Some("y a\nx b\n")),
    ("sort -t: -k 999999999999", "b\na\n", Some("a\nb\n")),
];

#[test]
fn rows_are_as_the_gnu_tools_have_them() {
    let desk = desk();
    let has_gnu = has_gnu();
    let mut differences = String::new();
    for (script, text, expected) in ROWS {
        let said = quick(&desk, script, Some(text)).map(|(stdout, _, _)| stdout);
        if said.as_deref() != *expected {
            differences.push_str(&format!("{script} on {text:?}: {said:?}, not {expected:?}\n"));
        }
        if let (Some(expected), true) = (expected, has_gnu) {
            let (theirs, _) = gnu(&script.replacen("awk", "gawk", 1), text);
            if theirs != *expected {
                differences.push_str(&format!("{script} on {text:?}: they say {theirs:?}\n"));
            }
        }
    }
    assert_eq!(differences, "");
}

#[test]
fn a_file_in_the_middle_of_a_pipe_gets_all_of_it() {
    let mut desk = desk();
    let script = "cut -d, -f1 scratch/table.csv > output/names.txt | head -1; wc -l output/names.txt";
    let ended = super::run(&mut desk, script, None).unwrap();
    assert_eq!(ended.stdout, "5 output/names.txt\n");
    assert_eq!(desk.text(&path("output/names.txt")).unwrap(), "name\nada\nbob\nno commas\ncy\n");
}

#[test]
fn what_a_shell_would_open_must_be_there() {
    let desk = desk();
    for script in [
        "echo hi < scratch/missing",
        "grep -c a scratch/words.txt < scratch/missing",
        "cat scratch/words.txt | head -1 scratch/words.txt < scratch",
        "awk 'BEGIN {print 1}' < scratch/missing",
        // Two that write one file at once.
        "echo a > output/x | echo b > output/x",
        "echo a > output/x | echo b >> ./output/x",
    ] {
        assert_eq!(quick(&desk, script, None), None, "{script}");
    }
    let (stdout, _, _) = quick(&desk, "echo hi < scratch/words.txt", None).unwrap();
    assert_eq!(stdout, "hi\n");
}

/// Numbers whose six digits end near the point.
fn numbers() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        4 => "-?[1-9][0-9]{5}\\.[0-9]{1,3}",
        2 => "-?[1-9]0{0,5}\\.[05]{1,3}",
        2 => "-?99999[0-9]?\\.[0-9]{1,2}",
        1 => "-?0?\\.0{0,5}[0-9]{1,7}",
        1 => "[0-9]{1,9}",
    ];
    prop::collection::vec(number, 1..8).prop_map(|numbers| numbers.join("\n") + "\n")
}

const SUMS: &[&str] = &[
    "awk '{print $1 + 0, $1 / 2, $1 * 10, $1 / 1000, -$1}'",
    "awk '{s += $1} END {print s, s / NR, s / 3, int(s)}'",
    "awk '{print (\"\" $1 / 8) \"|\" $1 % 7 \"|\" length($1 / 4)}'",
    "awk '{n[$1 / 2]++; if (m == \"\" || $1 > m) m = $1} END {print length(n), m, m + 0.25}'",
    "awk '{printf \"%d %.0f %.1f %.2f %s %8.3f|%-9d|\\n\", $1, $1, $1, $1, $1 / 2, $1, $1}'",
];

/// A pattern of few signs, many of them at their edges.
fn pattern() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        4 => "[abt]",
        2 => "\\[\\^?\\]?[-abt \\\\.*]{1,3}\\]",
        1 => "\\[\\^?\\[:(alpha|space|digit|punct):\\][a.]?\\]",
        2 => "\\\\[b<>wWsS.*\\[\\]^$\\\\]",
        1 => "[.^$*+?]",
        1 => "\\\\[(){}|+?]|[(){}|]",
        1 => "\\{[12]?,?[23]?\\}|\\\\\\{[12],?\\\\\\}",
    ];
    let begun = prop_oneof![3 => Just(""), 1 => Just("^"), 1 => Just("\\b"), 1 => Just("\\<")];
    let ended = prop_oneof![3 => Just(""), 1 => Just("$"), 1 => Just("\\b"), 1 => Just("\\>")];
    (begun, prop::collection::vec((atom, "[*]?"), 0..4), ended).prop_map(|(begun, atoms, ended)| {
        let atoms = atoms.into_iter().fold(String::new(), |all, (atom, star)| all + &atom + &star);
        format!("{begun}{atoms}{ended}")
    })
}

fn words() -> impl Strategy<Value = String> {
    let line =
        "(a|b|t|ab|bat|tab|\\t| |  |\\.|\\*|\\\\|\\\\t|\\^|\\]|-|_|1|\\$|\\{2\\}|\\(|\\)|\\+|\\|){0,7}";
    prop::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n") + "\n")
}

/// Stages of pipelines, some of which read what they are given and some of which do not.
fn stage() -> impl Strategy<Value = String> {
    let command = prop::sample::select(vec![
        "cat",
        "cat -",
        "cat scratch/a",
        "cat scratch/a scratch/b",
        "cut -d: -f1",
        "cut -d: -f1 scratch/b",
        "echo hi there",
        "grep a",
        "grep -c b",
        "grep -v a scratch/b",
        "head -1",
        "head -n 2 scratch/a",
        "head -n 0",
        "tail -n 2",
        "tail -n +2",
        "sort",
        "sort -u scratch/b",
        "sort -k 77",
        "uniq -c",
        "wc",
        "wc -l",
        "wc -l -",
        "wc - scratch/a",
        "wc -lw scratch/a scratch/b",
        "sed -n 2p",
        "sed s/a/XY/g",
        "tr ab xy",
        "awk '{print $1}'",
        "awk '{a[n++] += NF} END {print n, a[0]}'",
        "awk 'BEGIN {print 7}'",
        "true",
    ]);
    let redirect = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        " > output/x",
        " >> output/x",
        " > output/y",
        " >> output/y",
        " < scratch/b",
        " < scratch/missing",
        " > /dev/null",
        " 2>&1",
        " 2>/dev/null",
    ]);
    (command, redirect.clone(), redirect).prop_map(|(command, one, other)| format!("{command}{one}{other}"))
}

fn script() -> impl Strategy<Value = String> {
    let pipeline = || prop::collection::vec(stage(), 1..4).prop_map(|stages| stages.join(" | "));
    let join = prop::sample::select(vec!["; ", " && ", " || ", "\n"]);
    (pipeline(), join, pipeline(), any::<bool>()).prop_map(|(first, join, second, is_joined)| {
        if is_joined { format!("{first}{join}{second}") } else { first }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sums_are_written_as_gnu_awk_writes_them(text in numbers()) {
        if !has_gnu() {
            return Ok(());
        }
        let desk = desk();
        for program in SUMS {
            if let Some((stdout, _, exit_code)) = quick(&desk, program, Some(&text)) {
                let theirs = gnu(&program.replacen("awk", "gawk", 1), &text);
                prop_assert_eq!((stdout, exit_code), theirs, "{} on {:?}", program, text);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn patterns_match_what_they_match_for_the_gnu_tools(
        pattern in pattern(),
        text in words(),
        way in 0_usize..9,
    ) {
        if !has_gnu() {
            return Ok(());
        }
        let command = match way {
            0 => format!("grep '{pattern}'"),
            1 => format!("grep -E '{pattern}'"),
            2 => format!("grep -o '{pattern}'"),
            3 => format!("grep -onE '{pattern}'"),
            4 => format!("grep -xvc '{pattern}'"),
            5 => format!("sed 's/{pattern}/<&>/g'"),
            6 => format!("sed -E 's/{pattern}/<&>/g'"),
            7 => format!("sed -E 's/{pattern}/<&>/'"),
            _ => format!("awk '/{pattern}/ {{print NR}}'"),
        };
        if let Some((stdout, _, exit_code)) = quick(&desk(), &command, Some(&text)) {
            let theirs = gnu(&command.replacen("awk", "gawk", 1), &text);
            prop_assert_eq!((stdout, exit_code), theirs, "{} on {:?}", command, text);
        }
    }

    #[test]
    fn pipelines_and_their_files_are_those_of_bash(
        script in script(),
        a in words(),
        b in "([ab:]{0,4}\n){0,5}",
    ) {
        if !has_gnu() {
            return Ok(());
        }
        let mut desk = desk();
        for (name, text) in [("scratch/a", &a), ("scratch/b", &b)] {
            desk.put(&path(name), text.as_str()).unwrap();
        }
        desk.put(&path("output/y"), "before\n").unwrap();
        if let Some(ended) = super::run(&mut desk, &script, None) {
            let ours = format!("{}[{}]\n{}", ended.stdout, ended.exit_code, files(&desk));
            prop_assert_eq!(ours, in_bash(&script, &a, &b), "{} on {:?} and {:?}", script, a, b);
        }
    }
}

/// The files of `output`.
fn files(desk: &Desk) -> String {
    let of_output = desk.files().filter(|(path, _)| path.as_str().starts_with("output/"));
    of_output.fold(String::new(), |all, (path, bytes)| {
        format!("{all}== {path}\n{}", String::from_utf8_lossy(bytes))
    })
}

/// What bash prints, how it ends, and the files it leaves.
fn in_bash(script: &str, a: &str, b: &str) -> String {
    let around = r#"
        dir=$(mktemp -d) && cd "$dir" && mkdir scratch output || exit
        printf %s "$1" > scratch/a; printf %s "$2" > scratch/b; echo before > output/y
        bash -c "$3" < /dev/null 2> /dev/null
        echo "[$?]"
        for file in output/*; do echo "== $file"; cat "$file"; done
        rm -r "$dir"
    "#;
    let mut bash = Command::new("bash");
    let output = bash.args(["-c", around, "bash", a, b, script]).env("LC_ALL", "C.UTF-8").output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}
