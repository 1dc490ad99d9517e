//! What scripts can do, what they cannot, and where they are stopped.

mod apart;
mod bombs;
mod hostile;

use expect_test::{Expect, expect};

use crate::mounts::tests::view_desk;
use crate::{Desk, DeskLimits, DeskPath};

fn path(path: &str) -> DeskPath {
    DeskPath::parse(path).unwrap()
}

fn desk() -> Desk {
    let mut desk = Desk::new(DeskLimits::default());
    desk.put(&path("input/prompt.md"), "# Task\n\nfind the needle\n").unwrap();
    desk.put(&path("scratch/words.txt"), "pear\napple\npear\nfig\napple\npear\n").unwrap();
    desk.put(&path("state/job.json"), "{\"calls_max\": 5}\n").unwrap();
    desk
}

fn shell(desk: &mut Desk, script: &str) -> String {
    let before = desk.clone();
    let text = super::run(desk, script, None).unwrap();
    let changed: Vec<String> = desk.changed_since(&before).iter().map(ToString::to_string).collect();
    if changed.is_empty() { text } else { format!("{text}changed: {}\n", changed.join(" ")) }
}

fn check(script: &str, expected: &Expect) {
    expected.assert_eq(&shell(&mut desk(), script));
}

/// Several scripts, each on its own desk.
fn check_all(scripts: &[&str], expected: &Expect) {
    let mut told = String::new();
    for script in scripts {
        told.push_str(&format!("$ {script}\n{}", shell(&mut desk(), script)));
    }
    expected.assert_eq(&told);
}

