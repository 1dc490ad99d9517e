//! Quick scripts give what the interpreter gives, and what the GNU tools give where this machine has them; what is not
//! plain is left alone.

mod gnu;

use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::super::files::DeskFiles;
use super::super::script;
use super::*;
use crate::DeskLimits;

fn path(path: &str) -> DeskPath {
    DeskPath::parse(path).unwrap()
}

fn desk() -> Desk {
    let mut desk = Desk::new(DeskLimits::default());
    desk.put(&path("scratch/words.txt"), "pear\napple\npear\n\nfig\n10 apple\n9 fig\npear").unwrap();
    desk.put(&path("scratch/table.csv"), "name,city,age\nada,rome,36\nbob,,7\nno commas\ncy,oslo,36\n")
        .unwrap();
    desk.put(&path("scratch/log.txt"), log()).unwrap();
    desk.put(&path("scratch/empty"), "").unwrap();
    desk.put(&path("scratch/tmp/t"), "of tmp\n").unwrap();
    desk
}

fn log() -> String {
    let mut log = String::new();
    for n in 0..200 {
        let (second, level, user, ms) = (n % 60, ["INFO", "WARN"][n % 2], n % 7, n * 37 % 100);
        log.push_str(&format!("2026-11-15 11:00:{second:02} {level} user=u{user} ms={ms}\n"));
    }
    log
}

/// What the interpreter says of a script.
fn interpreted(desk: &Desk, script: &str, stdin: Option<&str>) -> (String, String, i32) {
    let files = Arc::new(DeskFiles::new(Arc::new(Mutex::new(desk.clone()))));
    let ended = script::run(files, script, stdin, &desk.limits().shell).unwrap();
    (ended.stdout, ended.stderr, ended.exit_code)
}

fn quick(desk: &Desk, script: &str, stdin: Option<&str>) -> Option<(String, String, i32)> {
    let mut desk = desk.clone();
    run(&mut desk, script, stdin).map(|ended| (ended.stdout, ended.stderr, ended.exit_code))
}

