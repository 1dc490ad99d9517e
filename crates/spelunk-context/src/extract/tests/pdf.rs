use super::*;

/// A PDF of these objects, of which the first is the catalog, with a correct cross-reference table.
fn assemble(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (idx, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", pdf.len());
        pdf += &format!("{} 0 obj\n{object}\nendobj\n", idx + 1);
    }
    let start = pdf.len();
    pdf += &format!(
        "{table}trailer\n<< /Size {} /Root 1 0 R {trailer}>>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    pdf.into_bytes()
}

/// A PDF with one page per content, all in one Latin font.
pub(crate) fn pdf(pages: &[&str]) -> Vec<u8> {
    let stream = |content: &&str| format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len());
    pdf_of(&pages.iter().map(stream).collect::<Vec<_>>())
}

/// The same with complete streams.
fn pdf_of(streams: &[String]) -> Vec<u8> {
    let kids: Vec<String> = (0..streams.len()).map(|idx| format!("{} 0 R", 4 + idx * 2)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), streams.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (idx, stream) in streams.iter().enumerate() {
        let next = &kids[(idx + 1) % kids.len()];
        let link =
            format!("<< /Subtype /Link /Rect [0 0 9 9] /Dest [{next} /Fit] /Contents (to the next) >>");
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R /Annots [{link}] \
             /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + idx * 2
        ));
        objects.push(stream.clone());
    }
    assemble(&objects, "")
}

#[track_caller]
fn check_pdf(pages: &[&str], expected: &str) {
    check(ExtractKind::Pdf, &pdf(pages), expected);
}

#[test]
fn lines_and_pages_are_kept_apart() {
    check_pdf(
        &[
            "BT /F1 12 Tf 72 720 Td (First line) Tj 0 -14 Td (Second line) Tj ET",
            "BT /F1 12 Tf 72 720 Td (Page two) Tj ET",
        ],
        "First line\nSecond line\n\nPage two\n\n",
    );
    check_pdf(&["BT /F1 12 Tf 14 TL (a) Tj T* (b) Tj (c) ' 0 0 (d) \" ET"], "a\nb\nc\nd\n\n");
    check_pdf(
        &["BT /F1 9 Tf 1 0 0 1 72 700 Tm (x) Tj 1 0 0 1 90 700 Tm (y) Tj 1 0 0 1 72 680 Tm (z) Tj ET"],
        "x y\nz\n\n",
    );
}

#[test]
fn words_are_parted_by_gaps_and_not_by_kerning() {
    check_pdf(&["BT /F1 12 Tf [(Hel) 20 (lo) -300 (wor) -50 (ld)] TJ ET"], "Hello world\n\n");
}

#[test]
fn letters_beyond_ascii_are_read_by_the_encoding_of_the_font() {
    check_pdf(&["BT /F1 12 Tf (caf\\351 \\200) Tj <4142> Tj ET"], "café €AB\n\n");
}

/// A page that draws the form `X`, given with its own entries.
fn pdf_with_form(entries: &str, content: &str) -> Vec<u8> {
    let page = "BT /F1 12 Tf (page) Tj ET /X Do";
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources 6 0 R >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{page}\nendstream", page.len()),
        format!(
            "<< /Type /XObject {entries} /Resources 6 0 R /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ),
        "<< /Font << /F1 7 0 R >> /XObject << /X 5 0 R >> >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    assemble(&objects, "")
}

#[test]
fn forms_drawn_on_a_page_are_read_and_pictures_are_not() {
    let content = "BT /F1 12 Tf 0 -20 Td (form) Tj ET";
    check(ExtractKind::Pdf, &pdf_with_form("/Subtype /Form", content), "page\nform\n\n");
    check(ExtractKind::Pdf, &pdf_with_form("/Subtype /Image", content), "page\n\n");
}

#[test]
fn a_form_that_draws_itself_is_drawn_once() {
    let text = extract(ExtractKind::Pdf, &pdf_with_form("/Subtype /Form", "BT /F1 12 Tf (x) Tj T* ET /X Do"))
        .unwrap();
    assert_eq!(text, "page x\n\n");
    let wide = "/X Do ".repeat(10);
    assert_eq!(extract(ExtractKind::Pdf, &pdf_with_form("/Subtype /Form", &wide)).as_deref(), Ok("page\n\n"));
}

#[test]
fn pages_without_text_are_no_text() {
    assert_eq!(extract(ExtractKind::Pdf, &pdf(&["0 0 100 100 re f"])), Err(ExtractError::NoText));
}

#[test]
fn what_is_not_a_pdf_is_damage() {
    let damaged = |what: &str| Err(ExtractError::Damaged { what: what.to_owned() });
    assert_eq!(extract(ExtractKind::Pdf, b"plain text"), damaged("it does not begin with a PDF header"));
    assert_eq!(extract(ExtractKind::Pdf, b"%PDF-1.4\n"), damaged("failed parsing cross reference table"));
}

#[test]
fn a_page_tree_that_contains_itself_ends() {
    let objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"]
        .map(str::to_owned);
    assert_eq!(extract(ExtractKind::Pdf, &assemble(&objects, "")), Err(ExtractError::NoText));
}

#[test]
fn brackets_without_end_are_survived() {
    let deep = format!("BT /F1 12 Tf (a) Tj ET {}", "[".repeat(100_000));
    drop(extract(ExtractKind::Pdf, &pdf(&[&deep])));
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("{}{}", "[".repeat(50_000), "<<".repeat(50_000)),
    ];
    drop(extract(ExtractKind::Pdf, &assemble(&objects, "")));
}

#[test]
fn an_encrypted_pdf_is_said_to_be_one() {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [] /Count 0 >>".to_owned(),
        format!("<< /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <{0}> /U <{0}> >>", "ab".repeat(32)),
    ];
    let id = "cd".repeat(16);
    let pdf = assemble(&objects, &format!("/Encrypt 3 0 R /ID [<{id}> <{id}>] "));
    assert_eq!(extract(ExtractKind::Pdf, &pdf), Err(ExtractError::Encrypted));
}

#[test]
fn a_stream_that_unpacks_to_far_more_than_it_is_costs_its_page_only() {
    use std::io::Write as _;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&vec![b' '; 70_000_000]).unwrap();
    let packed = encoder.finish().unwrap();
    let hex = packed.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let bomb = format!(
        "<< /Length {} /Filter [/ASCIIHexDecode /FlateDecode] >>\nstream\n{hex}>\nendstream",
        hex.len() + 1
    );
    let good = "BT /F1 12 Tf (good) Tj ET";
    let good = format!("<< /Length {} >>\nstream\n{good}\nendstream", good.len());
    check(ExtractKind::Pdf, &pdf_of(&[bomb, good]), "good\n\n");
}

#[test]
fn no_cut_and_no_flipped_byte_gets_out_as_a_panic() {
    let pdf = pdf(&["BT /F1 12 Tf 72 720 Td [(Hel) 20 (lo)] TJ ET"]);
    for at in 0..pdf.len() {
        drop(extract(ExtractKind::Pdf, &pdf[..at]));
        let mut flipped = pdf.clone();
        flipped[at] ^= 0x11;
        drop(extract(ExtractKind::Pdf, &flipped));
    }
}

#[test]
fn a_panic_in_the_reader_is_damage() {
    let outcome: Result<String, _> = quiet::catch(|| panic!("a bug in a library"));
    assert_eq!(outcome, Err(ExtractError::Damaged { what: "its reader stopped".to_owned() }));
}