#[test]
fn the_usual_tools_are_there() {
    check_all(
        &[
            "sort scratch/words.txt | uniq -c | sort -rn | head -2",
            "head -1 input/prompt.md; tail -n 1 input/prompt.md; wc -l input/prompt.md; cat scratch/words.txt | tail -1",
            "grep -n pear scratch/words.txt; grep -c -i -E 'PEAR|fig' scratch/words.txt; grep -rn needle .",
            "sed -n 2,3p scratch/words.txt; sed 's/pear/plum/' scratch/words.txt | head -1",
            "awk '{n[$1]++} END {print n[\"pear\"]}' scratch/words.txt; cut -c1-2 scratch/words.txt | tr a-z A-Z | uniq | head -2",
            "find . -name '*.md' -o -name '*.txt' | sort | xargs wc -c",
            "diff <(sort -u scratch/words.txt) <(printf 'apple\\nfig\\n')",
            "ls; ls -l scratch input",
            "for f in scratch/*.txt; do echo \"$f: $(wc -l < \"$f\")\"; done; [ -f nothing ] || echo none",
        ],
        &expect![[r#"
            $ sort scratch/words.txt | uniq -c | sort -rn | head -2
                  3 pear
                  2 apple
            $ head -1 input/prompt.md; tail -n 1 input/prompt.md; wc -l input/prompt.md; cat scratch/words.txt | tail -1
            # Task
            find the needle
            3 input/prompt.md
            pear
            $ grep -n pear scratch/words.txt; grep -c -i -E 'PEAR|fig' scratch/words.txt; grep -rn needle .
            1:pear
            3:pear
            6:pear
            4
            ./input/prompt.md:3:find the needle
            $ sed -n 2,3p scratch/words.txt; sed 's/pear/plum/' scratch/words.txt | head -1
            apple
            pear
            plum
            $ awk '{n[$1]++} END {print n["pear"]}' scratch/words.txt; cut -c1-2 scratch/words.txt | tr a-z A-Z | uniq | head -2
            3
            PE
            AP
            $ find . -name '*.md' -o -name '*.txt' | sort | xargs wc -c
            24 ./input/prompt.md
            31 ./scratch/words.txt
            55 total
            $ diff <(sort -u scratch/words.txt) <(printf 'apple\nfig\n')
            3d2
            < pear
            [exit code 1]
            $ ls; ls -l scratch input
            cache
            input
            output
            scratch
            state
            tools
            input:
            total 1
            dr-xr-xr-x 1 model model  0 Jan  1 00:00 attachments
            dr-xr-xr-x 1 model model  0 Jan  1 00:00 contexts
            -r--r--r-- 1 model model 24 Jan  1 00:00 prompt.md

            scratch:
            total 1
            drwxr-xr-x 1 model model  0 Jan  1 00:00 scripts
            drwxr-xr-x 1 model model  0 Jan  1 00:00 tmp
            -rw-r--r-- 1 model model 31 Jan  1 00:00 words.txt
            $ for f in scratch/*.txt; do echo "$f: $(wc -l < "$f")"; done; [ -f nothing ] || echo none
            scratch/words.txt: 6
            none
        "#]],
    );
}

#[test]
fn a_listing_has_the_columns_of_the_gnu_tool() {
    check_all(
        &[
            "ls -la scratch | awk '{print NF, $5, $NF}'",
            "ls -l scratch/words.txt input/prompt.md",
            "ls scratch/words.txt nothing input/prompt.md; ls -d scratch input",
            "head -c 1500 /dev/null > scratch/b.sh; seq 500 > scratch/c; ls -lhS scratch; ls -F scratch; ls -1rp scratch",
            "mkdir -p output/a/b output/.c; echo x > output/a/b/d; ls -R output; ls -A output",
            "ls -Z; ls --color=never state; ls -- -x",
        ],
        &expect![[r#"
            $ ls -la scratch | awk '{print NF, $5, $NF}'
            2  1
            9 0 .
            9 0 ..
            9 0 scripts
            9 0 tmp
            9 31 words.txt
            $ ls -l scratch/words.txt input/prompt.md
            -r--r--r-- 1 model model 24 Jan  1 00:00 input/prompt.md
            -rw-r--r-- 1 model model 31 Jan  1 00:00 scratch/words.txt
            $ ls scratch/words.txt nothing input/prompt.md; ls -d scratch input
            input/prompt.md
            scratch/words.txt
            input
            scratch
            [stderr]
            ls: cannot access 'nothing': No such file or directory
            $ head -c 1500 /dev/null > scratch/b.sh; seq 500 > scratch/c; ls -lhS scratch; ls -F scratch; ls -1rp scratch
            total 3.0K
            -rw-r--r-- 1 model model 1.9K Jan  1 00:00 c
            -rw-r--r-- 1 model model   31 Jan  1 00:00 words.txt
            -rwxr-xr-x 1 model model    0 Jan  1 00:00 b.sh
            drwxr-xr-x 1 model model    0 Jan  1 00:00 scripts
            drwxr-xr-x 1 model model    0 Jan  1 00:00 tmp
            b.sh*
            c
            scripts/
            tmp/
            words.txt
            words.txt
            tmp/
            scripts/
            c
            b.sh
            changed: scratch/b.sh scratch/c
            $ mkdir -p output/a/b output/.c; echo x > output/a/b/d; ls -R output; ls -A output
            output:
            a

            output/a:
            b

            output/a/b:
            d
            .c
            a
            changed: output/a/b/d
            $ ls -Z; ls --color=never state; ls -- -x
            buffers
            job.json
            [stderr]
            ls: unsupported option `-Z`; supported are -1aAdFhlprRSt
            ls: cannot access '-x': No such file or directory
            [exit code 2]
        "#]],
    );
}

#[test]
fn the_text_that_sed_adds_may_have_escapes() {
    check_all(
        &[
            r"sed '2c\    if x:\n        y\tz' scratch/words.txt | head -4",
            r"sed -e '/f.g/a one\n\ttwo' -e '$i\\tlast' scratch/words.txt | tail -6",
            r"sed '1,/fig/c gone\\nwhere' scratch/words.txt; echo 'a\nb' | sed 's/\\n/ /'; echo ab | sed 's/a/\n/'",
            "sed '2i\\\n  kept\\\n  too' scratch/words.txt | head -4",
        ],
        &expect![[r#"
            $ sed '2c\    if x:\n        y\tz' scratch/words.txt | head -4
            pear
                if x:
                    y	z
            pear
            $ sed -e '/f.g/a one\n\ttwo' -e '$i\\tlast' scratch/words.txt | tail -6
            fig
            one
            	two
            apple
            	last
            pear
            $ sed '1,/fig/c gone\\nwhere' scratch/words.txt; echo 'a\nb' | sed 's/\\n/ /'; echo ab | sed 's/a/\n/'
            gone\nwhere
            apple
            pear
            a b

            b
            $ sed '2i\
              kept\
              too' scratch/words.txt | head -4
            pear
              kept
              too
            apple
        "#]],
    );
}

#[test]
fn a_temporary_name_is_the_first_that_is_free() {
    check_all(
        &[
            "t=$(mktemp); echo one > $t; mktemp; cat $t; mktemp -d; ls /tmp",
            "mktemp scratch/run.XXXX; mktemp -d /tmp/work.XXX; mktemp input/a.XXX; mktemp short.XX; mktemp -q",
        ],
        &expect![[r#"
            $ t=$(mktemp); echo one > $t; mktemp; cat $t; mktemp -d; ls /tmp
            /tmp/tmp.0000000001
            one
            /tmp/tmp.0000000002
            tmp.0000000000
            tmp.0000000001
            tmp.0000000002
            changed: scratch/tmp/tmp.0000000000 scratch/tmp/tmp.0000000001
            $ mktemp scratch/run.XXXX; mktemp -d /tmp/work.XXX; mktemp input/a.XXX; mktemp short.XX; mktemp -q
            scratch/run.0000
            /tmp/work.000
            [stderr]
            mktemp: could not create 'input/a.000': io error: Read-only file system
            mktemp: too few X's in template 'short.XX'
            mktemp: usage: mktemp [-d] [TEMPLATE]
            [exit code 1]
            changed: scratch/run.0000
        "#]],
    );
}

#[test]
fn what_is_not_there_says_what_to_use() {
    check(
        "jq . state/job.json",
        &expect![[r#"
            [stderr]
            jq: not available: use RunScript with `import json`
            [exit code 127]
        "#]],
    );
}

#[test]
fn what_a_script_writes_is_on_the_desk() {
    let mut desk = desk();
    let script = "mkdir -p output/parts && sort scratch/words.txt > output/parts/a.txt && cp output/parts/a.txt /tmp/b \
                  && mv output/parts output/done && rm scratch/words.txt && echo note >> state/notes.md";
    expect![[r#"
        [no output]
        changed: output/done/a.txt scratch/tmp/b scratch/words.txt state/notes.md
    "#]]
    .assert_eq(&shell(&mut desk, script));
    let all: Vec<String> = desk.files().map(|(path, bytes)| format!("{path} {}", bytes.len())).collect();
    expect![[r#"
        input/prompt.md 24
        output/done/a.txt 31
        scratch/tmp/b 31
        state/job.json 17
        state/notes.md 5"#]]
    .assert_eq(&all.join("\n"));
    expect![[r#"
        apple apple date pear pear pear changed: output/done/a.txt
    "#]]
    .assert_eq(&shell(
        &mut desk,
        "sed -i s/fig/date/ output/done/a.txt; cat output/done/a.txt | tr '\\n' ' '",
    ));
    expect![[r#"
        one from a script
        two from a script
        changed: scratch/tmp/s.sh
    "#]]
    .assert_eq(&shell(
        &mut desk,
        "echo 'echo \"$1 from a script\"' > /tmp/s.sh; bash /tmp/s.sh one; chmod +x /tmp/s.sh; /tmp/s.sh two",
    ));
}

#[test]
fn every_script_begins_anew() {
    let mut desk = desk();
    shell(&mut desk, "cd scratch; x=1; f() { echo f; }; export y=2");
    expect![[r#"
        /
        []
        [stderr]
        bash: line 1: f: command not found. Did you mean: ., :, [?
        [exit code 127]
    "#]]
    .assert_eq(&shell(&mut desk, "pwd; echo \"[$x$y]\"; f"));
}

#[test]
fn standard_input_is_given() {
    let text = super::run(&mut desk(), "wc -l; echo done", Some("a\nb\n")).unwrap();
    expect![[r#"
        2
        done
    "#]]
    .assert_eq(&text);
}

#[test]
fn how_a_script_ends_is_said() {
    check(
        "true",
        &expect![[r#"
        [no output]
    "#]],
    );
    check(
        "echo out; echo err >&2; exit 3",
        &expect![[r#"
        out
        [stderr]
        err
        [exit code 3]
    "#]],
    );
    check(
        "if then",
        &expect![[r#"
        [stopped: parse error at line 1, column 4: syntax error near unexpected token `then']
    "#]],
    );
    check(
        "nosuchcommand",
        &expect![[r#"
        [stderr]
        bash: line 1: nosuchcommand: command not found
        [exit code 127]
    "#]],
    );
    let told = shell(&mut desk(), "seq 1 20000");
    let left_out = "3421\n[… 15246 lines, 84898 bytes omitted; redirect the output to a file under `scratch/` and read parts of it …]\n18668\n";
    assert!(
        told.starts_with("1\n2\n3\n") && told.ends_with("\n20000\n") && told.contains(left_out),
        "{told}"
    );
}

#[test]
fn documents_are_read_like_files_and_cannot_be_written() {
    let mut desk = view_desk(&[("logs/a.log", "one\nerror two\n"), ("b.md", "text\n")]);
    expect![[r#"
        input/contexts/b.md
        input/contexts/logs/a.log
        input/contexts/b.md:0
        input/contexts/logs/a.log:1
        5 input/contexts/b.md
    "#]]
    .assert_eq(&shell(
        &mut desk,
        "find input/contexts -type f | sort; grep -rc error input/contexts; wc -c input/contexts/b.md",
    ));
    expect![[r#"
        b.md
        [stderr]
        bash: line 1: input/contexts/b.md: Read-only file system
        rm: cannot remove 'input/contexts/b.md': io error: Read-only file system
        bash: line 1: input/contexts/new: Read-only file system
        mkdir: cannot create directory 'input/contexts/d': Read-only file system
        changed: output/b.md
    "#]].assert_eq(&shell(&mut desk, "echo x > input/contexts/b.md; rm input/contexts/b.md; echo y > input/contexts/new; mkdir input/contexts/d; cp input/contexts/b.md output/; ls output"));
}

#[test]
fn a_document_that_is_too_large_is_refused_with_what_to_do() {
    let limits = DeskLimits { document_bytes_max: 10, ..DeskLimits::default() };
    let whole = view_desk(&[("a.log", "0123456789 and more\n")]);
    let mut desk = whole.with_limits(limits);
    expect![[r#"
        [stderr]
        cat: input/contexts/a.log: `input/contexts/a.log` has 20 bytes; at most 10 can be read at once; use Grep, or Read with `offset` and `limit`
        [exit code 1]
    "#]].assert_eq(&shell(&mut desk, "cat input/contexts/a.log"));
}

#[test]
fn dates_and_chance_are_the_same_each_time() {
    check(
        "date; date +%s; echo $RANDOM $RANDOM $((RANDOM % 10)); awk 'BEGIN {print rand(), rand()}'; ls -l input/prompt.md",
        &expect![[r#"
            Thu Jan  1 00:00:00 UTC 2026
            1767225600
            16838 5758 3
            0.291066 0.152208
            -r--r--r-- 1 model model 24 Jan  1 00:00 input/prompt.md
        "#]],
    );
    check(
        "echo $SRANDOM",
        &expect![[r#"
        [stopped: $SRANDOM is random, which would make runs irreproducible]
    "#]],
    );
    check(
        "sort -R scratch/words.txt; shuf scratch/words.txt; uuidgen; sleep 100; openssl rand 4",
        &expect![[r#"
            [stderr]
            bash: line 1: sort: cancelled by before_tool hook
            shuf: not available: randomness would make runs irreproducible; use awk with srand(1)
            uuidgen: not available: randomness would make runs irreproducible
            sleep: not available: waiting has no effect here
            openssl: not available: randomness would make runs irreproducible; use sha256sum for a hash
            [refused: sort: randomness would make runs irreproducible]
            [exit code 127]
        "#]],
    );
    check(
        "cat /dev/urandom; echo ${EPOCHSECONDS-none} ${EPOCHREALTIME-none}",
        &expect![[r#"
        none none
        [stderr]
        cat: /dev/urandom: No such file or directory
    "#]],
    );
}

#[test]
fn the_same_script_prints_the_same() {
    let script = "declare -A m; for w in a b c d e f g h; do m[$w]=1; done; echo ${!m[@]}; \
                  awk 'BEGIN {for (i = 0; i < 50; i++) n[\"k\" i] = i; for (k in n) printf \"%s \", k; print \"\"}'; \
                  env; set | grep -v '^_'; declare -p; alias; ls -laR /; find / ; time true; compgen -v; jobs; ps; df; du; id; uname -a; \
                  hostname; nproc; free; arch; tty; hostid; help | head -50; echo $$ $BASHPID $PPID $SECONDS $LINENO";
    let first = shell(&mut desk(), script);
    for _ in 0..3 {
        assert_eq!(shell(&mut desk(), script), first);
    }
}
