//! Read, Grep, Glob and Chunk.

use super::*;
use crate::mounts::tests::view_desk;

#[test]
fn read_shows_numbers_and_how_to_go_on() {
    let mut desk = desk();
    desk.put(&path("scratch/empty"), "").unwrap();
    let calls = [
        json!({"path": "input/prompt.md"}),
        json!({"path": "input/prompt.md", "offset": 2, "limit": 2}),
        json!({"path": "input/prompt.md", "offset": 9}),
        json!({"path": "input"}),
        json!({"path": "prompt.md"}),
        json!({"path": "input/prompt.md", "byte_offset": 8, "byte_limit": 8}),
        json!({"path": "input/prompt.md", "byte_offset": 99}),
        json!({"path": "input/prompt.md", "byte_offset": 9, "limit": 3}),
        json!({"path": "scratch/empty"}),
    ];
    check_all(
        &mut desk,
        "Read",
        &calls,
        &expect![[r#"
        Read {"path":"input/prompt.md"}
             1	# Task
             2	
             3	Find the needle.
             4	Then stop.
        changed: 
        Read {"limit":2,"offset":2,"path":"input/prompt.md"}
             2	
             3	Find the needle.
        [lines 2-3 of 4; continue with offset=4]
        changed: 
        Read {"offset":9,"path":"input/prompt.md"}
        error: `input/prompt.md` has no line 9: it has 4
        Read {"path":"input"}
        error: `input` is a directory; name a file in it
        Read {"path":"prompt.md"}
        error: `prompt.md` does not exist; did you mean `input/prompt.md`?
        Read {"byte_limit":8,"byte_offset":8,"path":"input/prompt.md"}
        Find the
        [bytes 8-16 of `input/prompt.md`; continue with byte_offset=16]
        changed: 
        Read {"byte_offset":99,"path":"input/prompt.md"}
        [`input/prompt.md` has no bytes from 99 on]
        changed: 
        Read {"byte_offset":9,"limit":3,"path":"input/prompt.md"}
        error: invalid arguments for Read: give either lines (`offset`, `limit`) or bytes (`byte_offset`, `byte_limit`)
        Read {"path":"scratch/empty"}
        [`scratch/empty` is empty]
        changed: 
    "#]],
    );
}

#[test]
fn read_is_bounded_in_lines_and_in_their_length() {
    let mut desk = desk();
    desk.put(&path("scratch/long"), format!("{}\nend\n", "x".repeat(3000))).unwrap();
    let told = call(&mut desk, "Read", &json!({"path": "scratch/long"}));
    let expected = format!(
        "     1\t{}…\n     2\tend\n[1 line is cut at 2000 characters; read more with byte_offset]\nchanged: \n",
        "x".repeat(2000)
    );
    assert_eq!(told, expected);
    desk.put(&path("scratch/many"), "0123456789\n".repeat(5000)).unwrap();
    let told = call(&mut desk, "Read", &json!({"path": "scratch/many", "limit": 5000}));
    assert!(told.len() < 26_000);
    assert!(
        told.ends_with("[lines 1-1333 of 5000; continue with offset=1334]\nchanged: \n"),
        "{}",
        told.len()
    );
}

#[test]
fn grep_gives_lines_files_and_counts() {
    let mut desk = desk();
    let calls = [
        json!({"pattern": "pear"}),
        json!({"pattern": "pear", "-i": true, "mode": "count"}),
        json!({"pattern": "pear", "mode": "files", "limit": 1}),
        json!({"pattern": "p", "glob": "*.md", "context": 1}),
        json!({"pattern": "a", "path": "scratch/words.txt", "limit": 1}),
        json!({"pattern": "(", "literal": true}),
        json!({"pattern": "("}),
        json!({"pattern": "x", "path": "nowhere"}),
    ];
    check_all(
        &mut desk,
        "Grep",
        &calls,
        &expect![[r#"
        Grep {"pattern":"pear"}
        scratch/deep/more.md (1 match)
             1: a pear tree
        scratch/words.txt (1 match)
             1: pear
        [2 matches in 2 files]
        changed: 
        Grep {"-i":true,"mode":"count","pattern":"pear"}
               1 scratch/deep/more.md
               2 scratch/words.txt
        [3 matches in 2 files]
        changed: 
        Grep {"limit":1,"mode":"files","pattern":"pear"}
        scratch/deep/more.md
        [2 matches in 2 files; 1 not shown, raise `limit`]
        changed: 
        Grep {"context":1,"glob":"*.md","pattern":"p"}
        input/prompt.md (1 match)
             3- Find the needle.
             4: Then stop.
        scratch/deep/more.md (1 match)
             1: a pear tree
        [2 matches in 2 files]
        changed: 
        Grep {"limit":1,"path":"scratch/words.txt","pattern":"a"}
        scratch/words.txt (3 matches)
             1: pear
        [1 of 3 matches in 1 file; narrow the search, raise `limit`, or set mode to count]
        changed: 
        Grep {"literal":true,"pattern":"("}
        [no match]
        changed: 
        Grep {"pattern":"("}
        error: the pattern is not a valid regular expression: unclosed group
            (
            ^; correct it, or set `literal` to search for a literal string
        Grep {"path":"nowhere","pattern":"x"}
        error: `nowhere` does not exist
    "#]],
    );
}

#[test]
fn grep_searches_files_and_documents_together() {
    let mut desk =
        view_desk(&[("a.log", "start\nerror one\nend\n"), ("b.log", "fine\n"), ("c.md", "error two\n")]);
    desk.put(&path("scratch/n.log"), "error three\n").unwrap();
    check(
        &mut desk,
        "Grep",
        &json!({"pattern": "error"}),
        &expect![[r#"
        input/contexts/a.log (1 match)
             2: error one
        input/contexts/c.md (1 match)
             1: error two
        scratch/n.log (1 match)
             1: error three
        [3 matches in 3 files]
        changed: 
    "#]],
    );
    check(
        &mut desk,
        "Grep",
        &json!({"pattern": "error", "glob": ["*.log", "!n.log"], "context": 1}),
        &expect![[r#"
            input/contexts/a.log (1 match)
                 1- start
                 2: error one
                 3- end
            [1 match in 1 file]
            changed: 
        "#]],
    );
    check(
        &mut desk,
        "Grep",
        &json!({"pattern": "error", "path": "input/contexts/c.md"}),
        &expect![[r#"
        input/contexts/c.md (1 match)
             1: error two
        [1 match in 1 file]
        changed: 
    "#]],
    );
}

#[test]
fn neighbouring_matches_share_their_context() {
    let mut desk = desk();
    desk.put(&path("scratch/n"), "a\nx\nb\nx\nc\nd\ne\nx\n").unwrap();
    check(
        &mut desk,
        "Grep",
        &json!({"pattern": "x", "path": "scratch/n", "context": 1}),
        &expect![[r#"
        scratch/n (3 matches)
             1- a
             2: x
             3- b
             4: x
             5- c
        --
             7- e
             8: x
        [3 matches in 1 file]
        changed: 
    "#]],
    );
}

#[test]
fn glob_works_like_an_ignore_file() {
    let mut desk = desk();
    check(
        &mut desk,
        "Glob",
        &json!({"pattern": "*.md"}),
        &expect![[r#"
        input/prompt.md
        scratch/deep/more.md
        [2 files]
        changed: 
    "#]],
    );
    check(
        &mut desk,
        "Glob",
        &json!({"pattern": "scratch/*"}),
        &expect![[r#"
        scratch/deep/more.md
        scratch/words.txt
        [2 files]
        changed: 
    "#]],
    );
    check(
        &mut desk,
        "Glob",
        &json!({"pattern": ["**", "!*.md"]}),
        &expect![[r#"
        scratch/words.txt
        [1 file]
        changed: 
    "#]],
    );
    check(
        &mut desk,
        "Glob",
        &json!({"pattern": "*.md", "path": "scratch"}),
        &expect![[r#"
        scratch/deep/more.md
        [1 file]
        changed: 
    "#]],
    );
    check(
        &mut desk,
        "Glob",
        &json!({"pattern": "/deep/", "path": "scratch"}),
        &expect![[r#"
        scratch/deep/more.md
        [1 file]
        changed: 
    "#]],
    );
    check(
        &mut desk,
        "Glob",
        &json!({"pattern": "../*"}),
        &expect![[r#"
        [no file matches; list a directory with Shell `ls /`]
        changed: 
    "#]],
    );
    check(
        &mut desk,
        "Glob",
        &json!({"pattern": "[z-a"}),
        &expect![[r#"
        error: `[z-a` is not a valid glob: invalid range; 'z' > 'a'
    "#]],
    );
    check(
        &mut desk,
        "Glob",
        &json!({"pattern": "*", "limit": 1}),
        &expect![[r#"
        input/prompt.md
        [1 of 3 files; narrow the pattern or raise `limit`]
        changed: 
    "#]],
    );
}

#[test]
fn chunk_writes_a_manifest_of_places() {
    let mut desk = view_desk(&[("guide.md", "# One\na\nb\n\n## Two\nc é\n")]);
    let arguments = json!({"path": "input/contexts/guide.md", "by": "headings"});
    check(
        &mut desk,
        "Chunk",
        &arguments,
        &expect![[r#"
        `input/contexts/guide.md` (6 lines, 23 bytes, about 6 tokens) in 2 chunks
            0  lines 1-4  bytes 0-11  ~3 tokens  One
            1  lines 5-6  bytes 11-23  ~3 tokens  Two
        [written to `cache/indexes/guide.md_chunks.json` and `cache/indexes/guide.md_headings_index.json`; read a chunk with Read, by its lines]
        changed: cache/indexes/guide.md_chunks.json cache/indexes/guide.md_headings_index.json
    "#]],
    );
    let text = |desk: &Desk, at: &str| desk.text(&path(at)).unwrap().into_owned();
    expect![[r#"
        {"source_file":"input/contexts/guide.md","total_lines":6,"total_bytes":23,"total_tokens":6,"chunk_method":"headings","chunk_size":2000,"chunk_overlap":0,"chunk_count":2,"chunks":[{"index":0,"chunk_id":"0000-aab8a916778a","start_line":1,"end_line":4,"start_byte":0,"end_byte":11,"token_estimate":3,"heading":"One"},{"index":1,"chunk_id":"0001-fafcb0bc8f52","start_line":5,"end_line":6,"start_byte":11,"end_byte":23,"token_estimate":3,"heading":"Two"}]}
    "#]].assert_eq(&text(&desk, "cache/indexes/guide.md_chunks.json"));
    expect![[r#"
        {"source_file":"input/contexts/guide.md","entries":[{"type":"heading","level":1,"title":"One","line":1},{"type":"heading","level":2,"title":"Two","line":5}]}
    "#]].assert_eq(&text(&desk, "cache/indexes/guide.md_headings_index.json"));
    check(
        &mut desk,
        "Chunk",
        &json!({"path": "input/contexts/guide.md", "by": "lines", "size": 2, "overlap": 1}),
        &expect![[r#"
            `input/contexts/guide.md` (6 lines, 23 bytes, about 6 tokens) in 5 chunks
                0  lines 1-2  bytes 0-8  ~2 tokens
                1  lines 2-3  bytes 6-10  ~1 tokens
                2  lines 3-4  bytes 8-11  ~1 tokens
                3  lines 4-5  bytes 10-18  ~2 tokens
                4  lines 5-6  bytes 11-23  ~3 tokens
            [written to `cache/indexes/guide.md_chunks.json`; read a chunk with Read, by its lines]
            changed: cache/indexes/guide.md_chunks.json
        "#]],
    );
}

#[test]
fn chunk_refuses_what_would_never_end_or_makes_no_sense() {
    let mut desk = desk();
    check(
        &mut desk,
        "Chunk",
        &json!({"path": "input/prompt.md", "by": "lines", "size": 5, "overlap": 3}),
        &expect![[r#"
            error: invalid arguments for Chunk: `overlap` (3) must be at most half of `size` (5)
        "#]],
    );
    desk.put(&path("scratch/lines.txt"), "x\n".repeat(50_001)).unwrap();
    check(
        &mut desk,
        "Chunk",
        &json!({"path": "scratch/lines.txt", "by": "lines", "size": 1}),
        &expect![[r#"
            error: invalid arguments for Chunk: `scratch/lines.txt` would be split into more than 50000 chunks; increase `size`
        "#]],
    );
    let arguments =
        json!({"path": "scratch/lines.txt", "by": "lines", "size": 1_000_000, "overlap": 999_999});
    check(
        &mut desk,
        "Chunk",
        &arguments,
        &expect![[r#"
            error: invalid arguments for Chunk: `overlap` (999999) must be at most half of `size` (1000000)
        "#]],
    );
    check(
        &mut desk,
        "Chunk",
        &json!({"path": "input/prompt.md", "size": 0}),
        &expect![[r#"
        error: invalid arguments for Chunk: `size` must be between 1 and 1000000, not 0
    "#]],
    );
    desk.put(&path("scratch/a.py"), "# a comment\nprint(1)\n").unwrap();
    check(
        &mut desk,
        "Chunk",
        &json!({"path": "scratch/a.py", "by": "headings"}),
        &expect![[r#"
        error: invalid arguments for Chunk: `scratch/a.py` has no headings; split it by tokens or lines
    "#]],
    );
    desk.put(&path("scratch/bin"), vec![0, 159, 146, 150]).unwrap();
    check(
        &mut desk,
        "Chunk",
        &json!({"path": "scratch/bin"}),
        &expect![[r#"
        error: `scratch/bin` is a binary file of 4 bytes
    "#]],
    );
    check(
        &mut desk,
        "Chunk",
        &json!({"path": "input/prompt.md", "by": "pages"}),
        &expect![[r#"
        error: invalid arguments for Chunk: unknown variant `pages`, expected one of `tokens`, `lines`, `paragraphs`, `headings`
    "#]],
    );
}

#[test]
fn two_files_of_one_name_have_two_manifests() {
    let mut desk = desk();
    desk.put(&path("scratch/a/x.md"), "one\n").unwrap();
    desk.put(&path("scratch/b/x.md"), "two\n").unwrap();
    for at in ["scratch/a/x.md", "scratch/b/x.md", "scratch/a/x.md", "scratch/b/x.md"] {
        run_tool(&mut desk, "Chunk", &json!({"path": at})).unwrap();
    }
    let names: Vec<String> =
        desk.list(&path("cache/indexes")).unwrap().into_iter().map(|(name, _)| name).collect();
    expect![[r#"
        [
            "x.md-4325ce94_chunks.json",
            "x.md_chunks.json",
        ]
    "#]]
    .assert_debug_eq(&names);
}

#[test]
fn a_character_across_two_reads_is_shown_once() {
    let mut desk = view_desk(&[("a.txt", &"aé日".repeat(50))]);
    desk.put(&path("scratch/a.txt"), "aé日".repeat(50)).unwrap();
    for at in ["input/contexts/a.txt", "scratch/a.txt"] {
        for limit in 4..9 {
            let (mut whole, mut offset) = (String::new(), 0);
            for _ in 0..100 {
                let arguments = json!({"path": at, "byte_offset": offset, "byte_limit": limit});
                let told = run_tool(&mut desk, "Read", &arguments).unwrap();
                let (text, note) = told.split_once('\n').unwrap();
                whole.push_str(text);
                let Some((_, next)) = note.split_once("byte_offset=") else { break };
                offset = next.trim_end_matches(['\n', ']']).parse().unwrap();
            }
            assert_eq!(whole, "aé日".repeat(50), "{at} by {limit}");
        }
    }
}