/// Scripts over the files of the desk that must be quick.
const SCRIPTS: &[&str] = &[
    "true",
    ":",
    "echo one two; echo 'a  b' \"c\" # said",
    "cat scratch/words.txt",
    "cat scratch/words.txt scratch/empty scratch/table.csv",
    "cat /tmp/t tmp/t ./scratch/tmp/t",
    "head -n 2 scratch/words.txt; head -1 scratch/log.txt; head scratch/log.txt | tail -1",
    "head -c 7 scratch/words.txt; tail -c 7 scratch/words.txt; tail -n 3 scratch/words.txt; tail -2 scratch/log.txt",
    "tail -n +3 scratch/words.txt; tail -n +0 scratch/table.csv; head -n 0 scratch/words.txt",
    "wc -l scratch/words.txt; wc -w scratch/words.txt; wc -c < scratch/words.txt; wc -l scratch/words.txt scratch/log.txt",
    "cat scratch/log.txt | wc -l; wc -lw scratch/log.txt",
    "sort scratch/words.txt; sort -r scratch/words.txt; sort -u scratch/words.txt; sort -ru scratch/words.txt",
    "sort -n scratch/words.txt; sort -rn scratch/words.txt; sort -nu scratch/words.txt",
    "sort -k2 scratch/words.txt; sort -k2,2 -k1n scratch/words.txt; sort -t, -k3,3n -k1,1 scratch/table.csv; sort -t , -k 2 scratch/table.csv",
    "sort scratch/words.txt | uniq; sort scratch/words.txt | uniq -c; sort scratch/words.txt | uniq -d; sort scratch/words.txt | uniq -u",
    "sort scratch/words.txt | uniq -c | sort -rn | head -2",
    "cut -d, -f2 scratch/table.csv; cut -d , -f 1,3 scratch/table.csv; cut -d, -f2- scratch/table.csv; cut -s -d, -f-2 scratch/table.csv",
    "cut -c1-3 scratch/words.txt; cut -b 2 scratch/words.txt; cut -c 1,3-4 scratch/words.txt; cut -f1 scratch/table.csv",
    "tr a-z A-Z < scratch/words.txt; tr -d 'aeiou' < scratch/words.txt; tr -s p < scratch/words.txt; tr '\\n' ' ' < scratch/words.txt",
    "cat scratch/words.txt | tr '[:lower:]' '[:upper:]'; tr -cd '[:digit:]\\n' < scratch/log.txt; tr -cs a-z '\\n' < scratch/words.txt",
    "grep pear scratch/words.txt; grep -c pear scratch/words.txt; grep -n apple scratch/words.txt; grep -v pear scratch/words.txt",
    "grep -i PEAR scratch/words.txt; grep -vn pear scratch/words.txt; grep -vc '' scratch/words.txt; grep -x fig scratch/words.txt",
    "grep '^$' scratch/words.txt; grep -n 'e$' scratch/words.txt; grep -c . scratch/words.txt; grep 'p*' scratch/words.txt",
    "grep -E 'pear|fig' scratch/words.txt; grep -E '^[0-9]+ (apple|fig)$' scratch/words.txt; grep -E 'p{2}' scratch/words.txt",
    "grep 'p\\{2\\}' scratch/words.txt; grep 'pear\\|fig' scratch/words.txt; grep -F 'u=.' scratch/words.txt; grep -F user=u6 scratch/log.txt",
    "grep -o 'user=u[0-9]*' scratch/log.txt | sort | uniq -c | sort -rn | head -3; grep -o . scratch/empty",
    "grep -on '[0-9][0-9]*' scratch/words.txt; grep -oE '[a-f]+' scratch/words.txt; grep -o 'e' scratch/words.txt",
    "grep pear scratch/words.txt scratch/log.txt; grep -c INFO scratch/words.txt scratch/log.txt; grep -l INFO scratch/words.txt scratch/log.txt",
    "grep -h fig scratch/words.txt scratch/table.csv; grep -H fig scratch/words.txt; grep -m 2 -n INFO scratch/log.txt",
    "grep -q fig scratch/words.txt && echo there || echo not there; grep -q plum scratch/words.txt && echo there || echo not there",
    "grep '[[:digit:]]\\+ [[:alpha:]]' scratch/words.txt; grep '[^a-z]' scratch/words.txt; grep '[]x]' scratch/table.csv; grep -e fig scratch/words.txt",
    "grep '\\bINFO\\b' scratch/log.txt | head -1; grep '\\<u1' scratch/log.txt | head -2; grep 'ms=\\w*0$' scratch/log.txt | head -2",
    "sed -n 2,3p scratch/words.txt; sed -n '4p' scratch/words.txt; sed -n '6,$p' scratch/words.txt; sed 2d scratch/words.txt; sed '2,$d' scratch/words.txt",
    "sed 3q scratch/words.txt; sed s/pear/plum/ scratch/words.txt; sed 's/p/[&]/g' scratch/words.txt; sed -E 's/[0-9]+/N/g' scratch/log.txt | head -2",
    "sed 's|a|/|g' scratch/words.txt; sed 's/ .*//' scratch/words.txt; sed 's/e$/E\\n/' scratch/words.txt",
    "awk '{print}' scratch/words.txt; awk '{print $2}' scratch/log.txt | sort | uniq -c; awk '{ print $1, $NF; }' scratch/words.txt",
    "awk '/pear/' scratch/words.txt; awk '/^[0-9]+/ {print $2, NR, NF}' scratch/words.txt; awk -F, '{print $2, \"of\", $1}' scratch/table.csv",
    "awk 'NR==2' scratch/words.txt; awk 'NR>5 {print $0}' scratch/words.txt; awk 'NR <= 2{print NR, $9}' scratch/words.txt; awk -F '\\t' '{print $1}' scratch/table.csv",
    "cat scratch/log.txt scratch/words.txt | awk 'NR>=199 {print $1}'; awk '{print NF, $NF}' scratch/empty scratch/words.txt",
    "grep nothing scratch/words.txt",
    "grep x scratch/empty 2>/dev/null | wc -l; cat scratch/words.txt 2>&1 | head -1",
    "cat scratch/words.txt |\tgrep -v '^$' | sort|uniq",
    "\n\n# a comment\necho a\n\necho b\n",
    "grep -c pear scratch/words.txt > /dev/null; echo done",
    "cat < scratch/words.txt - | head -1",
];

#[test]
fn quick_scripts_say_what_the_interpreter_says() {
    let desk = desk();
    for script in SCRIPTS {
        let Some(quick) = quick(&desk, script, None) else { panic!("{script} is not quick") };
        assert_eq!(quick, interpreted(&desk, script, None), "{script}");
    }
}

