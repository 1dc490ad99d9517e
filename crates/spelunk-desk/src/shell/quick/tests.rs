//! Quick scripts give what the interpreter gives, and what the GNU tools give where this machine has them; what is not
//! plain is left alone.

mod bounds;
mod gnu;
mod made;
mod near;

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
    "grep -i PEAR scratch/words.txt; grep -vn pear scratch/words.txt; grep -vc e scratch/words.txt; grep -x fig scratch/words.txt",
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
    "f=scratch/words.txt; grep -c pear $f; grep -n \"fig\" \"$f\"; wc -l < ${f}",
    "dir=scratch name=words; cat $dir/$name.txt | head -2; cat \"${dir}/table.csv\" | head -n 1; x=\"$dir/$name\"; head -1 $x.txt",
    "p='pear|fig'; grep -E \"$p\" scratch/words.txt; grep -E \"^($p)$\" scratch/words.txt; grep \"g$\" scratch/words.txt; grep \"r$|x\" scratch/words.txt",
    "grep \"pear\\|fig\" scratch/words.txt; grep -c \"a\\.b\" scratch/words.txt; echo \"a \\$ b\"; echo \"say \\\"hi\\\"\"",
    "x=1; x=2 y=$x; echo $x$y; x=a=b; echo $x; n=3; head -n $n scratch/words.txt; head -$n scratch/log.txt",
    "grep -q plum scratch/words.txt; x=1 && echo set $x; out=scratch/tmp/out; grep fig scratch/words.txt > $out; cat $out",
    "for f in scratch/words.txt scratch/table.csv; do grep -c a $f; done; echo last $f",
    "for w in pear 'fig' \"no such\"\ndo\n  grep -c \"$w\" scratch/words.txt && echo has \"$w\" || echo has not\n\ndone && echo ended",
    "for a in 1 2; do for b in x y; do echo $a$b; done; done; FILE=scratch/words.txt; for w in pear; do grep $w $FILE | sort -u; done",
    "awk '{n[$1]++} END {for (k in n) print n[k], k}' scratch/words.txt; awk '{n[$3]++} END {for (k in n) print k, n[k]}' scratch/log.txt",
    "awk '{n[NF]++} END {for (k in n) print k, n[k]}' scratch/words.txt; awk '{n[$5]++} END {for (k in n) print k, n[k]}' scratch/log.txt",
    "awk -F, '{s += $3} END {print s, NR, s / NR}' scratch/table.csv; awk -F= '{s += $3; if ($3 > m) m = $3} END {print s, m, s / NR}' scratch/log.txt",
    "awk '!seen[$0]++' scratch/words.txt; awk 'NF' scratch/words.txt; awk '!/a/' scratch/words.txt; awk '/a/ && /p/ {print NR \": \" $0}' scratch/words.txt",
    "awk '$1 > 5' scratch/words.txt; awk '$1 == \"pear\"' scratch/words.txt; awk -F, '$3 >= 36 && $2 != \"rome\" {print $1}' scratch/table.csv",
    "awk '$4 ~ /u[12]/ {print $4}' scratch/log.txt | sort -u; awk '$3 !~ /^I/ {c++} END {print c + 0}' scratch/log.txt; awk 'END {print NR}' scratch/log.txt",
    "awk '{print $1 $2, $(NF), $(NF - 1 + 1)}' scratch/words.txt | head -3; awk 'NR == 1 || NR == 3' scratch/words.txt; awk 'NR % 50 == 0 {print NR}' scratch/log.txt",
    "awk 'BEGIN {FS = \",\"; OFS = \"-\"} {print $1, $2; x = x $1} END {print x}' scratch/table.csv; awk -v OFS=: -v n=2 'NR == n {print NR, $1}' scratch/words.txt",
    "awk 'BEGIN {print 1 / 3, 2 / 3, 100000 / 3, 1000000 / 3, 1 / 30000, 1 / 300000, 7 % 3, -7 / 2, 3 * 2}'; awk 'BEGIN {print length(\"abc\"), index(\"abc\", \"c\"), int(3.9), int(-3.9)}'",
    "awk '{print length, length($1), toupper($1), tolower(\"A\" $1), substr($1, 2), substr($1, 2, 2), substr($1, 9), substr($1, 1, -1) \"|\"}' scratch/words.txt",
    "awk '{if ($1 in n) {d++} else n[$1] = NR; m[$1] = m[$1] \",\" NR} END {print d, length(n); for (k in m) print k m[k]}' scratch/words.txt",
    "awk '/fig/ {print \"f\"; next} {print NR}' scratch/words.txt; awk '{print (NR > 2 ? \"late\" : \"early\")}' scratch/words.txt",
    "awk '{ # a comment\n  a = a + 1\n  if (a > 2)\n    print a;\n  else\n    print -a\n}\n\nEND { print a-- , --a, a++ + ++a }' scratch/words.txt",
    "awk '{print x, x + 0, y == 0, y == \"\", $9 == \"\", $9 + 0}' scratch/words.txt | uniq -c; awk -F, '{print ($1 == 0), ($2 == \"\"), !$2}' scratch/table.csv",
    "cat scratch/log.txt | awk '{print $4}' | sort | uniq -c | awk '{print $2, $1}' | head -3; awk '{print FNR, NR}' scratch/words.txt scratch/table.csv | tail -2",
    "awk '{s = s + length($0) + 1} END {print s}' scratch/log.txt; awk -F: 'NR <= 2 {a[NR] = $2 * 2 - 1; print a[NR], 1 + +$2, -3 - $2}' scratch/log.txt",
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

