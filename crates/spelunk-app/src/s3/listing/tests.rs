//! Pages of lists, as servers write them and as they must not.

use super::*;

fn page(inner: &str) -> String {
    format!("<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"x\">{inner}</ListBucketResult>\n")
}

fn keys(inner: &str) -> Option<Vec<String>> {
    Some(read_listing(&page(inner))?.objects.into_iter().map(|entry| entry.key).collect())
}

fn object(key: &str) -> String {
    format!("<Contents><Key>{key}</Key><ETag>&quot;9b&quot;</ETag><Size>7</Size></Contents>")
}

#[test]
fn a_page_has_objects_and_leads_to_the_next() {
    let text = page(&format!(
        "<IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b</NextContinuationToken>{}",
        object("docs/a.md")
    ));
    let entry = ObjectEntry { key: "docs/a.md".into(), bytes: 7, etag: "9b".into() };
    assert_eq!(read_listing(&text), Some(Listing { objects: vec![entry], next: Some("a&b".into()) }));
    assert_eq!(read_listing(&page("<IsTruncated>false</IsTruncated>")), Some(Listing::default()));
}

#[test]
fn keys_are_read_whether_or_not_they_are_encoded() {
    let encoded = format!("<EncodingType>url</EncodingType>{}", object("a+b%2Bc/%0A%C3%A9%26"));
    assert_eq!(keys(&encoded), Some(vec!["a b+c/\né&".to_owned()]));
    assert_eq!(
        keys(&object("a+b%2B&lt;&#233;&#xe9;&amp;amp;&x;")),
        Some(vec!["a+b%2B<éé&amp;&x;".to_owned()])
    );
}

#[test]
fn what_is_not_a_list_is_none() {
    for text in ["", "<html></html>", "<ListBucketResult>", "<ListBucketResult></ListBucketResult"] {
        assert_eq!(read_listing(text), None, "{text}");
    }
    let long = object(&"k".repeat(1025));
    let encoded = |key| format!("<EncodingType>url</EncodingType>{}", object(key));
    for inner in [
        "<Contents><Key>a</Key></Contents>",
        "<IsTruncated>true</IsTruncated>",
        &long,
        &encoded("%f"),
        &encoded("%ff"),
        &encoded("%+1"),
    ] {
        assert_eq!(keys(inner), None, "{inner}");
    }
}

#[test]
fn of_an_error_only_letters_are_shown() {
    let of = |text: &str| code(&format!("<Error><Code>{text}</Code><Message>secret</Message></Error>"));
    assert_eq!(of("NoSuchBucket").as_deref(), Some("NoSuchBucket"));
    assert_eq!(of("\u{1b}[31mA b").as_deref(), Some("31mAb"));
    assert_eq!(of(&"A".repeat(100)).map(|code| code.len()), Some(64));
    assert_eq!(of("…"), None);
    assert_eq!(code("<html>"), None);
}
