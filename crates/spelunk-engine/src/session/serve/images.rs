//! Images in a session: the list that code starts with, and the images that a call names.

use spelunk_context::{ImageEntry, ImageKind};
use spelunk_model::{Part, Prompt};
use spelunk_sandbox::Value;

use crate::environment::{Arguments, Refusal, dict, int, shown_name};
use crate::frame::ShownImages;

const NAMES_MAX: usize = 40;

pub(in crate::session) fn listed(images: &[&ImageEntry]) -> ((String, Value), String) {
    let entry = |image: &&ImageEntry| {
        dict([
            ("name", Value::from(image.name.as_str())),
            ("kind", Value::from(image.kind.name())),
            ("bytes", int(image.bytes)),
        ])
    };
    let has_pdf = images.iter().any(|image| image.kind == ImageKind::Pdf);
    let mut text = format!(
        "\n`images` is a `list` of {} {}, each a `dict` of name, kind and bytes. You cannot see them; \
         `llm_query(prompt, images=[name, ...])` shows some of them to a sub-model that can.{}\nNames:",
        images.len(),
        if has_pdf { "images and PDF files" } else { "images" },
        if has_pdf {
            " A PDF is shown by pages: `\"report.pdf#page=3\"`, `\"report.pdf#page=3-5\"`."
        } else {
            ""
        },
    );
    for image in images.iter().take(NAMES_MAX) {
        text += &format!("\n  {} ({}, {} bytes)", shown_name(&image.name), image.kind.name(), image.bytes);
    }
    if images.len() > NAMES_MAX {
        text += &format!("\n  and {} more: `images`", images.len() - NAMES_MAX);
    }
    (("images".to_owned(), Value::List(images.iter().map(entry).collect())), text)
}

pub(super) fn named(arguments: &mut Arguments<'_>) -> Result<Vec<String>, Refusal> {
    let Some(value) = arguments.take("images") else { return Ok(Vec::new()) };
    let (Value::List(items) | Value::Tuple(items)) = value else {
        return Err(arguments.wrong("images", "a list of names", &value));
    };
    let name = |item: Value| match item {
        Value::Str(name) => Ok(name),
        other => Err(arguments.wrong("images", "a list of names", &other)),
    };
    items.into_iter().map(name).collect()
}

pub(super) fn add(prompt: &mut Prompt, shown: ShownImages) -> Result<(), Refusal> {
    let images = shown.map_err(|(kind, message)| Refusal::new(kind, message))?;
    if let Some(asked) = prompt.messages.last_mut() {
        asked.parts.extend(images.into_iter().map(Part::Image));
    }
    Ok(())
}