/// Scripts that are left to the interpreter.
const NOT_PLAIN: &[&str] = &[
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
    "awk '{print > \"/tmp/x\"}' scratch/words.txt",
    "awk '{printf $1}' scratch/words.txt",
    "awk '{printf \"%d\"}' scratch/words.txt",
    "awk '{printf \"%x %c\", $1, $2}' scratch/words.txt",
    "awk '{printf \"%*d\", 3, $1}' scratch/words.txt",
    "awk '{printf \"%999999d\", $1}' scratch/words.txt",
    "awk '/a/,/b/' scratch/words.txt",
    "awk -F'[,;]' '{print $1}' scratch/table.csv",
    "awk -Ft '{print $1}' scratch/table.csv",
    "awk -F'^' '{print $1}' scratch/table.csv",
    "awk '{print $1}' -v x=1 scratch/table.csv",
    "awk '{print x}' x=1 scratch/table.csv",
    "awk '{$1 = 2; print}' scratch/words.txt",
    "awk '{print $-1}' scratch/words.txt",
    "awk '{print \"a\" -1}' scratch/words.txt",
    "awk '{print 1e3, 0x10}' scratch/words.txt",
    "awk '{print 2^3}' scratch/words.txt",
    "awk '{print $1 ~ \"a\"}' scratch/words.txt",
    "awk '{print /[a/]/}' scratch/words.txt",
    "awk '{print !$1 ~ /a/}' scratch/words.txt",
    "awk '{print 1 < 2 < 3}' scratch/words.txt",
    "awk '{a[$1] = 1; print a}' scratch/words.txt",
    "awk '{a[$1,$2] = 1}' scratch/words.txt",
    "awk '{delete a[1]}' scratch/words.txt",
    "awk '{while (1) print}' scratch/words.txt",
    "awk 'END {print $0}' scratch/words.txt",
    "awk '$9 == 0' scratch/words.txt",
    "awk 'END {print NF}' scratch/words.txt",
    "awk 'BEGIN {print 1 / 0}'",
    "awk 'BEGIN {print -0}'",
    "awk 'BEGIN {next}'",
    "awk 'BEGIN {getline; print}' scratch/words.txt",
    "awk 'function f(x) {return x} {print f(1)}' scratch/words.txt",
    "awk '{print | \"sort\"}' scratch/words.txt",
    "awk '{print substr($1, 1.5)}' scratch/words.txt",
    "awk '{print substr($1, 0, 2)}' scratch/words.txt",
    "awk '{print NR = 3}' scratch/words.txt",
    "awk '{n[$1 * 1000]++} END {for (k in n) print k}' scratch/words.txt",
    "awk '' scratch/words.txt",
    "awk '{print",
    "x=1 | cat",
    "x=1 > /tmp/x",
    "true && x=1; echo $x",
    "echo $x; x=1",
    "PATH=scratch; echo $PATH",
    "IFS=,; echo a",
    "_=1; echo $_",
    "x='a b'; echo $x",
    "x='*'; echo $x",
    "x=; echo $x",
    "x=a; echo ${x:-b}",
    "x=a; echo ${#x}",
    "x=(a b); echo $x",
    "x+=1; echo $x",
    "x=~; echo $x",
    "x=$(echo a); echo $x",
    "x=1; echo $((x + 1))",
    "x=a; echo \"$x[1]\"",
    "x=a; export x",
    "echo $1 $? $$",
    "for f in *; do echo $f; done",
    "for f in; do echo $f; done",
    "for f in a b; do done",
    "for f in a b; do echo $f",
    "for f in a b; echo $f; done",
    "for f in a b; do echo $f; done | wc -l",
    "for f in a b; do echo $f; done > /tmp/x",
    "true && for f in a; do echo $f; done",
    "for PATH in a; do echo a; done",
    "for a in 1; do for b in 1; do for c in 1; do for d in 1; do echo x; done; done; done; done",
    "done",
    "do",
];