#[test]
fn what_is_not_plain_is_left_to_the_interpreter() {
    let desk = desk();
    let scripts = [
        "",
        "ls",
        "echo $HOME",
        "echo \"$HOME\"",
        "echo \"\\n\"",
        "echo `pwd`",
        "echo -n x",
        "cat scratch/*.txt",
        "cat scratch/{a,b}",
        "cat ~/x",
        "cat scratch/nothing",
        "cat scratch",
        "cat scratch/words.txt/",
        "cat ../scratch/words.txt",
        "cat -n scratch/words.txt",
        "cat",
        "grep pear",
        "(echo a)",
        "echo a & echo b",
        "echo a |& cat",
        "echo a; ; echo b",
        "if true; then echo a; fi",
        "x=1 echo a",
        "! true",
        "true |",
        "| true",
        "true &&",
        "&& true",
        "cat << E\nE",
        "cat <<< x",
        "cat <(echo x)",
        "echo a 3> /tmp/x",
        "echo a 2> /tmp/x",
        "echo a >| /tmp/x",
        "echo a > /tmp/x > /tmp/y",
        "echo 'open",
        "echo a \\\n b",
        "cd scratch; cat words.txt",
        "sort --reverse scratch/words.txt",
        "sort -R scratch/words.txt",
        "sort -o /tmp/x scratch/words.txt",
        "sort -k1.2 scratch/words.txt",
        "sort -f scratch/words.txt",
        "sort scratch/words.txt > scratch/words.txt",
        "sort scratch/words.txt > ./scratch/words.txt",
        "uniq scratch/words.txt /tmp/x",
        "uniq -i scratch/words.txt",
        "cut -f0 scratch/words.txt",
        "cut -d, -f3-2 scratch/table.csv",
        "cut scratch/table.csv",
        "head -n -1 scratch/words.txt",
        "head -1 scratch/words.txt scratch/log.txt",
        "tail -f scratch/words.txt",
        "grep -P x scratch/words.txt",
        "grep -w x scratch/words.txt",
        "grep -r x scratch",
        "grep -A1 pear scratch/words.txt",
        "grep '\\(p\\)\\1' scratch/words.txt",
        "grep -oE 'a|ap' scratch/words.txt",
        "grep -E 'a**' scratch/words.txt",
        "grep -E '*a' scratch/words.txt",
        "grep -E '(' scratch/words.txt",
        "grep '[' scratch/words.txt",
        "grep -E 'a{2,1}' scratch/words.txt",
        "grep -E 'a+?' scratch/words.txt",
        "grep -e a -e b scratch/words.txt",
        "sed -i s/a/b/ scratch/words.txt",
        "sed -n '/a/p' scratch/words.txt",
        "sed 's/a/b/;s/c/d/' scratch/words.txt",
        "sed 's/\\(a\\)/\\1/' scratch/words.txt",
        "sed 's/x*/-/g' scratch/words.txt",
        "sed 's/^/> /' scratch/words.txt",
        "sed 5,2p scratch/words.txt",
        "sed -n 1p scratch/words.txt scratch/log.txt",
        "tr a-z '[:digit:]' < scratch/words.txt",
        "tr z-a b < scratch/words.txt",
        "tr '[a-z]' '[A-Z]' < scratch/words.txt",
        "echo x > state/job.json",
        "echo x > nowhere/x",
        "awk '{n[$1]++} END {print n[\"a\"]}' scratch/words.txt",
        "awk '{print $1 $2}' scratch/words.txt",
        "awk '{print > \"/tmp/x\"}' scratch/words.txt",
        "awk '{printf $1}' scratch/words.txt",
        "awk '{print $(1)}' scratch/words.txt",
        "awk '/a/,/b/' scratch/words.txt",
        "awk '!/a/' scratch/words.txt",
        "awk '/a/ && /b/ {print}' scratch/words.txt",
        "awk -F'[,;]' '{print $1}' scratch/table.csv",
        "awk -Ft '{print $1}' scratch/table.csv",
        "awk -v x=1 '{print x}' scratch/words.txt",
        "awk 'NR==1 || NR==2' scratch/words.txt",
        "awk '$1 > 5' scratch/words.txt",
    ];
    let quick: Vec<&str> =
        scripts.into_iter().filter(|script| quick(&desk, script, None).is_some()).collect();
    assert_eq!(quick, Vec::<&str>::new());
}

