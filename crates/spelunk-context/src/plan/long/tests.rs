use expect_test::expect;
use proptest::prelude::*;
use spelunk_types::Limits;
use tempfile::TempDir;

use super::*;
use crate::kind::Detector;
use crate::split::{Mode, render, slice};
use crate::testing::{append, put, scan, tree};
use crate::{View, lines};

/// A document that is surveyed in segments of a few bytes.
struct Stage {
    view: View,
    surveyed: Surveyed,
    directory: TempDir,
}

fn limits() -> Limits {
    Limits {
        chunk_tokens_max: 40,
        chunk_narrow_rows: 3,
        chunk_other_lines: 3,
        chunk_prose_lines: 3,
        chunk_code_lines: 3,
        ..Limits::default()
    }
}

fn stage(name: &str, text: &str, segment_bytes_max: u64) -> Stage {
    let directory = tree(&[(name, text)]);
    let view = View::of(Arc::new(scan(&[&directory.path().join(name)]).unwrap()));
    let options = PlanOptions {
        limits: limits(),
        detector: Detector::default(),
        mode: Mode::ByType,
        files_left_out: 0,
    };
    let document = view.documents().next().unwrap().clone();
    let reader = Reader::of_document(&view, &document).unwrap();
    let partitioner = Partitioner::new(&options.limits, options.mode);
    let surveyed = survey_long(&reader, &document, &options, partitioner, segment_bytes_max).unwrap();
    Stage { view, surveyed, directory }
}

impl Stage {
    /// The text that the spans of a chunk refer to, as an analyst gets it.
    fn text(&self, chunk: &Chunk) -> String {
        let document = self.view.documents().next().unwrap();
        self.view.read_part(document, chunk.segment.as_ref()).unwrap()
    }

    /// The text of all chunks in order, with the whitespace that was left out. Asserts that nothing else is missing,
    /// that nothing is repeated, and that lines are those of the document.
    fn joined(&self) -> String {
        let document = self.view.documents().next().unwrap();
        let reader = Reader::of_document(&self.view, document).unwrap();
        let mut joined = String::new();
        let (mut end, mut text, mut at) = (0, String::new(), 0);
        let mut indexes = Vec::new();
        let pass_over = |joined: &mut String, passed_over: &str| {
            assert_eq!(passed_over.trim_ascii(), "");
            joined.push_str(passed_over);
        };
        for chunk in &self.surveyed.chunks {
            let segment = chunk.segment.as_ref().unwrap();
            if segment.bytes.end != end {
                pass_over(&mut joined, slice(&text, at..text.len()));
                pass_over(&mut joined, &reader.slice(end..segment.bytes.start).unwrap());
                (end, text, at) = (segment.bytes.end, self.text(chunk), segment.prelude.len());
            }
            let [start, behind] = [chunk.span.start, chunk.span.end].map(|at| usize::try_from(at).unwrap());
            pass_over(&mut joined, slice(&text, at..start));
            let own = slice(&text, start..behind);
            let first = 1 + count_newlines(joined.as_bytes());
            let last = first + count_newlines(own.as_bytes()) - u64::from(own.ends_with('\n'));
            assert_eq!((chunk.shell.is_some(), &chunk.lines), (false, &(first..=last)));
            assert_eq!(chunk.tokens_estimate, estimate_tokens(render(chunk, &text).len() as u64));
            indexes.push(chunk.index);
            joined.push_str(own);
            at = behind;
        }
        pass_over(&mut joined, slice(&text, at..text.len()));
        pass_over(&mut joined, &reader.slice(end..reader.bytes()).unwrap());
        assert!(indexes.is_sorted_by(|a, b| a < b), "{indexes:?}");
        let Surveyed { row, chunks } = &self.surveyed;
        assert!(chunks.iter().all(|chunk| chunk.index < chunk.n_chunks));
        assert_eq!((row.bytes, row.lines), (joined.len() as u64, lines::count_lines(&joined)));
        joined
    }

    /// What analysts read, one block per chunk.
    fn rendered(&self) -> String {
        let block = |chunk: &Chunk| {
            let segment = &chunk.segment.as_ref().unwrap().bytes;
            let rendered = render(chunk, &self.text(chunk));
            let numbered = rendered.split_inclusive('\n').zip(1..).map(|(line, n)| match chunk.line_of(n) {
                Some(number) => format!("{number}| {line}"),
                None => format!("| {line}"),
            });
            format!("{segment:?}\n{}\n", numbered.collect::<String>().trim_end())
        };
        self.surveyed.chunks.iter().map(block).collect()
    }
}

/// A text repeated with numbers from 1.
fn numbered(n: usize, text: &str) -> String {
    (1..=n).map(|n| text.replace('#', &n.to_string())).collect()
}

