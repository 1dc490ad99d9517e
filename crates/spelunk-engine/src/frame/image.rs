//! Images for a call. Which ones a call shows is recorded by their digests, never their bytes: a resumed run reads the
//! files again, and stops if one has changed.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use spelunk_context::{ImageError, ImageFile, SourceError, View};
use spelunk_model::{Image, Model};

use super::Frame;
use super::run::Role;
use crate::FrameError;
use crate::journal::wire::image_json;
use crate::sync::{blocking, lock};

/// What is observed when a session first lists images.
const LISTED: &str = "images are listed";
/// Exceptions that a refusal may be.
const KINDS: [&str; 4] = ["ValueError", "NotFound", "ModelError", "BudgetError"];
/// Names in the message about one that does not exist.
const NAMES_MAX: usize = 8;

/// The images of a call, or the kind and the message of an exception.
pub(crate) type ShownImages = Result<Vec<Image>, (&'static str, String)>;

impl Frame {
    /// Whether sub-calls can show the images of this view. It is recorded once it is so: the settings and the catalogue
    /// may say something else when the run is resumed, and a run of an engine without images goes on without them.
    pub(crate) async fn lists_images(&self, view: &View) -> Result<bool, FrameError> {
        let sees = || !self.is_replaying() && self.run().model(Role::Sub).sees_images();
        if view.images().is_empty() || !(self.observes_next(LISTED) || sees()) {
            return Ok(false);
        }
        self.observe(LISTED, std::future::ready(Ok(String::new()))).await?;
        Ok(true)
    }

    /// Images of this view for a call to this model, or to the sub-model. The outcome is recorded, a refusal too.
    pub(crate) fn show_images(
        &self,
        view: &View,
        names: Vec<String>,
        model: Option<Arc<dyn Model>>,
    ) -> BoxFuture<'static, Result<ShownImages, FrameError>> {
        let model = model.unwrap_or_else(|| Arc::clone(self.run().model(Role::Sub)));
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

    /// Reads the files and checks every bound.
    fn read_images(&self, view: &View, names: &[String], model: &dyn Model) -> ShownImages {
        let limits = self.limits();
        if !model.sees_images() {
            let message = format!(
                "`{}` cannot see images: choose a model that can, or set `models.NAME.vision = true` if it can",
                model.reference()
            );
            return Err(("ModelError", message));
        }
        if names.len() as u64 > limits.call_images_max {
            let (n, max) = (names.len(), limits.call_images_max);
            let message =
                format!("a call shows at most {max} images (`limits.call_images_max`), and these are {n}");
            return Err(("ValueError", message));
        }
        let mut images = Vec::new();
        for name in names {
            let entry = view.images().iter().find(|image| image.name == *name);
            let entry = entry.ok_or_else(|| ("NotFound", missing(view, name)))?;
            let file = entry.read(limits.image_bytes_max).map_err(|error| refused(name, &error))?;
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

    /// Reads the recorded images once more.
    fn read_again(&self, view: &View, record: &str) -> Result<ShownImages, FrameError> {
        let record: Value = serde_json::from_str(record).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if let Some(raised) = record.get("raise") {
            let kind = KINDS.into_iter().find(|kind| raised[0] == *kind).unwrap_or(KINDS[0]);
            return Ok(Err((kind, text(&raised[1]))));
        }
        let mut images = Vec::new();
        for recorded in record["images"].as_array().into_iter().flatten() {
            let (name, digest) = (text(&recorded["image"]), text(&recorded["digest"]));
            let entry = view.images().iter().find(|image| image.name == name);
            // It was within the limits when it was shown.
            let file =
                entry.and_then(|entry| entry.read(recorded["bytes"].as_u64().unwrap_or_default()).ok());
            match file.filter(|file| file.digest.as_str() == digest) {
                Some(file) => images.push(image(&name, file)),
                None => return Err(SourceError::Changed { name }.into()),
            }
        }
        let bytes = images.iter().map(|image| image.bytes.len() as u64).sum();
        self.run().image_bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(Ok(images))
    }
}

fn image(name: &str, file: ImageFile) -> Image {
    let ImageFile { header, digest, bytes } = file;
    let (media_type, width, height) = (header.kind.media_type(), header.width, header.height);
    Image { name: name.to_owned(), media_type, width, height, digest, bytes }
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
        | ImageError::Source(_) => "",
    };
    ("ValueError", format!("the image '{name}' cannot be shown: {error}{limit}"))
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
