//! Images and PDF pages for a call. The images of a call are recorded by their digests, never their
//! bytes: a resumed run reads the files again, and stops if one has changed.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use spelunk_context::{ImageEntry, ImageError, ImageFile, ImageKind, SourceError, View};
use spelunk_model::{Image, Model};

use super::Frame;
use crate::Result;
use crate::journal::wire::image_json;
use crate::sync::{blocking, lock};

const LISTED: &str = "images are listed";
const WITH_PDF: &str = "images and pdf";
const ONLY_PDF: &str = "pdf";
const KINDS: [&str; 4] = ["ValueError", "NotFound", "ModelError", "BudgetError"];
const NAMES_MAX: usize = 8;

/// The images of a call, or the kind and the message of an exception.
pub(crate) type ShownImages = Result<Vec<Image>, (&'static str, String)>;

impl Frame {
    /// The images of this view that sub-calls can show. If there are any, that is recorded: the settings and the
    /// catalogue may differ when the run is resumed, and a run of an engine without images continues without them.
    pub(crate) async fn listed_images<'a>(&self, view: &'a View) -> Result<Vec<&'a ImageEntry>> {
        let model = &self.run().models.sub;
        let listed = |pictures: bool, pdf: bool| -> Vec<&'a ImageEntry> {
            let can_show = |kind| if kind == ImageKind::Pdf { pdf } else { pictures };
            view.images().iter().filter(|image| can_show(image.kind)).collect()
        };
        let (pictures, pdf) = (model.facts().sees_images, model.facts().reads_pdf);
        if !self.observes_next(LISTED) && (self.is_replaying() || listed(pictures, pdf).is_empty()) {
            return Ok(Vec::new());
        }
        let kinds = match (pictures, pdf) {
            (_, false) => "",
            (true, true) => WITH_PDF,
            (false, true) => ONLY_PDF,
        };
        let kinds = self.observe(LISTED, std::future::ready(Ok(kinds.to_owned()))).await?;
        Ok(listed(kinds != ONLY_PDF, kinds == WITH_PDF || kinds == ONLY_PDF))
    }

    /// Images of this view for a call to this model, or to the sub-model. The outcome is recorded, including a refusal.
    pub(crate) fn show_images(
        &self,
        view: &View,
        names: Vec<String>,
        model: Option<Arc<dyn Model>>,
    ) -> BoxFuture<'static, Result<ShownImages>> {
        let model = model.unwrap_or_else(|| Arc::clone(&self.run().models.sub));
        let read = Arc::new(Mutex::new(None));
        let what = format!("images {}", json!(names));
        let reading = {
            let (frame, view, read) = (self.clone(), view.clone(), Arc::clone(&read));
            async move {
                let shown = blocking(move || frame.read_images(&view, &names, model.as_ref())).await;
                let record = written(&shown);
                *lock(&read) = Some(shown);
                Ok(record)
            }
        };
        let observed = self.observe(&what, reading);
        let (frame, view) = (self.clone(), view.clone());
        Box::pin(observed.then(async move |record| {
            let record = record?;
            let now = lock(&read).take();
            match now {
                Some(shown) => Ok(shown),
                None => blocking(move || frame.read_again(&view, &record)).await,
            }
        }))
    }

    fn read_images(&self, view: &View, names: &[String], model: &dyn Model) -> ShownImages {
        let limits = self.limits();
        let many = |n: u64| {
            let max = limits.call_images_max;
            let message = format!(
                "a call shows at most {max} images or pages (`limits.call_images_max`), and these are {n}"
            );
            if n > max { Err(("ValueError", message)) } else { Ok(()) }
        };
        many(names.len() as u64)?;
        let (mut images, mut n_pages) = (Vec::new(), 0);
        for name in names {
            let found = ImageEntry::find(view.images(), name);
            check_sight(model, found.is_some_and(|(entry, _)| entry.kind == ImageKind::Pdf))?;
            let (entry, range) = found.ok_or_else(|| ("NotFound", missing(view, name)))?;
            let file = entry.read(range, limits.image_bytes_max).map_err(|error| refused(name, &error))?;
            n_pages += u64::from(file.pages);
            many(n_pages)?;
            images.push(image(name, file));
        }
        let bytes = images.iter().map(|image| image.bytes.len() as u64).sum();
        let (before, max) =
            (self.run().image_bytes.fetch_add(bytes, Ordering::Relaxed), limits.run_image_bytes_max);
        if before.saturating_add(bytes) > max {
            self.run().image_bytes.fetch_sub(bytes, Ordering::Relaxed);
            let message = format!(
                "a run sends at most {max} bytes of images (`limits.run_image_bytes_max`): {before} were sent, and these are {bytes}"
            );
            return Err(("BudgetError", message));
        }
        Ok(images)
    }

    fn read_again(&self, view: &View, record: &str) -> Result<ShownImages> {
        let record: Value = serde_json::from_str(record).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if let Some(raised) = record.get("raise") {
            let kind = KINDS.into_iter().find(|kind| raised[0] == *kind).unwrap_or(KINDS[0]);
            return Ok(Err((kind, text(&raised[1]))));
        }
        let mut images = Vec::new();
        for recorded in record["images"].as_array().into_iter().flatten() {
            let (name, digest) = (text(&recorded["image"]), text(&recorded["digest"]));
            let entry = ImageEntry::find(view.images(), &name);
            // It was within the limits when it was shown; the bytes of pages may differ now.
            let file = entry.and_then(|(entry, range)| {
                let is_pdf = entry.kind == ImageKind::Pdf;
                let bytes_max =
                    if is_pdf { u64::MAX } else { recorded["bytes"].as_u64().unwrap_or_default() };
                entry.read(range, bytes_max).ok()
            });
            match file.filter(|file| file.digest.to_string() == digest) {
                Some(file) => images.push(image(&name, file)),
                None => return Err(SourceError::Changed { name }.into()),
            }
        }
        let bytes = images.iter().map(|image| image.bytes.len() as u64).sum();
        self.run().image_bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(Ok(images))
    }
}