#[test]
fn segments_give_every_byte_once_and_in_order() {
    let texts = [
        ("one line without an end", "word ".repeat(200)),
        ("one line of one word", "x".repeat(1000)),
        ("lines", numbered(100, "line #\n")),
        ("a line that is longer than a segment", format!("a\n{}\nb\n", "word ".repeat(60))),
        ("characters of several bytes", "äöü€🦀".repeat(60)),
        ("line ends of two bytes", "one\r\ntwo\r\n\r\nthree\r\n".repeat(20)),
    ];
    for (what, text) in texts {
        for segment_bytes_max in [64, 65, 66, 67, 100, 5000] {
            let stage = stage("a.txt", &text, segment_bytes_max);
            assert_eq!(stage.joined(), text, "{what} in segments of {segment_bytes_max}");
            assert!(stage.surveyed.chunks.iter().all(|chunk| {
                let Range { start, end } = chunk.segment.as_ref().unwrap().bytes;
                end - start <= segment_bytes_max
            }));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_is_given_whole(text in "[a-c \n\r,\"é€🦀]{1,300}", segment_bytes_max in 4_u64..200) {
        for name in ["a.txt", "a.csv", "a.md", "a.py", "a.json", "a.jsonl"] {
            let stage = stage(name, &text, segment_bytes_max);
            prop_assert_eq!(stage.joined(), text.as_str());
        }
    }
}

#[test]
fn rows_of_every_segment_stand_under_the_header() {
    let rows = numbered(10, "#,row #\n");
    let stage = stage("a.csv", &format!("id,name\n{rows}"), 40);
    assert_eq!(stage.surveyed.row.units, Units::Rows(10));
    expect![[r"
        0..40
        1| id,name
        2| 1,row 1
        3| 2,row 2
        4| 3,row 3
        0..40
        1| id,name
        5| 4,row 4
        40..80
        1| id,name
        6| 5,row 5
        7| 6,row 6
        8| 7,row 7
        40..80
        1| id,name
        9| 8,row 8
        10| 9,row 9
        80..90
        1| id,name
        11| 10,row 10
    "]]
    .assert_eq(&stage.rendered());
}

#[test]
fn code_of_every_segment_stands_under_the_imports() {
    let functions = numbered(6, "def f#():\n    return #\n\n");
    let stage = stage("a.py", &format!("# Lots.\nimport os\n{functions}"), 80);
    assert_eq!(stage.joined(), format!("# Lots.\nimport os\n{functions}"));
    let last = stage.surveyed.chunks.last().unwrap();
    assert_eq!(render(last, &stage.text(last)), "import os\n    return 6\n\n");
    assert_eq!((last.line_of(1), last.line_of(2)), (Some(2), Some(19)));
}

#[test]
fn a_secret_across_a_boundary_is_kept_back_on_both_sides() {
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let text = format!("{} {secret} {}", "word".repeat(20), "word".repeat(20));
    for segment_bytes_max in 82..120 {
        let joined = stage("a.txt", &text, segment_bytes_max).joined();
        let mark = "[secret:github-token]";
        assert_eq!(joined.replace(mark, ""), text.replace(secret, ""), "{segment_bytes_max}");
        assert!(joined.contains(mark));
    }
}

#[test]
fn blank_segments_are_nobodys_task_and_keep_their_lines() {
    let stage = stage("a.txt", &format!("first\n{}last\n", "\n".repeat(500)), 64);
    let places: Vec<_> = stage.surveyed.chunks.iter().map(|chunk| chunk.lines.clone()).collect();
    assert_eq!(places, [1..=3, 501..=502]);
    assert_eq!((stage.surveyed.row.lines, stage.surveyed.row.n_chunks), (502, 2));
}

#[test]
fn lines_of_json_are_sketched_from_both_ends() {
    let early = "{\"id\": 1, \"old\": true}\n".repeat(1000);
    let late = "{\"id\": 1, \"new\": true}\n".repeat(1000);
    let surveyed = stage("a.jsonl", &(early.clone() + &late), early.len() as u64).surveyed;
    let schema = surveyed.row.schema.unwrap();
    let records = schema.records.as_ref().unwrap();
    assert_eq!(
        (&records.only_early, &records.only_late),
        (&vec![".old".to_owned()], &vec![".new".to_owned()])
    );
    assert_eq!(
        (schema.text.as_str(), schema.bytes),
        ("2000 lines of {id: integer, old?: boolean, new?: boolean}", 46_000)
    );
}

#[test]
fn a_segment_of_a_file_that_changed_is_not_read() {
    let stage = stage("a.txt", &"word\n".repeat(100), 60);
    let (chunk, document) = (stage.surveyed.chunks.last().unwrap(), stage.view.documents().next().unwrap());
    let read = || stage.view.read_part(document, chunk.segment.as_ref()).map_err(|error| error.to_string());
    append(stage.directory.path(), "a.txt", b"more");
    assert_eq!(read(), Ok("word\n".repeat(4)));
    put(stage.directory.path(), "a.txt", "WORD\n".repeat(100).as_bytes());
    assert_eq!(read(), Err("`a.txt` changed since it was scanned".to_owned()));
}