#[test]
fn files_are_written_as_the_model_may() {
    let mut desk = desk();
    let script = "sort -u scratch/words.txt > output/sorted.txt; echo more >> output/sorted.txt && wc -l output/sorted.txt";
    let outcome = super::super::run(&mut desk, script, None).unwrap();
    assert_eq!(outcome.text, "7 output/sorted.txt\n");
    assert_eq!(outcome.changed, [path("output/sorted.txt")]);
    assert_eq!(desk.text(&path("output/sorted.txt")).unwrap(), "\n10 apple\n9 fig\napple\nfig\npear\nmore\n");
    // What is refused in the middle leaves nothing behind of what was quick before it.
    let told = super::super::run(&mut desk, "echo a > output/a; echo b > input/prompt.md", None).unwrap();
    assert_eq!(told.changed, [path("output/a")]);
    assert!(told.text.contains("Read-only file system"), "{}", told.text);
}

#[test]
fn limits_are_left_to_the_interpreter() {
    let with = |change: fn(&mut DeskLimits)| {
        let mut limits = DeskLimits::default();
        change(&mut limits);
        desk().with_limits(limits)
    };
    let script = "cat scratch/log.txt | sort | head -1";
    assert!(quick(&desk(), script, None).is_some());
    assert_eq!(quick(&with(|limits| limits.shell.commands_max = 2), script, None), None);
    assert_eq!(quick(&with(|limits| limits.shell.script_bytes_max = 10), script, None), None);
    assert_eq!(quick(&with(|limits| limits.shell.input_bytes_max = 10_000), script, None), None);
    assert_eq!(quick(&with(|limits| limits.shell.held_bytes_max = 20_000), script, None), None);
    assert_eq!(quick(&with(|limits| limits.shell.output_bytes_max = 10), script, None), None);
}

#[test]
fn documents_are_read_like_files() {
    let desk = crate::shelf::tests::view_desk(&[("logs/a.log", "one\nerror two\n"), ("b.md", "text\n")]);
    let told = quick(&desk, "grep -c error input/contexts/logs/a.log input/contexts/b.md", None).unwrap();
    assert_eq!(told.0, "input/contexts/logs/a.log:1\ninput/contexts/b.md:0\n");
}

#[test]
fn text_that_is_none_is_left_to_the_interpreter() {
    let mut desk = desk();
    desk.put(&path("scratch/binary"), b"a\0b\n\xff\n".to_vec()).unwrap();
    desk.put(&path("scratch/umlauts"), "Äpfel\nÖl\n").unwrap();
    for script in [
        "grep a scratch/binary",
        "sed s/a/b/ scratch/binary",
        "wc -w scratch/umlauts",
        "cut -c1 scratch/umlauts",
        "grep -i äpfel scratch/umlauts",
        "grep '\\w' scratch/umlauts",
        "tr -cd a-z < scratch/umlauts",
    ] {
        assert_eq!(quick(&desk, script, None), None, "{script}");
    }
    for script in [
        "grep 'Ä.f' scratch/umlauts",
        "grep -o '[^l]' scratch/umlauts",
        "sort -r scratch/umlauts",
        "cat scratch/binary",
    ] {
        assert_eq!(quick(&desk, script, None).unwrap(), interpreted(&desk, script, None), "{script}");
    }
}

proptest! {
    /// Whatever is written in a script and in a text: it is refused or run, and never more than the limit comes out.
    #[test]
    fn no_script_harms(
        script in "(grep|sed|tr|cut|sort|uniq|head|tail|wc|echo|cat)( ([-a-z0-9'\"\\\\\\[\\](){}^$*+?.|&;<>/,:= éß]{0,12})){0,5}",
        text in "([a-c .]{0,6}|\\PC{0,3}|\n){0,12}",
    ) {
        let mut limits = DeskLimits::default();
        limits.shell.held_bytes_max = 4000;
        let desk = desk().with_limits(limits);
        if let Some((stdout, stderr, _)) = quick(&desk, &script, Some(&text)) {
            prop_assert!(stdout.len() <= 3000, "{}", stdout.len());
            prop_assert_eq!(stderr, "");
        }
    }

    /// Sorting by bytes is the sorting of the standard library.
    #[test]
    fn lines_are_sorted_by_their_bytes(lines in prop::collection::vec("[ab\\x00-\\x03é]{0,12}", 0..40)) {
        let text = lines.iter().fold(String::new(), |all, line| all + "same start " + line + "\n");
        let mut expected: Vec<&str> = text.lines().collect();
        expected.sort_unstable();
        let (stdout, _, _) = quick(&desk(), "sort", Some(&text)).unwrap();
        prop_assert_eq!(stdout.lines().collect::<Vec<_>>(), expected);
    }
}
