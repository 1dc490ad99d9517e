//! Which files a plan covers: the cap with its warning, the order, the globs and what git ignores.

use expect_test::{Expect, expect};

use crate::scene::Scene;

/// 23 files.
fn many() -> Scene {
    let scene = Scene::new(&[]);
    for n in 1..=23_usize {
        scene.write(&format!("many/f{n:02}.txt"), "text\n".repeat(n).as_bytes());
    }
    scene
}

const TREE: [(&str, &str); 8] = [
    ("tree/README.md", "# Read me\n"),
    ("tree/Cargo.toml", "[package]\nname = \"x\"\n"),
    ("tree/src/main.rs", "fn main() {}\n"),
    ("tree/src/notes.txt", "some longer notes about the source, which make it the largest file\n"),
    ("tree/Cargo.lock", "[[package]]\n"),
    ("tree/node_modules/lib.js", "var x;\n"),
    ("tree/.gitignore", "ignored.md\n"),
    ("tree/ignored.md", "ignored\n"),
];

/// The files of a plan, by name.
#[track_caller]
fn check(args: &[&'static str], expected: &Expect) {
    let scene = Scene::new(&TREE);
    let ran = scene.spelunk([&["plan", "tree", "--json"], args].concat()).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let rows = plan["manifest"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["file"].as_str().unwrap()).collect();
    expected.assert_eq(&format!(
        "{}\nskipped {}, left out {}",
        names.join(" "),
        plan["skipped"],
        plan["left_out"]
    ));
}

#[test]
fn without_a_word_every_file_is_taken() {
    many().spelunk(["plan", "many"]).run().check(&expect![[r#"
        type              files     lines      size
        prose                23       276    1.3 kB

        23 small files in 1 batch

        1 task: 0 chunks, 1 batch · analysts: 1 general
        1 to 3 calls · 683 to 40.0k tokens in, 2 to 12.2k out
          anthropic/claude-sonnet-5-5  $0.0014 to $0.23
          anthropic/claude-haiku-5-5   <$0.0001 to $0.0112
          gemini/gemini-4-argon        $0.0014 to $0.21
          gemini/gemini-3.5-flash-lite $0.0003 to $0.0428
          openai/gpt-6.1-terra         $0.0007 to $0.12
          openai/gpt-6-luna            <$0.0001 to $0.0112
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_flag_sets_the_cap_and_the_rest_is_counted() {
    many().spelunk(["plan", "many", "--files-max", "20"]).run().check(&expect![[r#"
        type              files     lines      size
        prose                20       270    1.3 kB

        20 small files in 1 batch

        1 task: 0 chunks, 1 batch · analysts: 1 general
        1 to 3 calls · 661 to 39.5k tokens in, 2 to 12.2k out
          anthropic/claude-sonnet-5-5  $0.0014 to $0.23
          anthropic/claude-haiku-5-5   <$0.0001 to $0.0111
          gemini/gemini-4-argon        $0.0014 to $0.21
          gemini/gemini-3.5-flash-lite $0.0003 to $0.0426
          openai/gpt-6.1-terra         $0.0007 to $0.12
          openai/gpt-6-luna            <$0.0001 to $0.0111
        warning: 3 files are excluded by `files_max`; set it to 0 to include all
        --- stderr
        Skipped: 3 beyond the maximum number of files
        --- exit 0
    "#]]);
}

#[test]
fn the_setting_counts_where_there_is_no_flag() {
    let scene = many();
    let ran = scene.spelunk(["plan", "many", "--set", "limits.files_max=22"]).run();
    let warning = ran.stdout.lines().last().unwrap();
    expect!["warning: 1 file is excluded by `files_max`; set it to 0 to include all"].assert_eq(warning);
}

#[test]
fn under_the_cap_the_largest_files_stay() {
    check(
        &["--files-max", "2"],
        &expect![[r#"
            Cargo.toml src/notes.txt
            skipped {"excluded":2,"files-max":2,"hidden":1,"ignored":1}, left out ["src/main.rs","README.md"]"#]],
    );
}

#[test]
fn the_order_says_which_files_stay() {
    check(
        &["--files-max", "2", "--order", "path"],
        &expect![[r#"
            Cargo.toml README.md
            skipped {"excluded":2,"files-max":2,"hidden":1,"ignored":1}, left out ["src/main.rs","src/notes.txt"]"#]],
    );
    check(
        &["--files-max", "2", "--order", "priority"],
        &expect![[r#"
            Cargo.toml README.md
            skipped {"excluded":2,"files-max":2,"hidden":1,"ignored":1}, left out ["src/main.rs","src/notes.txt"]"#]],
    );
    check(
        &["--files-max", "2", "--order", "size"],
        &expect![[r#"
            Cargo.toml src/notes.txt
            skipped {"excluded":2,"files-max":2,"hidden":1,"ignored":1}, left out ["src/main.rs","README.md"]"#]],
    );
}

#[test]
fn an_unknown_order_is_refused() {
    Scene::new(&TREE).spelunk(["plan", "tree", "--order", "age"]).run().check(&expect![[r#"
        --- stderr
        error: there is no order `age`

        hint: choose one of size, path, priority
        --- exit 2
    "#]]);
}

#[test]
fn what_is_ignored_or_built_is_left_out_and_counted() {
    check(
        &[],
        &expect![[r#"
            Cargo.toml README.md src/main.rs src/notes.txt
            skipped {"excluded":2,"hidden":1,"ignored":1}, left out []"#]],
    );
}

#[test]
fn only_what_is_included_is_read_and_inclusion_beats_the_default_exclusions() {
    check(
        &["--include", "*.rs", "--include", "*.lock"],
        &expect![[r#"
        Cargo.lock src/main.rs
        skipped {"excluded":1,"filtered":3,"hidden":1,"ignored":1}, left out []"#]],
    );
    check(
        &["--include", "node_modules"],
        &expect![[r#"
        node_modules/lib.js
        skipped {"excluded":1,"filtered":4,"hidden":1,"ignored":1}, left out []"#]],
    );
}

#[test]
fn what_is_excluded_is_not_read_even_if_it_is_included() {
    check(
        &["--include", "*.rs", "--include", "*.md", "--exclude", "src"],
        &expect![[r#"
            README.md
            skipped {"excluded":2,"filtered":2,"hidden":1,"ignored":1}, left out []"#]],
    );
}

#[test]
fn folders_below_are_entered_unless_that_is_refused() {
    check(
        &["--no-recursive"],
        &expect![[r#"
            Cargo.toml README.md
            skipped {"excluded":1,"filtered":2,"hidden":1,"ignored":1}, left out []"#]],
    );
}

#[test]
fn ignored_files_are_read_where_that_is_asked_for() {
    check(
        &["--no-gitignore"],
        &expect![[r#"
            Cargo.toml README.md ignored.md src/main.rs src/notes.txt
            skipped {"excluded":2,"hidden":1}, left out []"#]],
    );
}

#[test]
fn a_broken_glob_is_refused() {
    Scene::new(&TREE).spelunk(["plan", "tree", "--include", "[a"]).run().check(&expect![[r#"
        --- stderr
        error: `[a` is not a valid glob: unclosed character class; missing ']'

        hint: use `*` for part of a name, `**` for directories, `\[` for a bracket
        --- exit 2
    "#]]);
}
