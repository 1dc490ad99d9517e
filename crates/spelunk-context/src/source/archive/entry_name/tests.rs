use super::*;

#[test]
fn names_that_stay_inside_are_made_plain() {
    for (raw, safe) in [
        ("a.txt", "a.txt"),
        ("./a//b/./c.txt", "a/b/c.txt"),
        ("win\\dows\\a.txt", "win/dows/a.txt"),
        ("a/..b/c..", "a/..b/c.."),
        ("a\nb", "a\\nb"),
        ("日本/é.txt", "日本/é.txt"),
    ] {
        assert_eq!(safe_name(raw).as_deref(), Some(safe));
    }
}

#[test]
fn names_that_point_out_are_refused() {
    let long = "a".repeat(5000);
    for raw in [
        "",
        "/",
        ".",
        "/etc/passwd",
        "..",
        "../a",
        "a/../../b",
        "a/..",
        "..\\a",
        "\\\\host\\a",
        "C:\\a",
        "c:a",
        "a\0b",
        &long,
    ] {
        assert_eq!(safe_name(raw), None, "{raw:?}");
    }
}
