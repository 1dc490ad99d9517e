use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::source::archive::tests::claiming_to_be_large;

/// A document with this body.
pub(crate) fn docx(body: &str) -> Vec<u8> {
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">\
         <w:body>{body}</w:body></w:document>"
    );
    part("word/document.xml", &xml)
}

fn part(name: &str, text: &str) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file(name, SimpleFileOptions::default()).unwrap();
    writer.write_all(text.as_bytes()).unwrap();
    writer.finish().unwrap().into_inner()
}

#[test]
fn paragraphs_headings_and_tables_are_kept() {
    let body = "<w:p><w:pPr><w:pStyle w:val=\"Title\"/></w:pPr><w:r><w:t>The title</w:t></w:r></w:p>\
        <w:p><w:pPr><w:pStyle w:val=\"Heading2\"/></w:pPr><w:r><w:t>A section</w:t></w:r></w:p>\
        <w:p><w:r><w:t>Some </w:t></w:r><w:r><w:t xml:space=\"preserve\">text &amp; &#228;</w:t><w:tab/><w:t>more</w:t><w:br/><w:t>next</w:t></w:r></w:p>\
        <w:p/>\
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p><w:p><w:r><w:t>c</w:t></w:r></w:p></w:tc></w:tr>\
        <w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>\
        <w:p><w:r><w:t>end</w:t></w:r></w:p>";
    check(
        ExtractKind::Docx,
        &docx(body),
        "# The title\n\n## A section\n\nSome text & ä\tmore\nnext\n\na\tb c\n1\t\n\nend\n\n",
    );
}

#[test]
fn deleted_text_field_codes_and_fallbacks_are_left_out() {
    let body = "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText></w:r>\
        <mc:AlternateContent><mc:Choice><w:r><w:t>shown</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>twice</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>";
    check(ExtractKind::Docx, &docx(body), "shown\n\n");
}

#[test]
fn tables_in_tables_end_up_in_the_outer_cell() {
    let cell = |text: &str| format!("<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>");
    let inner = format!("<w:tbl><w:tr>{}{}</w:tr></w:tbl>", cell("x"), cell("y"));
    let body = format!("<w:tbl><w:tr><w:tc>{inner}<w:p/></w:tc>{}</w:tr></w:tbl>", cell("z"));
    check(ExtractKind::Docx, &docx(&body), "x y\tz\n\n");
}

#[test]
fn what_is_not_a_document_is_damage() {
    let damaged = |what: &str| Err(ExtractError::Damaged { what: what.to_owned() });
    assert_eq!(
        extract(ExtractKind::Docx, b"plain text"),
        damaged("invalid Zip archive: Could not find EOCD")
    );
    assert_eq!(extract(ExtractKind::Docx, &part("a.txt", "x")), damaged("it has no `word/document.xml`"));
    assert_eq!(extract(ExtractKind::Docx, &docx("")), Err(ExtractError::NoText));
    let torn = part("word/document.xml", "<w:document><w:p></w:q>");
    assert_eq!(
        extract(ExtractKind::Docx, &torn),
        damaged("ill-formed document: expected `</w:p>`, but `</w:q>` was found")
    );
}

#[test]
fn a_document_that_unpacks_to_far_more_than_it_is_is_too_large() {
    let bomb = docx(&format!("<w:p><w:t>{}</w:t></w:p>", "a".repeat(10_000_000)));
    assert_eq!(extract(ExtractKind::Docx, &bomb), Err(ExtractError::TooLarge));
    assert_eq!(extract(ExtractKind::Docx, &claiming_to_be_large(bomb)), Err(ExtractError::TooLarge));
}

#[test]
fn what_is_said_about_damage_is_short_and_can_be_printed() {
    let tag = format!("w:\u{1b}[31m{}", "x".repeat(5000));
    let Err(ExtractError::Damaged { what }) = extract(ExtractKind::Docx, &docx(&format!("<{tag}></w:p>")))
    else {
        panic!("it is damaged")
    };
    assert_eq!(what.chars().count(), 200);
    assert!(what.starts_with("ill-formed document: expected `</w:\\u{1b}[31mxxx"), "{what}");
}

#[test]
fn entities_of_its_own_are_not_expanded() {
    let xml = "<!DOCTYPE d [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><w:document><w:p><w:r><w:t>x&b;y</w:t></w:r></w:p></w:document>";
    check(ExtractKind::Docx, &part("word/document.xml", xml), "xy\n\n");
}