#[test]
fn what_is_not_plain_is_left_to_the_interpreter() {
    let desk = desk();
    let quick: Vec<&str> =
        NOT_PLAIN.iter().copied().filter(|script| quick(&desk, script, None).is_some()).collect();
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

/// Programs that are held against the interpreter and the awk of this machine.
const PROGRAMS: &[&str] = &[
    "awk '{print $2}'",
    "awk '{print NF, $NF; s += $2} END {print s, s / 4}'",
    "awk '{c[$1]++} END {for (k in c) print c[k], k}'",
    "awk '{c[$1] += $2} END {for (k in c) print k, c[k]}'",
    "awk '{c[$2]++} END {for (k in c) print k \":\" c[k]}'",
    "awk '!seen[$1]++'",
    "awk '{printf \"%s|%5s|%-5s|%.1s|%d|%5d|%-5d|%05d|%.2f|%8.3f%%\\n\", $1, $1, $1, $1, $2, $2, $2, $2, $2, $2}'",
    "awk '{printf(\"%s;\", $1)} END {printf \"\\n%i %f\\n\", NR, NR / 3}'",
    "awk '$2 > $3'",
    "awk '$2 >= 10 && $1 != \"b\"'",
    "awk '$1 == $2 || $2 == 0 || $3 == \"\"'",
    "awk '$1'",
    "awk '!$2'",
    "awk '$2 < 1.5 {n++} $2 < \"5\" {m++} END {print n, m}'",
    "awk '{print $2 + 1, $2 * 2, -$2, $2 / 7, $2 % 3}'",
    "awk '{print ($1 < $2), ($1 == $2), ($1 > $2)}'",
    "awk '{if ($2 > max) {max = $2; who = $1}} END {print who, max}'",
    "awk '/a/ {print NR \": \" $0} !/[ab]/ {print \"none\"}'",
    "awk '$1 ~ /^a+$/ {print $1 \"=\" length($1)}'",
    "awk '{print substr($0, 2, 3) \"|\" substr($1, length($1)) \"|\" index($0, \"b\")}'",
    "awk -F: '{print NF, $1, $2}'",
    "awk -F: '{print ($2 == 0), ($2 == \"\"), ($3 < 1), !$1}'",
    "awk '{l = l (l == \"\" ? \"\" : \",\") $1} END {print l}'",
    "awk '{a[NR] = $0; if ($2 in a) print \"in\", $2} END {print length(a)}'",
    "awk '{n = int($2); t[n] = t[n] $1} END {for (k in t) print k, t[k]}'",
];

/// Lines of few words, numbers of all shapes among them.
fn any_lines() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[ab]{1,2}",
        2 => "[0-9]{1,3}",
        1 => "-?[0-9]{0,2}\\.[0-9]{1,8}",
        1 => "[0-9]{4,17}",
        1 => "[-+.]?[0-9]?[ex.]?[-+]?[0-9]{0,3}",
        1 => "[ :\t]{1,2}",
        1 => "[+-]?(inf|nan|0x1|1e2|07|00)",
    ];
    let line = prop::collection::vec(word, 0..5).prop_map(|words| words.join(" "));
    let line = prop_oneof![4 => line.clone(), 1 => line.prop_map(|line| line.replace(' ', ":"))];
    (prop::collection::vec(line, 0..12), any::<bool>())
        .prop_map(|(lines, has_end)| lines.join("\n") + if has_end { "\n" } else { "" })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn awk_says_what_the_interpreter_says(text in any_lines()) {
        let desk = desk();
        for program in PROGRAMS {
            if let Some(quick) = quick(&desk, program, Some(&text)) {
                prop_assert_eq!(quick, interpreted(&desk, program, Some(&text)), "{} on {:?}", program, text);
            }
        }
    }

    #[test]
    fn pipelines_say_what_the_interpreter_says(text in any_lines(), n in 1_usize..5) {
        let desk = desk();
        for script in [
            format!("sort | uniq -c | head -n {n}"),
            format!("grep a | sort -r | head -n {n} | tail -n 1"),
            format!("cut -d' ' -f{n} | sort -u | wc -lc"),
            format!("cut -d' ' -f1-{n} | sort -n | uniq -d"),
            format!("grep -o 'a[ab]*' | sort | uniq -c | sort -rn -k1,1 -s | head -n {n}"),
            format!("grep -v b | sort -k2,2n -k1,1 | tail -n +{n}"),
            format!("sed 's/a[0-9 ]*/X/g' | tr a-z A-Z | grep -c X | head -n {n}"),
            format!("awk '{{print ${n}}}' | sort -rn | uniq | head -3 | wc"),
            format!("grep -n '[0-9]' | head -n {n} | cut -c1-{n}"),
        ] {
            if let Some(quick) = quick(&desk, &script, Some(&text)) {
                prop_assert_eq!(quick, interpreted(&desk, &script, Some(&text)), "{} on {:?}", script, text);
            }
        }
    }
}

#[test]
fn arrays_are_visited_in_the_order_of_the_interpreter() {
    let mut desk = desk();
    let key = |n: usize| format!("k{} {}\n", n * 7919 % 5003, n % 2048);
    let keys = |n: usize| (0..n).fold(String::new(), |all, n| all + &key(n));
    for n_keys in [1, 26, 39, 40, 400, 4000] {
        desk.put(&path("scratch/keys"), keys(n_keys)).unwrap();
        for field in [1, 2] {
            let script = format!("awk '{{n[${field}]++}} END {{for (k in n) print k}}' scratch/keys");
            assert_eq!(quick(&desk, &script, None).unwrap(), interpreted(&desk, &script, None), "{n_keys}");
        }
    }
}

proptest! {
    /// Whatever is written in a script and in a text: it is refused or run, and never more than the limit comes out.
    #[test]
    fn no_script_harms(
        script in "(grep|sed|tr|cut|sort|uniq|head|tail|wc|echo|cat|awk|x=|for x in)( ([-a-z0-9'\"\\\\\\[\\](){}^$*+?.|&;<>/,:= éß]{0,12})){0,5}",
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
