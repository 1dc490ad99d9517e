//! Scripts that try to escape or to run forever.

use super::*;
use crate::{Rights, Zone};

#[test]
fn there_is_no_host() {
    check(
        "cat /etc/passwd ../../../etc/passwd; ls .. /proc /home; cd ../..; pwd",
        &expect![[r#"
            ..:
            cache
            input
            output
            scratch
            state
            tools
            /
            [stderr]
            cat: /etc/passwd: No such file or directory
            cat: ../../../etc/passwd: No such file or directory
            ls: cannot access '/proc': No such file or directory
            ls: cannot access '/home': No such file or directory
        "#]],
    );
    check(
        "env; echo $PATH; echo ~; whoami; hostname; uname -a",
        &expect![[r#"
        HOME=/
        LC_ALL=C.UTF-8
        PWD=/
        TMPDIR=/tmp
        TZ=UTC
        USER=model
        /usr/local/bin:/usr/bin:/bin
        /
        model
        desk
        Linux desk 5.15.0-sandbox #1 SMP PREEMPT sandbox x86_64 GNU/Linux
    "#]],
    );
    check(
        "curl http://127.0.0.1; wget x; cat < /dev/tcp/127.0.0.1/80; ssh x; python3 -c 1; /bin/ls; /usr/bin/env",
        &expect![[r#"
            [stderr]
            curl: not available: there is no network
            wget: not available: there is no network
            bash: line 1: /dev/tcp/127.0.0.1/80: No such file or directory
            bash: line 1: ssh: command not found. SSH requires the 'ssh' feature. Enable with: features = ["ssh"]
            python3: not available: use RunScript
            bash: line 1: /bin/ls: No such file or directory
            bash: line 1: /usr/bin/env: No such file or directory
            [exit code 127]
        "#]],
    );
}

#[test]
fn there_are_no_links() {
    check(
        "ln -s /etc/passwd output/p; ln output/x output/y; readlink input/prompt.md; ls output",
        &expect![[r#"
            [stderr]
            ln: not available: links are not supported; use cp
            ln: not available: links are not supported; use cp
        "#]],
    );
    check(
        "cp -s /state/job.json output/p; ls output",
        &expect![[r#"
        p
        changed: output/p
    "#]],
    );
}

#[test]
fn what_belongs_to_the_engine_cannot_be_changed() {
    let commands = [
        "echo '{\"calls_max\": 999}' > state/job.json",
        "echo x >> state/job.json",
        "echo x > ../../state/job.json",
        "cd scratch; echo x > ../state/job.json",
        "sed -i s/5/999/ state/job.json",
        "sort -o state/job.json input/prompt.md",
        "tee state/job.json < input/prompt.md",
        "cp input/prompt.md state/job.json",
        "mv input/prompt.md state/job.json",
        "mv state/job.json output/",
        "mv state output/",
        "mv scratch /moved",
        "rm -rf input tools state",
        "rm -rf /",
        "truncate -s 0 state/job.json",
        "touch input/new",
        "mkdir state/x",
        "rmdir input/contexts",
        "echo x >> state/evidence.jsonl",
        "echo x > state/buffers/b.jsonl",
        "echo x > state/errors.jsonl",
        "chmod 777 state/job.json; echo x > state/job.json",
        "awk 'BEGIN {print 1 > \"state/job.json\"}'",
        "split -l 1 input/prompt.md state/part",
        "patch state/job.json <<< ''",
        "tar cf scratch/a.tar state; echo x > scratch/x; rm scratch/*; tar xf scratch/a.tar",
        "install input/prompt.md state/job.json",
        "exec 3> state/job.json; echo x >&3",
        "unzip -o x.zip -d state; gunzip state/job.json; gzip state/job.json",
    ];
    for command in commands {
        let mut desk = desk();
        let given: Vec<(DeskPath, Vec<u8>)> = kept(&desk);
        let told = shell(&mut desk, command);
        assert_eq!(kept(&desk), given, "{command} changed what is not its own: {told}");
    }
    check(
        "tee state/job.json < input/prompt.md; echo on",
        &expect![[r#"
        [stopped: io error: Read-only file system]
    "#]],
    );
}

/// Everything outside the places where a model may write.
fn kept(desk: &Desk) -> Vec<(DeskPath, Vec<u8>)> {
    let is_kept = |path: &DeskPath| Zone::rights(path) != Rights::Write;
    desk.files()
        .filter(|(path, _)| is_kept(path))
        .map(|(path, bytes)| (path.clone(), bytes.to_vec()))
        .collect()
}

#[test]
fn bombs_are_stopped() {
    check_all(
        &[
            ":(){ :|:& };:",
            "f() { f; }; f",
            "echo first; while true; do :; done",
            "a=x; while :; do a=$a$a; done",
            "for ((;;)); do for ((;;)); do :; done; done",
            "until false; do echo x > /tmp/x; done",
            "echo 'source /tmp/s.sh' > /tmp/s.sh; source /tmp/s.sh",
            "trap 'kill -USR1 $$' USR1; kill -USR1 $$; echo alive",
            "sleep 1000 & sleep 1000 & wait; echo $((1 << 62)) $((2 ** 62))",
        ],
        &expect![[r#"
            $ :(){ :|:& };:
            [stopped: resource limit exceeded: maximum function depth exceeded (16)]
            $ f() { f; }; f
            [stopped: resource limit exceeded: maximum function depth exceeded (16)]
            $ echo first; while true; do :; done
            first
            [stopped: resource limit exceeded: maximum command count exceeded (10000)]
            $ a=x; while :; do a=$a$a; done
            [stopped: resource limit exceeded: memory limit exceeded: variable byte limit (262144) exceeded]
            $ for ((;;)); do for ((;;)); do :; done; done
            [stopped: resource limit exceeded: maximum command count exceeded (10000)]
            $ until false; do echo x > /tmp/x; done
            [stopped: resource limit exceeded: maximum command count exceeded (10000)]
            changed: scratch/tmp/x
            $ echo 'source /tmp/s.sh' > /tmp/s.sh; source /tmp/s.sh
            [stopped: execution error: source: /tmp/s.sh: maximum source depth exceeded]
            changed: scratch/tmp/s.sh
            $ trap 'kill -USR1 $$' USR1; kill -USR1 $$; echo alive
            alive
            [stderr]
            bashkit: maximum trap nesting depth exceeded
            [stopped: resource limit exceeded: maximum trap nesting depth exceeded (3)]
            $ sleep 1000 & sleep 1000 & wait; echo $((1 << 62)) $((2 ** 62))
            4611686018427387904 4611686018427387904
            [stderr]
            sleep: not available: waiting has no effect here
            sleep: not available: waiting has no effect here
        "#]],
    );
}

#[test]
fn commands_without_an_end_are_stopped() {
    check_all(
        &[
            "yes | wc -l",
            "seq 1 100000000 | wc -l",
            "printf '%s\\n' {1..1000000} | wc -l",
            "printf '%1000000000d' 1 | wc -c",
            "awk 'BEGIN {while (1) {}}'",
            "awk 'BEGIN {s = \"x\"; while (1) s = s s}'",
            "awk 'function f() {return f()} BEGIN {f()}'",
            "sed ':a;s/x/xx/;ta' <<< x | wc -c",
            "echo '2^2^2^2^2^2^2' | bc | wc -c",
        ],
        &expect![[r#"
            $ yes | wc -l
            10000
            [stderr]
            yes: output limit (10000 lines) exceeded; output truncated
            $ seq 1 100000000 | wc -l
            100000
            [stderr]
            seq: line limit (100000) exceeded; output truncated
            $ printf '%s\n' {1..1000000} | wc -l
            [stopped: execution error: budget validation failed: brace range too large: {1..1000000} produces 1000000 elements (max 100000)]
            $ printf '%1000000000d' 1 | wc -c
            0
            [stderr]
            bash: line 1: printf: format width 1000000000 exceeds limit 10000
            $ awk 'BEGIN {while (1) {}}'
            [stderr]
            awk: fatal: loop iteration limit (2000000) exceeded
            [exit code 2]
            $ awk 'BEGIN {s = "x"; while (1) s = s s}'
            [stderr]
            awk: fatal: string size limit (16777216 bytes) exceeded
            [exit code 2]
            $ awk 'function f() {return f()} BEGIN {f()}'
            [stderr]
            awk: fatal: function call depth limit (64) exceeded
            [exit code 2]
            $ sed ':a;s/x/xx/;ta' <<< x | wc -c
            335
            [stderr]
            sed: warning: branch/label loop limit (1000) reached on line 1; output may be truncated
            $ echo '2^2^2^2^2^2^2' | bc | wc -c
            20
        "#]],
    );
}

#[test]
fn nesting_is_stopped_before_the_stack_is() {
    for (open, close) in [("(", ")"), ("{ ", "; }"), ("$(", ")"), ("if true; then ", "; fi"), ("\"$(", ")\"")]
    {
        let script = format!("{}echo deep{}", open.repeat(3000), close.repeat(3000));
        let told = shell(&mut desk(), &script);
        assert!(told.contains("[stopped: ") || told.contains("[exit code "), "{open}: {told}");
    }
    let script = format!("echo $(({}1{}))", "(".repeat(20_000), ")".repeat(20_000));
    shell(&mut desk(), &script);
    let script = format!("[[ {} a {} ]]", "( ".repeat(5000), ") ".repeat(5000));
    shell(&mut desk(), &script);
    let script = format!("echo {}", "{a,".repeat(5000));
    shell(&mut desk(), &script);
}

#[test]
fn nesting_that_nobody_counts_is_stopped_as_well() {
    let chains = [
        "eval ",
        "command ",
        "builtin ",
        "command eval ",
        "env ",
        "nice ",
        "nohup ",
        "busybox ",
        "xargs ",
        "exec ",
    ];
    for word in chains {
        for n_words in [300, 1000] {
            let script = format!("{}echo deep < /dev/null", word.repeat(n_words));
            let told = shell(&mut desk(), &script);
            assert!(told.len() < 40_000, "{word}: {}", told.len());
        }
    }
}

#[test]
fn deep_expressions_are_stopped() {
    let scripts = [
        "a=b; b=a; echo $((a))".to_owned(),
        (0..3000).fold(String::new(), |all, n| all + &format!("v{n}=v{}; ", n + 1)) + "v3000=1; echo $((v0))",
        "x='$(eval \"$x\")'; eval \"$x\"".to_owned(),
        "x='eval \"$x\"'; eval \"$x\"".to_owned(),
        "alias a='b '; alias b='a '; shopt -s expand_aliases; a".to_owned(),
        "trap 'eval false' ERR; false".to_owned(),
        "trap 'trap' DEBUG; f() { eval f; }; f".to_owned(),
        "PS4='$(eval echo x)'; set -x; eval echo y".to_owned(),
        "mapfile -C 'eval mapfile -C eval -c 1' -c 1 a < scratch/words.txt; echo done".to_owned(),
        "declare -n r=r; r=1; echo $r".to_owned(),
        "find / -exec find / -exec find / -exec echo {} ';' ';' ';' | wc -l".to_owned(),
        format!("{} echo deep", "! ".repeat(5000)),
        format!("{} echo deep", "time ".repeat(500)),
        format!("{} echo deep", "time ".repeat(9000)),
        format!("{} echo deep", "time ".repeat(50_000)),
        "x=$(printf 'time %.0s' $(seq 9000)); eval \"$x echo deep\"".to_owned(),
        format!("{} echo deep", "coproc ".repeat(5000)),
        format!("echo {}x{}", "${a:-".repeat(3000), "}".repeat(3000)),
        format!("echo $(( {}1 ))", "-".repeat(20_000)),
        format!("echo $(( {}1 ))", "1?".repeat(3000) + &"1:".repeat(2999)),
        format!("case x in {} esac", "x) case x in ".repeat(2000)),
        format!("{}:{}", "f() { ".repeat(2000), "; }".repeat(2000)),
        format!("awk 'BEGIN {{ print {}1{} }}'", "(".repeat(5000), ")".repeat(5000)),
        format!("awk 'BEGIN {{ print {}1 }}'", "-".repeat(20_000)),
        format!("awk 'BEGIN {{ {} }}'", "if (1) ".repeat(20_000)),
        format!("sed '{}p{}' scratch/words.txt", "{".repeat(20_000), "}".repeat(20_000)),
        format!("grep -E '{}a{}' scratch/words.txt", "(".repeat(20_000), ")".repeat(20_000)),
        format!("grep -P '{}a{}' scratch/words.txt", "(".repeat(20_000), ")".repeat(20_000)),
        format!("find . {} -true {}", "'(' ".repeat(5000), "')' ".repeat(5000)),
        format!("find . {} -true", "! ".repeat(10_000)),
        format!("test {} x", "! ".repeat(10_000)),
        format!("test {} x {}", "'(' ".repeat(10_000), "')' ".repeat(10_000)),
        format!("expr {} 1 {}", "'(' ".repeat(10_000), "')' ".repeat(10_000)),
        format!("echo '{}1{}' | bc", "(".repeat(20_000), ")".repeat(20_000)),
        format!("echo '{}1{}' | json", "[".repeat(20_000), "]".repeat(20_000)),
        format!("[[ x == {}x{} ]]", "@(".repeat(5000), ")".repeat(5000)),
        format!("ls {}x{}", "{a,".repeat(3000), "}".repeat(3000)),
        format!("[[ {} x ]]", "! ".repeat(10_000)),
        format!("[[ x {} ]]", "&& x ".repeat(2000)),
        format!("true {}", "&& true ".repeat(10_000)),
        format!("true {}", "| true ".repeat(1000)),
        format!("echo {}", "$".repeat(100_000)),
        format!("printf '{}'", "%s".repeat(50_000)),
        format!("make -f - <<'E'\na = $({}x{})\nall:\n\techo $(a)\nE", "a".repeat(10), ")".repeat(10)),
    ];
    for script in scripts {
        let told = shell(&mut desk(), &script);
        let shown: String = script.chars().take(60).collect();
        assert!(told.len() < 40_000, "{shown}: {}", told.len());
    }
}

#[test]
fn the_deepest_scripts_that_fit_leave_room_on_the_stack() {
    let chain = |n: u32| format!("$(printf 'time %.0s' $(seq {n}))");
    let scripts = [
        format!("eval \"{} echo deep\"", chain(13_000)),
        format!("trap \"{} echo deep\" EXIT", chain(13_000)),
        format!("echo \"{} echo deep\" > /tmp/s.sh; /tmp/s.sh", chain(13_000)),
        format!(
            "echo \"{} echo deep\" > /tmp/s.sh; source /tmp/s.sh; bash /tmp/s.sh; /tmp/s.sh",
            chain(90_000)
        ),
        format!("y=\"\\$({} echo 1)\"; echo \"${{y@P}}\"", chain(52_000)),
        format!("PS4=\"\\$({} echo 1)\"; set -x; echo x", chain(50_000)),
    ];
    for script in scripts {
        let told = shell(&mut desk(), &script);
        assert!(told.len() < 40_000, "{script}: {}", told.len());
    }
}

#[test]
fn a_command_that_takes_too_long_is_stopped_by_the_clock() {
    let mut limits = DeskLimits::default();
    limits.shell.timeout_ms = 100;
    let mut desk = desk().with_limits(limits);
    let told = shell(&mut desk, "yes a | head -10000 > /tmp/a; join /tmp/a /tmp/a | wc -l");
    assert!(told.contains("[stopped: resource limit exceeded: execution"), "{told}");
}

#[test]
fn files_stay_within_the_limits_of_the_desk() {
    let limits = DeskLimits { file_bytes_max: 1000, bytes_max: 3000, files_max: 20, ..DeskLimits::default() };
    let mut desk = Desk::new(limits);
    let told =
        shell(&mut desk, "for i in {1..50}; do seq 1 150 > output/f$i || break; done; ls output | wc -l");
    expect![[r#"
        6
        [stderr]
        bash: line 1: output/f7: the folder would have 3444 bytes; the maximum is 3000; remove files under `scratch/`
        changed: output/f1 output/f2 output/f3 output/f4 output/f5 output/f6
    "#]].assert_eq(&told);
    let told =
        shell(&mut desk, "for i in {1..90}; do echo 0123456789 >> output/f1 || break; done; wc -c output/f1");
    expect![[r#"
        536 output/f1
        [stderr]
        bash: line 1: output/f1: the folder would have 3007 bytes; the maximum is 3000; remove files under `scratch/`
        changed: output/f1
    "#]].assert_eq(&told);
    let told = shell(
        &mut desk,
        "rm output/*; for i in {1..50}; do : > output/e$i || break; done; ls output | wc -l",
    );
    expect![[r#"
        20
        [stderr]
        bash: line 1: output/e21: the folder can have at most 20 files and directories; remove some under `scratch/`
        changed: output/e1 output/e10 output/e11 output/e12 output/e13 output/e14 output/e15 output/e16 output/e17 output/e18 output/e19 output/e2 output/e20 output/e3 output/e4 output/e5 output/e6 output/e7 output/e8 output/e9 output/f1 output/f2 output/f3 output/f4 output/f5 output/f6
    "#]].assert_eq(&told);
    assert!(desk.bytes() <= 3000);
}

#[test]
fn heredocs_and_words_cannot_fill_memory() {
    let script = "x=$(seq 1 1000); cat <<E\n".to_owned() + &"$x\n".repeat(5000) + "E";
    let told = shell(&mut desk(), &script);
    assert!(
        told.len() < 40_000 && told.contains("[stopped: "),
        "{} {}",
        told.len(),
        told.chars().take(300).collect::<String>()
    );
    let script = format!("cat <<E | wc -c\n{}\nE", "x".repeat(200_000));
    expect![[r#"
        [stopped: resource limit exceeded: input too large (200018 bytes, max 65536 bytes)]
    "#]]
    .assert_eq(&shell(&mut desk(), &script));
    let script = format!("echo {} | wc -c", "x".repeat(300_000));
    expect![[r#"
        [stopped: resource limit exceeded: input too large (300013 bytes, max 65536 bytes)]
    "#]]
    .assert_eq(&shell(&mut desk(), &script));
}

#[test]
fn names_that_are_no_paths_are_refused() {
    check(
        "echo x > $'output/a\\nb'; touch 'output/a\\b'; mkdir -p output/$(printf 'd/%.0s' {1..40}); ls output",
        &expect![[r#"
            [stderr]
            bash: line 1: output/a
            b: unsafe character U+000A in path component 'a
            b'
            touch: cannot touch 'output/a\b': `/output/a\b` is not a valid path: it contains a backslash; separate parts with `/`
            mkdir: cannot create directory 'output/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/': `/output/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d` is not a valid path: it is 41 levels deep; the maximum is 24
        "#]],
    );
    let told = shell(&mut desk(), "echo y > $'output/\\u202ex'; ls output");
    assert!(told.contains("U+202E") || told.contains("control character"), "{told}");
}

#[test]
fn hostile_patterns_end() {
    let mut desk = desk();
    desk.put(&path("scratch/a"), "a".repeat(30_000)).unwrap();
    expect![[r#"
        1
        0
        1
    "#]].assert_eq(&shell(&mut desk, "grep -cE '(a+)+$' scratch/a; grep -cP '(a+)+b' scratch/a; [[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab =~ ^(a+)+$ ]]; echo $?"));
    expect![[r#"
        30000
        0
    "#]]
    .assert_eq(&shell(&mut desk, "sed -E 's/(a*)*b//' scratch/a | wc -c; awk '/(a+)+b/' scratch/a | wc -c"));
}
