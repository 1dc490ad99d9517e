use expect_test::expect;

use super::*;
use crate::store::tests::{explain, ids, in_memory, open};
use crate::testing::{put, tree};

const GRAPH: &str = r#"{"nodes": [
  {"id": 1, "label": "Langley", "type": "project", "domain": "work", "access_count": 3, "description": "A house\nby the sea"},
  {"id": "n2", "label": "John", "type": "person", "domain": "work", "access_count": 9},
  {"id": "n3", "domain": "home"}
], "edges": [{"source": 1, "target": "n2"}, {"from": "n2", "to": "n3"}]}"#;

#[test]
fn a_graph_gives_an_overview_and_a_view_of_each_domain() {
    let files = tree(&[("g.json", GRAPH)]);
    let store = in_memory();
    let contexts = Factory::new(&store).from_memory_graph(&files.path().join("g.json")).unwrap();
    assert_eq!(ids(&contexts), ["memory:graph_overview", "memory:domain:home", "memory:domain:work"]);
    expect![[r"
        Memory graph
        Nodes: 3
        Edges: 2

        Domains:
          - home (1)
          - work (2)

        Most used nodes (3 of 3):
          - John (person)
          - Langley (project)
          - n3 (node)
    "]]
    .assert_eq(&store.load("memory:graph_overview").unwrap());
    expect![[r"
        Domain: work
        Nodes: 2 of 2 shown

        [project] Langley
            A house by the sea
        [person] John
    "]]
    .assert_eq(&store.load("memory:domain:work").unwrap());
    assert_eq!(store.memory().cache_bytes, 0, "memory is asked, not kept");
    let again = Factory::new(&store).from_memory_graph(&files.path().join("g.json")).unwrap();
    assert_eq!(again.len(), 0);
}

#[test]
fn a_graph_of_lines_is_rendered_from_the_file_as_it_is_now_and_after_a_restart() {
    let files = tree(&[("g.jsonl", "{\"label\":\"a\",\"domain\":\"x:y\"}\n\n{\"from\":1,\"to\":2}\n")]);
    let directory = tempfile::tempdir().unwrap();
    Factory::new(&open(directory.path())).from_memory_graph(&files.path().join("g.jsonl")).unwrap();
    put(files.path(), "g.jsonl", b"{\"label\":\"b\",\"domain\":\"x:y\"}\n");
    let store = open(directory.path());
    assert_eq!(&*store.load("memory:domain:x:y").unwrap(), "Domain: x:y\nNodes: 1 of 1 shown\n\n[node] b\n");
}

#[test]
fn long_views_are_cut_and_say_so() {
    let node = |number: usize| {
        format!("{{\"label\":\"n{number}\",\"domain\":\"d\",\"description\":\"{}\"}}\n", "x".repeat(300))
    };
    let text: String = (0..60).map(node).collect();
    let files = tree(&[("g.jsonl", &text)]);
    let store = in_memory();
    Factory::new(&store).from_memory_graph(&files.path().join("g.jsonl")).unwrap();
    let domain = store.load("memory:domain:d").unwrap();
    let lines: Vec<&str> = domain.lines().collect();
    assert_eq!((lines[1], lines.len()), ("Nodes: 50 of 60 shown", 3 + 100));
    assert_eq!(lines[4], format!("    {}…", "x".repeat(99)));
    let overview = store.load("memory:graph_overview").unwrap();
    assert_eq!(overview.lines().filter(|line| line.starts_with("  - n")).count(), 20);
}

#[test]
fn what_is_no_graph_is_refused_by_line() {
    let files = tree(&[("g.jsonl", "{\"label\":\"a\"}\n[1]\n")]);
    let store = in_memory();
    let error = Factory::new(&store).from_memory_graph(&files.path().join("g.jsonl")).unwrap_err();
    let root = files.path().display().to_string();
    expect![[r"
        source-unreadable: `ROOT/g.jsonl` is not a memory graph: line 2 is neither a node nor an edge
        hint: give a JSON object with `nodes` and `edges`, or one node or edge per line"]]
    .assert_eq(&explain(&error).replace(&root, "ROOT"));
}

#[test]
fn the_name_of_a_loader_says_what_to_render() {
    let view = GraphView { path: "/a:b".into(), domain: Some("c:d".to_owned()) };
    assert_eq!(view.loader_name(), "memory-graph:domain:3:c:d:/a:b");
    assert_eq!(GraphView::from_loader_name(&view.loader_name()), Some(view));
    assert_eq!(GraphView::from_loader_name("memory-graph:domain:99:x:/a"), None);
    assert_eq!(GraphView::from_loader_name("other"), None);
}
