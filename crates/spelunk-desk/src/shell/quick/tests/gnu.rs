//! The quick commands beside the GNU tools of this machine, on the same standard input. Where a tool is not there, or is
//! another's, the test says so and is over.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use proptest::prelude::*;

use super::{PROGRAMS, any_lines, desk, quick};

/// Commands that read standard input.
const COMMANDS: &[&str] = &[
    "cat",
    "head",
    "head -3",
    "head -n 1",
    "head -c 10",
    "tail",
    "tail -2",
    "tail -n +2",
    "tail -c 9",
    "wc",
    "wc -l",
    "wc -lw",
    "wc -c",
    "sort",
    "sort -r",
    "sort -u",
    "sort -n",
    "sort -rn",
    "sort -nu",
    "sort -s -k2,2",
    "sort -k2",
    "sort -k2,2n",
    "sort -k2nr -k1",
    "sort -t: -k2",
    "sort -t: -k2,2 -k1,1r",
    "sort -n -k2 -r",
    "sort -k3,3 -u",
    "uniq",
    "uniq -c",
    "uniq -d",
    "uniq -u",
    "sort | uniq -c | sort -rn",
    "cut -d: -f2",
    "cut -d: -f1,3",
    "cut -d: -f2-",
    "cut -s -d: -f-2",
    "cut -c2-4",
    "cut -b1,3",
    "cut -d ' ' -f 2",
    "tr a-z A-Z",
    "tr -d a",
    "tr -s ab",
    "tr -cd '[:alpha:]\\n'",
    "tr -cs 'A-Za-z' '\\n'",
    "tr '[:lower:]' '[:upper:]'",
    "tr abc x",
    "tr -s a-c X",
    "grep a",
    "grep -c a",
    "grep -n a",
    "grep -v a",
    "grep -vn a",
    "grep -i A",
    "grep -x a",
    "grep -o 'a[ab]*'",
    "grep -on b",
    "grep -m 2 a",
    "grep -q a",
    "grep '^a'",
    "grep 'a$'",
    "grep '^$'",
    "grep -v '^$'",
    "grep ''",
    "grep 'a*'",
    "grep '^a*$'",
    "grep 'a.b'",
    "grep '[^a]'",
    "grep '[[:digit:]]'",
    "grep '[a-c]\\{2,3\\}'",
    "grep 'a\\+'",
    "grep 'a\\|b'",
    "grep '*'",
    "grep -E 'a|b'",
    "grep -E '(ab)+'",
    "grep -E '^[0-9]+'",
    "grep -E 'a{2}'",
    "grep -F .",
    "grep -F '*'",
    "grep '\\.'",
    "grep '\\<a'",
    "grep 'a\\>'",
    "grep '\\bb'",
    "grep 'a\\s'",
    "grep '\\w\\W'",
    "grep -o '[a-c]?'",
    "grep -oE '[a-c]?[ab]*c*'",
    "grep -o 'x*'",
    "sed -n 2p",
    "sed -n 2,3p",
    "sed -n '2,$p'",
    "sed 2d",
    "sed 2q",
    "sed 1,2d",
    "sed s/a/X/",
    "sed s/a/X/g",
    "sed 's/a[ab]*/<&>/g'",
    "sed 's/^a/X/g'",
    "sed 's/b$/X/'",
    "sed -E 's/a+/X/'",
    "sed 's/a/x\\ny/'",
    "sed 's|:|/|g'",
    "sed 's/ .*//'",
    "awk '{print $2}'",
    "awk '{print $NF, NF, NR}'",
    "awk -F: '{print $2, $1}'",
    "awk '/a+b/ {print $1}'",
    "awk 'NR>1'",
    "awk '{s += NF} END {print s + 0, NR}'",
    "awk '!seen[$0]++'",
    "awk '{c[$1]++} END {print length(c)}' | sort",
    "awk 'NF > 1 {print $1 $2}'",
    "x=a; grep -c $x",
    "grep -c \"a\\.b\"",
    "grep \"b$\"",
    "for x in a b; do echo \"$x\" $x; done",
];

const TEXTS: &[&str] = &[
    "",
    "\n",
    "a",
    "\n\na\n",
    "b\na\nb\nb\na\n\nab\nAB\naab\n",
    "a:b:c\n:b\nno\na::\n:\nb:2\nb:10\na:2\n",
    " 10 x\n9 b\n-3 c\n-03.5 a\n+4\n1.50\n1.5\n007\n0x1\n.5\n-.5\n-0\n\t8\n1e3\n99999999999999999999999\n",
    "a b c\nb  b a\n a c c\na\tb\nc a 3\nc b 3\n\n",
    "abcabc aab * . xaay\nno end *.a\nb.b a a1 1a_b",
    "same\nsame\nsame\nother\nother\nlast",
];

#[test]
fn quick_commands_do_what_the_gnu_tools_do() {
    for (tool, name) in [("sort", "GNU coreutils"), ("grep", "GNU grep"), ("sed", "GNU sed")] {
        if !is_gnu(tool, name) {
            println!("skipped: `{tool}` of this machine is not from {name}");
            return;
        }
    }
    let desk = desk();
    let mut differences = String::new();
    for command in COMMANDS {
        for text in TEXTS {
            let Some((stdout, _, exit_code)) = quick(&desk, command, Some(text)) else {
                panic!("`{command}` is not quick")
            };
            let gnu = gnu(command, text);
            if (stdout.as_str(), exit_code) != (gnu.0.as_str(), gnu.1) {
                differences
                    .push_str(&format!("{command} on {text:?}: {stdout:?} {exit_code}, not {gnu:?}\n"));
            }
        }
    }
    assert_eq!(differences, "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The order of arrays is that of GNU awk; what else it says is what any awk says.
    #[test]
    fn awk_says_what_gnu_awk_says(text in any_lines()) {
        if !is_gnu("gawk", "GNU Awk") {
            println!("skipped: there is no `gawk` on this machine");
            return Ok(());
        }
        let desk = desk();
        for program in PROGRAMS {
            let theirs = program.replacen("awk", "gawk", 1);
            if let Some((stdout, _, exit_code)) = quick(&desk, program, Some(&text)) {
                prop_assert_eq!((stdout, exit_code), gnu(&theirs, &text), "{} on {:?}", program, text);
            }
        }
    }
}

fn is_gnu(tool: &str, name: &str) -> bool {
    let version = Command::new(tool).arg("--version").output();
    version.is_ok_and(|version| String::from_utf8_lossy(&version.stdout).contains(name))
}

/// Whether this machine has all of them.
pub(super) fn has_gnu() -> bool {
    static HAS_GNU: LazyLock<bool> = LazyLock::new(|| {
        let tools = [
            ("sort", "GNU coreutils"),
            ("grep", "GNU grep"),
            ("sed", "GNU sed"),
            ("gawk", "GNU Awk"),
            ("bash", "GNU bash"),
        ];
        let missing = tools.iter().find(|(tool, name)| !is_gnu(tool, name));
        if let Some((tool, name)) = missing {
            println!("skipped: `{tool}` of this machine is not from {name}");
        }
        missing.is_none()
    });
    *HAS_GNU
}

pub(super) fn gnu(command: &str, text: &str) -> (String, i32) {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A tool that has seen enough closes its end.
    drop(child.stdin.take().unwrap().write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1))
}
