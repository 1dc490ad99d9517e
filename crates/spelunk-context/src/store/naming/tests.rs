use super::*;

fn named(paths: &[&str], taken: &[&str]) -> Vec<String> {
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    let ids = ids_for(&paths, "p:", |id| taken.contains(&id)).unwrap();
    ids.iter().map(|id| id.as_str().to_owned()).collect()
}

#[test]
fn a_stem_is_enough_where_it_is_the_only_one() {
    assert_eq!(named(&["/x/a.md", "/x/b.md"], &[]), ["p:a", "p:b"]);
}

#[test]
fn names_grow_by_extension_and_then_by_directories() {
    assert_eq!(named(&["/x/a.md", "/x/a.py"], &[]), ["p:a.md", "p:a.py"]);
    assert_eq!(named(&["/x/a.md", "/y/a.md"], &[]), ["p:x:a.md", "p:y:a.md"]);
    assert_eq!(named(&["/x/z/a.md", "/y/z/a.md"], &[]), ["p:x:z:a.md", "p:y:z:a.md"]);
    assert_eq!(named(&["/x/a.md"], &["p:a"]), ["p:a.md"]);
    assert_eq!(named(&["/x/a.md"], &["p:a", "p:a.md", "p:x:a.md"]), ["p:a.md#2"]);
}

#[test]
fn the_order_of_files_does_not_matter() {
    assert_eq!(named(&["/x/a.py", "/y/a.md", "/x/a.md"], &[]), ["p:a.py", "p:y:a.md", "p:x:a.md"]);
    assert_eq!(named(&["/x/a.md", "/x/a.py", "/y/a.md"], &[]), ["p:x:a.md", "p:a.py", "p:y:a.md"]);
}

#[test]
fn strange_names_still_give_ids() {
    let long = format!("/x/{}.md", "n".repeat(250));
    let other = format!("/x/{}.py", "n".repeat(250));
    let ids = named(&[&long, &other, "/x/a\nb", "/x/ c .md"], &[]);
    assert_eq!(ids[0], format!("p:{}.md", "n".repeat(195)));
    assert_eq!(ids[1], format!("p:{}.py", "n".repeat(195)));
    assert_eq!(&ids[2..], ["p:a\\nb", "p:c"]);
}

#[test]
fn many_files_that_only_a_number_tells_apart_all_get_one() {
    let paths = vec!["/a"; 300];
    let mut ids = named(&paths, &[]);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 300);
}

#[test]
fn a_reserved_word_is_no_id_of_a_file() {
    let ids = ids_for(&[PathBuf::from("/x/stats.csv")], "", |_| false).unwrap();
    assert_eq!(ids[0].as_str(), "stats.csv");
}
