//! Cuts pages of a PDF into a PDF of their own, for models that read PDF. Objects are copied unchanged.

use lopdf::{Dictionary, Document, Object, ObjectId, dictionary};

use super::{PageRange, PdfPages, damaged, pdf};
use crate::ExtractError;

/// The keys needed to draw a page; others lead to other pages.
const PAGE_KEYS: [&[u8]; 8] =
    [b"MediaBox", b"CropBox", b"Rotate", b"UserUnit", b"Contents", b"Resources", b"Group", b"Annots"];
/// The keys that lead from an annotation to other pages.
const ANNOTATION_KEYS: [&[u8]; 8] =
    [b"P", b"Parent", b"Popup", b"IRT", b"Dest", b"A", b"AA", b"StructParent"];
const PARENTS_MAX: usize = 64;
/// The size of a page is given in pixels of this resolution.
const PIXELS_PER_INCH: f32 = 150.0;
const POINTS_PER_INCH: f32 = 72.0;
const LETTER: [f32; 2] = [612.0, 792.0];

/// These pages as a PDF; without a range, the unchanged file.
pub(super) fn cut(bytes: &[u8], range: Option<PageRange>) -> Result<PdfPages, ExtractError> {
    let document = pdf::load(bytes)?;
    let pages: Vec<ObjectId> =
        document.page_iter().filter(|page| document.get_dictionary(*page).is_ok()).collect();
    let n_of_file = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    let (first, last) = range.map_or((1, n_of_file), |range| (range.first, range.last));
    let wanted = (first as usize).saturating_sub(1)..(last as usize).min(pages.len());
    let wanted = pages.get(wanted).unwrap_or_default();
    let [width, height] = wanted
        .iter()
        .map(|page| size(&document, *page))
        .fold([0; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])]);
    let bytes = match range {
        None => bytes.to_vec(),
        Some(_) if wanted.is_empty() => Vec::new(),
        Some(_) => written(&document, wanted)?,
    };
    let n_pages = u32::try_from(wanted.len()).unwrap_or(u32::MAX);
    Ok(PdfPages { n_of_file, n_pages, width, height, bytes })
}

fn written(from: &Document, pages: &[ObjectId]) -> Result<Vec<u8>, ExtractError> {
    let mut to = Document::with_version(from.version.clone());
    // A damaged file may declare fewer objects than it has.
    to.max_id = from.objects.keys().map(|(number, _)| *number).max().unwrap_or_default();
    let parent = to.new_object_id();
    for id in pages {
        let mut page = dictionary! { "Type" => "Page", "Parent" => parent };
        for key in PAGE_KEYS {
            let value = inherited(from, *id, key);
            let value =
                if key == b"Annots" { value.map(|value| annotations(from, value)) } else { value.cloned() };
            if let Some(value) = value {
                copy_referenced(from, &mut to, &value);
                page.set(key, value);
            }
        }
        to.objects.insert(*id, Object::Dictionary(page));
    }
    let kids: Vec<Object> = pages.iter().copied().map(Object::Reference).collect();
    let count = i64::try_from(kids.len()).unwrap_or(i64::MAX);
    to.objects.insert(parent, dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count }.into());
    let catalog = to.add_object(dictionary! { "Type" => "Catalog", "Pages" => parent });
    to.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    to.save_to(&mut bytes).map_err(damaged)?;
    Ok(bytes)
}

/// An entry of a page, or of the nearest node above it that has one.
fn inherited<'a>(document: &'a Document, page: ObjectId, key: &[u8]) -> Option<&'a Object> {
    let mut node = document.get_dictionary(page).ok()?;
    if [&b"Contents"[..], b"Annots", b"Group", b"UserUnit"].contains(&key) {
        return node.get(key).ok();
    }
    for _ in 0..PARENTS_MAX {
        if let Ok(value) = node.get(key) {
            return Some(value);
        }
        node = document.get_dictionary(node.get(b"Parent").and_then(Object::as_reference).ok()?).ok()?;
    }
    None
}

/// The annotations, such as form fields, inline and without references to other pages.
fn annotations(document: &Document, listed: &Object) -> Object {
    let deref = |object| document.dereference(object).ok().map(|(_, object)| object);
    let items = deref(listed).and_then(|items| items.as_array().ok()).into_iter().flatten();
    let stripped = items.filter_map(|item| {
        let mut annotation: Dictionary = deref(item)?.as_dict().ok()?.clone();
        for key in ANNOTATION_KEYS {
            annotation.remove(key);
        }
        Some(Object::Dictionary(annotation))
    });
    Object::Array(stripped.collect())
}

fn copy_referenced(from: &Document, to: &mut Document, object: &Object) {
    let mut open = vec![object];
    while let Some(object) = open.pop() {
        match object {
            Object::Reference(id) if !to.objects.contains_key(id) => {
                if let Some(object) = from.objects.get(id) {
                    to.objects.insert(*id, object.clone());
                    open.push(object);
                }
            }
            Object::Array(items) => open.extend(items),
            Object::Dictionary(entries) => open.extend(entries.iter().map(|(_, value)| value)),
            Object::Stream(stream) => open.extend(stream.dict.iter().map(|(_, value)| value)),
            Object::Reference(_)
            | Object::Null
            | Object::Boolean(_)
            | Object::Integer(_)
            | Object::Real(_)
            | Object::Name(_)
            | Object::String(..) => {}
        }
    }
}

fn size(document: &Document, page: ObjectId) -> [u32; 2] {
    let number = |object: &Object| document.dereference(object).ok()?.1.as_float().ok();
    let corners = |key: &[u8]| -> Option<[f32; 4]> {
        let (_, corners) = document.dereference(inherited(document, page, key)?).ok()?;
        let corners: Option<Vec<f32>> = corners.as_array().ok()?.iter().map(number).collect();
        corners?.try_into().ok()
    };
    let box_of_page = corners(b"CropBox").or_else(|| corners(b"MediaBox"));
    let sides = box_of_page.map_or(LETTER, |[x, y, x_end, y_end]| [(x_end - x).abs(), (y_end - y).abs()]);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    sides.map(|points| (points / POINTS_PER_INCH * PIXELS_PER_INCH).round() as u32)
}
