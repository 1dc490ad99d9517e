//! Headers, hostile ones too, and what a scan makes of images.

use expect_test::expect;
use spelunk_types::ScanOptions;

use super::*;
use crate::extract::tests::pdf::pdf;
use crate::testing::{explain, names, put, remove, scan, skipped, tree};
use crate::{Corpus, ExtractKind, SourceInput, View, extract, pdf_pages};

/// The header of a PNG of this size.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend(b"\x08\x02\0\0\0");
    bytes
}

fn read(bytes: &[u8]) -> String {
    match ImageHeader::read(bytes) {
        Ok(ImageHeader { kind, width, height }) => format!("{} {width}x{height}", kind.name()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_header_tells_the_format_and_the_size() {
    assert_eq!(read(&png(640, 480)), "png 640x480");
    assert_eq!(read(b"GIF89a\x80\x02\xe0\x01\xf7"), "gif 640x480");
    // An application segment, a comment and padding before the frame.
    let jpeg = b"\xff\xd8\xff\xe0\x00\x04JF\xff\xfe\x00\x03c\xff\xff\xc2\x00\x11\x08\x01\xe0\x02\x80\x03";
    assert_eq!(read(jpeg), "jpeg 640x480");
    assert_eq!(read(b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01"), "webp 640x480");
    assert_eq!(read(b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x7f\xc2\x77\x00"), "webp 640x480");
    assert_eq!(read(b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0"), "webp 640x480");
}

#[test]
fn a_hostile_header_is_refused() {
    let damaged = "its header is damaged";
    assert_eq!(read(b""), "it is empty");
    assert_eq!(read(b"%PDF-1.7"), "it does not begin like a PNG, JPEG, GIF or WebP file");
    assert_eq!(read(b"<svg/>"), "it does not begin like a PNG, JPEG, GIF or WebP file");
    assert_eq!(read(b"RIFF\0\0\0\0WAVE"), "it does not begin like a PNG, JPEG, GIF or WebP file");
    assert_eq!(read(&png(100_000, 100_000)), "it is 100000 x 100000 pixels; the maximum is 8000 per side");
    assert_eq!(read(&png(8000, 8000)), "png 8000x8000");
    for wrong in [png(0, 5), png(5, 0), png(5, 5)[..20].to_vec(), b"\x89PNG\r\n\x1a\n\0\0\0\x0dIDAT".to_vec()]
    {
        assert_eq!(read(&wrong), damaged);
    }
    for wrong in [
        &b"\xff\xd8\xff"[..],
        b"\xff\xd8\xff\xe0\x00\x00\xff\xc0",
        b"\xff\xd8\xff\xe0\xff\xff",
        b"\xff\xd8\xff\xda\x00\x02",
        b"\xff\xd8\xff\xd9",
        b"\xff\xd8\xff\xc0\x00\x11\x08\x01",
        b"GIF89a\x80",
        b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\0\0\0\x80\x02\xe0\x01",
        b"RIFF\0\0\0\0WEBPALPH",
    ] {
        assert_eq!(read(wrong), damaged, "{wrong:?}");
    }
}

fn scan_seeing(paths: &[&std::path::Path]) -> Result<Corpus, SourceError> {
    let sources: Vec<_> = paths.iter().map(|path| SourceInput::Path(path.to_path_buf())).collect();
    Corpus::scan_for(None, &sources, &ScanOptions::default(), &mut |_| {})
}

fn listed(corpus: &Corpus) -> String {
    let line = |image: &ImageEntry| {
        format!("{} {} {} {}\n", image.name, image.kind.name(), image.bytes, image.is_named)
    };
    corpus.images().iter().map(line).collect()
}

/// Text strategies see what they saw before: the same documents, digest and skipped files.
#[test]
fn images_of_a_directory_are_listed_beside_its_documents() {
    let root = tree(&[("a.md", "text\n"), (".gitignore", "drafts\n"), ("logo.svg", "<svg/>")]);
    let without = scan(&[root.path()]).unwrap();
    for name in ["b.PNG", "figures/c.jpeg", ".hidden.png", "drafts/d.png", "node_modules/e.png", "id_rsa.png"]
    {
        put(root.path(), name, &png(2, 3));
    }
    put(root.path(), "photo.webp", b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x7f\xc2\x77\x00");
    let corpus = scan(&[root.path()]).unwrap();
    assert_eq!((names(&corpus), corpus.digest()), ("a.md\n".to_owned(), without.digest()));
    expect![[r#"
        b.PNG png 29 false
        figures/c.jpeg jpeg 29 false
        photo.webp webp 25 false
    "#]]
    .assert_eq(&listed(&corpus));
    expect![[r#"
        1 binary: photo.webp
        5 excluded: .hidden.png b.PNG figures/c.jpeg logo.svg node_modules/
        1 hidden: .gitignore
        1 ignored: drafts/
        1 secret: id_rsa.png
    "#]]
    .assert_eq(&skipped(&corpus));
    let view = View::of(Arc::new(corpus));
    assert_eq!(view.images().len(), 3);
    assert_eq!(view.narrow(|_| true).images(), []);
    assert_eq!(view.only([0]).images(), []);
}

#[test]
fn globs_decide_about_images_too() {
    let root = tree(&[("a.md", "text\n")]);
    put(root.path(), "b.png", &png(2, 3));
    put(root.path(), "figures/c.png", &png(2, 3));
    let listed_with = |include: &[&str], exclude: &[&str]| {
        let strings = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
        let options =
            ScanOptions { include: strings(include), exclude: strings(exclude), ..ScanOptions::default() };
        listed(&Corpus::scan(&[SourceInput::Path(root.path().into())], &options, &mut |_| {}).unwrap())
    };
    assert_eq!(listed_with(&["*.md"], &[]), "");
    assert_eq!(listed_with(&["*.md", "figures/**"], &[]), "figures/c.png png 29 false\n");
    assert_eq!(listed_with(&[], &["b.png"]), "figures/c.png png 29 false\n");
}

#[test]
fn a_named_image_is_a_source_for_a_reader_that_sees_and_an_error_for_others() {
    let root = tree(&[("a.md", "text\n")]);
    put(root.path(), "chart.png", &png(2, 3));
    let (chart, text) = (root.path().join("chart.png"), root.path().join("a.md"));
    let corpus = scan_seeing(&[&chart]).unwrap();
    assert_eq!((listed(&corpus), names(&corpus)), ("chart.png png 29 true\n".to_owned(), String::new()));
    assert_eq!(listed(&scan_seeing(&[&text, &chart]).unwrap()), "chart.png png 29 true\n");
    expect![[r#"
        source-unreadable: `chart.png` is an image, not text
        hint: ask about it with `spelunk ask` and a model that can see images"#]]
    .assert_eq(&explain(&scan(&[&text, &chart]).unwrap_err()));
    // A directory of nothing else is no text.
    remove(root.path(), "a.md");
    assert!(matches!(scan_seeing(&[root.path()]), Err(SourceError::Empty { .. })));
}

#[test]
fn an_image_is_read_up_to_its_limit_and_only_if_it_is_a_file() {
    let root = tree(&[]);
    put(root.path(), "a.png", &png(2, 3));
    let corpus = scan_seeing(&[&root.path().join("a.png")]).unwrap();
    let entry = &corpus.images()[0];
    let file = entry.read(None, 29).unwrap();
    assert_eq!((file.header.width, file.header.height, file.header.kind), (2, 3, ImageKind::Png));
    assert_eq!(file.digest, BlobId::from_hash(*blake3::hash(&png(2, 3)).as_bytes()));
    assert_eq!(&*file.bytes, png(2, 3));
    assert_eq!(entry.read(None, 28).unwrap_err().to_string(), "it has more than 28 bytes");
    // The header decides, not the name.
    put(root.path(), "a.png", b"GIF89a\x80\x02\xe0\x01\xf7");
    assert_eq!(entry.read(None, 100).unwrap().header.kind, ImageKind::Gif);
    remove(root.path(), "a.png");
    assert_eq!(entry.read(None, 100).unwrap_err().to_string(), "`a.png` changed since it was scanned");
    #[cfg(unix)]
    {
        put(root.path(), "b.bin", &png(2, 3));
        std::os::unix::fs::symlink(root.path().join("b.bin"), root.path().join("a.png")).unwrap();
        assert_eq!(entry.read(None, 100).unwrap_err().to_string(), "`a.png` changed since it was scanned");
    }
}

#[test]
fn a_pdf_is_listed_beside_its_text_and_one_without_text_is_like_an_image() {
    let root = tree(&[("a.md", "text")]);
    put(root.path(), "report.pdf", &pdf(&["BT /F1 12 Tf (one) Tj ET", "BT /F1 12 Tf (two) Tj ET"]));
    put(root.path(), "scan.pdf", &pdf(&["q Q"]));
    let corpus = scan_seeing(&[root.path()]).unwrap();
    assert_eq!(names(&corpus), "a.md\n");
    let with_pdf = ScanOptions { include: vec!["*.md".into(), "*.pdf".into()], ..ScanOptions::default() };
    let sources = [SourceInput::Path(root.path().into())];
    let reading = Corpus::scan_for(None, &sources, &with_pdf, &mut |_| {}).unwrap();
    assert_eq!((names(&reading).as_str(), listed(&reading)), ("a.md\nreport.pdf\n", listed(&corpus)));
    let size = |name: &str| root.path().join(name).metadata().unwrap().len();
    assert_eq!(
        listed(&corpus),
        format!("report.pdf pdf {} false\nscan.pdf pdf {} false\n", size("report.pdf"), size("scan.pdf"))
    );
    let corpus = scan_seeing(&[&root.path().join("report.pdf")]).unwrap();
    assert!(!corpus.images()[0].is_named, "its text is read");
    let corpus = scan_seeing(&[&root.path().join("scan.pdf")]).unwrap();
    assert!(corpus.images()[0].is_named && corpus.documents().is_empty());
    let refused = corpus.as_text().unwrap_err();
    assert_eq!(refused.to_string(), "could not extract text from `scan.pdf`");
}

#[test]
fn pages_are_named_by_number_and_have_a_digest_of_the_file() {
    let root = tree(&[("a.md", "text")]);
    let file = pdf(&["BT /F1 12 Tf (one) Tj ET", "BT /F1 12 Tf (two) Tj ET", "BT /F1 12 Tf (three) Tj ET"]);
    put(root.path(), "r.pdf", &file);
    let corpus = scan_seeing(&[root.path()]).unwrap();
    let shown = |name: &str, bytes_max: u64| {
        let (entry, range) = ImageEntry::find(corpus.images(), name).ok_or("there is none")?;
        entry.read(range, bytes_max).map_err(|error| error.to_string())
    };
    let whole = shown("r.pdf", 100_000).unwrap();
    assert_eq!((whole.pages, whole.bytes.as_ref()), (3, file.as_slice()));
    assert_eq!(whole.digest.to_string(), blake3::hash(&file).to_hex().as_str());
    let two = shown("r.pdf#page=2-3", 100_000).unwrap();
    assert_eq!((two.pages, two.header.kind, two.header.width), (2, ImageKind::Pdf, 1275));
    assert_eq!(extract(ExtractKind::Pdf, &two.bytes).unwrap(), "two\n\nthree\n\n");
    let last = shown("r.pdf#page=3", 100_000).unwrap();
    assert_eq!(extract(ExtractKind::Pdf, &last.bytes).unwrap(), "three\n\n");
    assert!(last.digest != two.digest && last.digest != whole.digest);
    assert_eq!(shown("r.pdf#page=4", 100_000).unwrap_err(), "it has no page 4: it has 3");
    assert_eq!(shown("r.pdf#page=1", 100).unwrap_err(), "it has more than 100 bytes");
    for wrong in [
        "r.pdf#page=0",
        "r.pdf#page=3-2",
        "r.pdf#page=",
        "r.pdf#page=-1",
        "r.pdf#page=99999999999",
        "s.pdf#page=1",
    ] {
        assert_eq!(shown(wrong, 100_000).unwrap_err(), "there is none", "{wrong}");
    }
}

/// A link to another page, its resources and its parent would lead to the whole file.
#[test]
fn a_page_brings_nothing_of_the_other_pages() {
    let pages = pdf_pages(
        &pdf(&["BT /F1 12 Tf (one) Tj ET", "BT /F1 12 Tf (two) Tj ET"]),
        Some(PageRange { first: 1, last: 1 }),
    )
    .unwrap();
    let text = String::from_utf8_lossy(&pages.bytes);
    assert!(text.contains("(one)") && !text.contains("(two)"), "{text}");
    assert!(text.contains("to the next") && !text.contains("/Dest"), "{text}");
    assert_eq!((pages.n_of_file, pages.n_pages), (2, 1));
}
