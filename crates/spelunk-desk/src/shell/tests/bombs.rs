//! Scripts that exhaust memory, stack, time or output. Each ends as an outcome of the tool, and the next script runs
//! normally.

use super::*;

const BOMBS: &[&str] = &[
    "echo {1..1000000000}",
    "echo {a..z}{a..z}{a..z}{a..z}{a..z}{a..z}{a..z}",
    "echo {1..9999}{1..9999}",
    "for i in {1..1000000000}; do :; done",
    "yes | head -1",
    "yes | tail -1",
    "x=$(yes); echo ${#x}",
    "yes $(printf 'x%.0s' {1..1000}) | sort | uniq -c",
    "printf '%*d' 1000000000 1",
    "printf '%.1000000000f' 1",
    "printf '%1000000000s' x | wc -c",
    "printf 'x%.0s' {1..99999} | wc -c",
    "seq 1 1000000000 | tail -1",
    "seq -f '%1000000000g' 3",
    "seq -w 1 1000000000000 | head -1",
    "seq -s \"$(printf 'x%.0s' {1..1000})\" 1 100000 | wc -c",
    "head -c 10000000000 /dev/zero | wc -c",
    "cat /dev/zero | head -c 1",
    "sort <(yes) | head -1",
    "a=(); while :; do a+=(xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx); done",
    "a=(1); a[1000000000]=1; echo ${#a[@]} ${a[@]}",
    "a=($(seq 1 100000)); for i in 1 2 3 4 5 6 7 8 9; do a+=(\"${a[@]}\"); done; echo ${#a[@]}",
    "declare -A m; for ((i = 0; ; i++)); do m[$i]=$i$i$i$i; done",
    "s=0; while :; do s=${s//0/00}; done",
    "s=$(printf '%9999d' 1); for i in 1 2 3 4 5 6 7 8; do s=${s//0/$s}; done",
    "s=$(printf '%9999d' 1); echo \"$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s$s\" | sed 's/ /&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&/g' | sed 's/ /&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&/g' | wc -c",
    "awk 'BEGIN {for (;;) a[n++] = n \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}'",
    "awk 'BEGIN {printf \"%1000000000d\", 1}' | wc -c",
    "awk 'BEGIN {printf \"%*d\", 1000000000, 1}' | wc -c",
    "awk 'BEGIN {printf \"%.1000000000f\", 1}' | wc -c",
    "awk 'BEGIN {$1000000000 = 1; print NF}'",
    "awk 'BEGIN {NF = 1000000000; print length($0)}'",
    "awk 'BEGIN {s = sprintf(\"%10000d\", 1); for (i = 0; i < 30; i++) gsub(/ /, \"  \", s)}'",
    "awk 'BEGIN {while (1) print \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}' | wc -l",
    "awk 'BEGIN {while (1) print \"xxxxxxxxxxxxxxxxxxxxx\" > \"/tmp/full\"}'",
    "sed ':a;s/^/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/;ba' <<< x | wc -c",
    "sed -n '1{:a;h;G;ba}' <<< x",
    "sed ':a;h;H;x;s/x/xx/g;ba' <<< x | wc -c",
    "expand -t 1000000000 <<< $'\\ta' | wc -c",
    "expand -t 1000000000 <<< $'\\t\\t\\t\\ta' | wc -c",
    "fold -w 1 scratch/words.txt | wc -l",
    "fmt -w 1000000000 scratch/words.txt | wc -l",
    "pr -w 1000000000 -l 1000000000 scratch/words.txt | wc -c",
    "nl -w 1000000000 scratch/words.txt | wc -c",
    "column -c 1000000000 scratch/words.txt | wc -c",
    "paste -d '\\n' scratch/words.txt scratch/words.txt | wc -l",
    "numfmt --padding=1000000000 1 | wc -c",
    "numfmt --format='%1000000000f' 1 | wc -c",
    "od -w1000000000 scratch/words.txt | wc -c",
    "xxd -c 1000000000 scratch/words.txt | wc -c",
    "truncate -s 1000000000000 /tmp/t; ls -l /tmp/t",
    "split -b 1 -a 9 scratch/words.txt /tmp/s; ls /tmp | wc -l",
    "base64 -w 1 scratch/words.txt | wc -l",
    "echo '10 ^ 10 ^ 10' | bc | wc -c",
    "echo 'scale=1000000000; 1/3' | bc | wc -c",
    "expr 9999999999999999999999 '*' 99999999999999999",
    "factor 340282366920938463463374607431768211297 | wc -c",
    "tar cf - scratch | tar cf - scratch | gzip | gunzip | wc -c",
    "head -c 60000 /dev/null; for i in 1 2 3 4 5 6 7 8 9; do gzip -c scratch/words.txt > /tmp/z; done",
    "tr -dc a < /dev/null; comm <(yes) <(yes) | wc -l",
    "join -t '' <(yes a) <(yes a) | wc -l",
    "diff <(seq 1 20000) <(seq 10000 30000) | wc -l",
    "diff <(yes a) <(yes b) | wc -l",
    "patch -p0 <<< $'--- a\\n+++ b\\n@@ -1,999999999 +1,999999999 @@\\n x'",
    "grep -E '((((a{1,100}){1,100}){1,100}){1,100})' scratch/words.txt",
    "grep -E '(x+x+)+y' <<< xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "grep -P '(x+x+)+y' <<< xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "[[ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx == *x*x*x*x*x*x*x*x*x*x*x*x*x*y ]]",
    "[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa == +(a|aa)+(a|aa)+(a|aa)b ]]",
    "f() { f | f; }; f",
    "f() { f & f & }; f; wait",
    "f() { eval \"$1\"; }; f 'f \"f \\\"f\\\"\"'",
    "f() { x=$(f); }; f",
    "f() { cat <(f); }; f",
    "f() { (f); }; f",
    "echo 'bash /tmp/r.sh' > /tmp/r.sh; bash /tmp/r.sh",
    "xargs -I{} sh -c 'xargs -I{} sh -c \"echo {}\" < scratch/words.txt' < scratch/words.txt | wc -l",
    "make -f - <<'E'\nall: all2\nall2: all\n\techo x\nE",
    "while read -r x; do echo $x$x$x$x; done < <(yes) | wc -l",
    "mapfile a < <(yes); echo ${#a[@]}",
    "read -r x < <(yes | tr -d '\\n'); echo ${#x}",
    "echo $(( 2 ** 1000000000 )) $(( 1 << 1000000000 )) $(( 9223372036854775807 + 1 ))",
    "echo $(( 1 / 0 )); echo $(( -9223372036854775808 / -1 )); echo $(( -9223372036854775808 % -1 ))",
    "printf -v x '%99999999d' 1; echo ${#x}",
    "x=a; echo ${x:1000000000:1000000000} ${x: -1000000000}",
    "printf '\\x41%.0s' {1..99999} > /tmp/a; cat /tmp/a /tmp/a /tmp/a /tmp/a /tmp/a /tmp/a > /tmp/b; for i in 1 2 3 4 5 6 7 8; do cat /tmp/b /tmp/b > /tmp/c; mv /tmp/c /tmp/b; done; wc -c /tmp/b",
];

#[test]
fn what_asks_for_too_much_ends_as_an_outcome() {
    let mut limits = DeskLimits::default();
    limits.shell.timeout_ms = 300;
    limits.bytes_max = 32 * 1024 * 1024;
    for script in BOMBS {
        let mut desk = desk().with_limits(limits.clone());
        let told = shell(&mut desk, script);
        assert!(told.len() < 80_000, "{script}: {}", told.len());
        assert!(desk.bytes() <= limits.bytes_max, "{script}: {}", desk.bytes());
        assert_eq!(shell(&mut desk, "x=1; echo $x"), "1\n", "{script}");
    }
}

#[test]
fn the_name_of_a_file_may_have_any_digits() {
    let mut desk = desk();
    let made = "echo a > scratch/log-20261115.txt; paste scratch/log-20261115.txt; nl -w 12 scratch/log-20261115.txt";
    assert_eq!(shell(&mut desk, made), "a\n           1\ta\nchanged: scratch/log-20261115.txt\n");
    assert!(shell(&mut desk, "nl -w 100000 scratch/log-20261115.txt").contains("more than four digits"));
    assert!(
        shell(&mut desk, "fold --width=100000 scratch/log-20261115.txt").contains("more than four digits")
    );
}