fn check_sight(model: &dyn Model, is_pdf: bool) -> Result<(), (&'static str, String)> {
    let (can, what, setting) = if is_pdf {
        (model.facts().reads_pdf, "read PDF", "pdf")
    } else {
        (model.facts().sees_images, "see images", "vision")
    };
    let message = format!(
        "`{}` cannot {what}: choose a model that can, or set `models.NAME.{setting} = true` if it can",
        model.reference()
    );
    if can { Ok(()) } else { Err(("ModelError", message)) }
}

fn image(name: &str, file: ImageFile) -> Image {
    let ImageFile { header, pages, digest, bytes } = file;
    let (media_type, width, height) = (header.kind.media_type(), header.width, header.height);
    Image { name: name.to_owned(), media_type, width, height, pages, digest, bytes }
}

fn written(shown: &ShownImages) -> String {
    match shown {
        Ok(images) => json!({ "images": images.iter().map(image_json).collect::<Vec<_>>() }),
        Err((kind, message)) => json!({ "raise": [kind, message] }),
    }
    .to_string()
}

fn refused(name: &str, error: &ImageError) -> (&'static str, String) {
    let limit = match error {
        ImageError::TooLarge { .. } => " (`limits.image_bytes_max`)",
        ImageError::Empty
        | ImageError::NotAnImage
        | ImageError::Damaged
        | ImageError::TooWide { .. }
        | ImageError::NoPage { .. }
        | ImageError::Pages(_)
        | ImageError::Source(_) => "",
    };
    ("ValueError", format!("'{name}' cannot be shown: {error}{limit}"))
}

fn missing(view: &View, name: &str) -> String {
    let names: Vec<_> =
        view.images().iter().take(NAMES_MAX).map(|image| format!("'{}'", image.name)).collect();
    let there = match (names.len(), view.images().len() - names.len()) {
        (0, _) => "there are none".to_owned(),
        (_, 0) => format!("there are {}", names.join(", ")),
        (_, n_more) => format!("there are {} and {n_more} more", names.join(", ")),
    };
    format!("there is no image '{name}' among the sources; {there}")
}
