//! A PDF in memory.

/// A PDF with a page of 9 by 9 points for each of these contents. Each page links to the next, as
/// in real files.
pub fn pdf(contents: &[&str]) -> Vec<u8> {
    let n_pages = contents.len();
    let kids: Vec<String> = (0..n_pages).map(|idx| format!("{} 0 R", 3 + 2 * idx)).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Kids[{}]/Count {n_pages}/MediaBox[0 0 9 9]>>", kids.join(" ")),
    ];
    for (idx, content) in contents.iter().enumerate() {
        let next = &kids[(idx + 1) % n_pages];
        let link =
            format!("<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/Dest[{next} /Fit]/Contents(to the next)>>");
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/Contents {} 0 R/Resources<<>>/Annots[{link}]>>",
            4 + 2 * idx
        ));
        objects.push(format!("<</Length {}>>stream\n{content}\nendstream", content.len()));
    }
    let (mut pdf, mut table) = ("%PDF-1.4\n".to_owned(), "0000000000 65535 f \n".to_owned());
    for (idx, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", pdf.len());
        pdf += &format!("{} 0 obj\n{object}\nendobj\n", idx + 1);
    }
    let (start, size) = (pdf.len(), objects.len() + 1);
    pdf += &format!("xref\n0 {size}\n{table}trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF");
    pdf.into_bytes()
}
