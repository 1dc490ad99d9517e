//! Images and PDF pages in a prompt, and their estimated cost in tokens. Nothing is decoded here:
//! the header of an image was checked when it was added.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use spelunk_types::{BlobId, ModelRef};

/// For providers that require a file name; the real one is not sent.
pub(crate) const PDF_NAME: &str = "pages.pdf";

/// With this name for the type, the text is not taken for one of the document it is read from.
type MediaType = &'static str;

/// An image or pages of a PDF for a model.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its name in the context; it is not sent.
    pub name: String,
    /// `image/png`, `image/jpeg`, `image/gif`, `image/webp` or `application/pdf`.
    #[serde(deserialize_with = "known_media_type")]
    pub media_type: MediaType,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// The number of pages; 1 for a picture.
    pub pages: u32,
    /// BLAKE3 of the bytes, which identifies it in a journal.
    pub digest: BlobId,
    /// The file.
    #[serde(rename = "base64", serialize_with = "write_base64", deserialize_with = "read_base64")]
    pub bytes: Arc<[u8]>,
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, media_type, width, height, pages, digest, bytes: _ } = self;
        write!(f, "Image({name} {media_type} {width}x{height} x{pages} {digest})")
    }
}

impl Image {
    pub(crate) const MEDIA_TYPES: [&str; 5] =
        ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"];

    pub(crate) fn base64(&self) -> String {
        STANDARD.encode(&self.bytes)
    }

    pub(crate) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, self.base64())
    }

    pub(crate) fn format(&self) -> &'static str {
        self.media_type.strip_prefix("image/").unwrap_or(self.media_type)
    }

    /// Whether it is pages of a PDF, which providers take as a document.
    pub(crate) fn is_pdf(&self) -> bool {
        self.media_type == "application/pdf"
    }
}

fn known_media_type<'de, D: Deserializer<'de>>(from: D) -> Result<MediaType, D::Error> {
    let given = String::deserialize(from)?;
    let known = Image::MEDIA_TYPES.into_iter().find(|known| *known == given);
    known.ok_or_else(|| D::Error::custom("an unknown media type"))
}

fn write_base64<S: Serializer>(bytes: &Arc<[u8]>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&STANDARD.encode(bytes))
}

fn read_base64<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<[u8]>, D::Error> {
    STANDARD.decode(String::deserialize(from)?).map(Arc::from).map_err(D::Error::custom)
}

/// The most tokens that any rule below yields.
const TOKENS_MAX: u64 = 48_169;

/// The text of a page costs tokens besides its picture; an estimate for a full page.
const PAGE_TEXT_TOKENS: u64 = 3_000;

/// The most tokens this image is expected to cost with this model; each page of a PDF costs as much as a
/// picture and its text. The rules are at least the counts published for Claude 5.5, Gemini 3, GPT-5.5 and
/// GPT-6; for other models they are guesses. The provider's count replaces the estimate later.
pub fn image_tokens(model: &ModelRef, image: &Image) -> u64 {
    let (width, height) = (u64::from(image.width.max(1)), u64::from(image.height.max(1)));
    let cells = |side: u64| width.div_ceil(side).saturating_mul(height.div_ceil(side));
    let is_claude = model.provider == "anthropic" || model.name.contains("claude");
    let tokens = match model.provider.as_str() {
        // A token per 750 pixels; larger images are scaled down to at most 4,784 tokens.
        _ if is_claude => width.saturating_mul(height).div_ceil(750).min(4_784),
        // 258 for each tile, whose side is two thirds of the shorter side; newer models count 1,120 for any image.
        "gemini" => {
            let side = (width.min(height) * 2 / 3).clamp(256, 768);
            cells(side).saturating_mul(258).max(1_120)
        }
        "openai" | "openai-responses" | "azure" => openai_tokens(&model.name, width, height, cells(32)),
        // A token per patch of 16 pixels, as the most expensive open models count.
        _ => cells(16).min(16_384),
    };
    let tokens = tokens.min(TOKENS_MAX);
    if image.is_pdf() { (tokens + PAGE_TEXT_TOKENS) * u64::from(image.pages) } else { tokens }
}

/// OpenAI's older models count tiles of 512 pixels, the newer ones patches of 32, with a factor for the small models.
fn openai_tokens(name: &str, width: u64, height: u64, patches: u64) -> u64 {
    // Scaled to fit 2,048 × 2,048, then to 768 on the shorter side.
    let (long, short) = (width.max(height), width.min(height));
    let fitted = |side: u64| if long > 2_048 { (side * 2_048).div_ceil(long) } else { side };
    let (long, short) = (fitted(long), fitted(short).max(1));
    let scaled = |side: u64| if short > 768 { (side * 768).div_ceil(short) } else { side };
    let tiles = scaled(long).div_ceil(512) * scaled(short).div_ceil(512);
    if name.contains("4o-mini") {
        return 2_833 + 5_667 * tiles;
    }
    let by_patch = (patches.saturating_mul(6) / 5).max(patches.min(1_536) * 246 / 100);
    by_patch.max(85 + 170 * tiles)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(provider: &str, name: &str, size: (u32, u32)) -> u64 {
        tokens_of((provider, name), size, "image/png", 1)
    }

    fn tokens_of(
        (provider, name): (&str, &str),
        (width, height): (u32, u32),
        media_type: &'static str,
        pages: u32,
    ) -> u64 {
        let model = ModelRef { provider: provider.into(), name: name.into(), base_url: String::new() };
        let digest = BlobId::from_hash([0; 32]);
        let bytes = Arc::from([]);
        image_tokens(&model, &Image { name: "a".into(), media_type, width, height, pages, digest, bytes })
    }

    #[test]
    fn each_page_of_a_pdf_costs_a_picture_and_its_text() {
        let pages = |n| tokens_of(("anthropic", "claude-haiku-5-5"), (1000, 1000), "application/pdf", n);
        assert_eq!((pages(1), pages(20)), (4_334, 86_680));
    }

    #[test]
    fn an_image_is_estimated_at_no_less_than_what_was_counted() {
        // Size, and the tokens that Claude 5.5, Gemini 3, GPT-5.5 and GPT-6 counted, without those of the text beside it.
        for (size, claude, gemini, gpt55, gpt6) in [
            ((1024, 1024), 1_399, 1_090, 1_229, 1_229),
            ((1920, 1080), 2_765, 1_101, 2_448, 2_448),
            ((3840, 2160), 3_069, 1_101, 9_792, 9_792),
            ((4032, 3024), 4_005, 1_065, 11_868, 14_364),
        ] {
            assert!(tokens("anthropic", "claude-sonnet-5-5", size) >= claude, "{size:?}");
            assert!(tokens("gemini", "gemini-3-pro", size) >= gemini, "{size:?}");
            assert!(tokens("openai", "gpt-5.5", size) >= gpt55, "{size:?}");
            assert!(tokens("openai-responses", "gpt-6", size) >= gpt6, "{size:?}");
        }
    }

    #[test]
    fn each_maker_has_its_rule_and_no_image_costs_more_than_the_maximum() {
        assert_eq!(tokens("anthropic", "claude-haiku-5-5", (200, 200)), 54);
        assert_eq!(tokens("anthropic", "claude-haiku-5-5", (1000, 1000)), 1_334);
        assert_eq!(tokens("anthropic", "claude-haiku-5-5", (8000, 8000)), 4_784);
        assert_eq!(tokens("bedrock", "us.anthropic.claude-haiku-5-5", (1000, 1000)), 1_334);
        assert_eq!(tokens("gemini", "gemini-4-argon", (300, 300)), 1_120);
        assert_eq!(tokens("gemini", "gemini-2.5-flash", (960, 540)), 6 * 258);
        assert_eq!(tokens("openai", "gpt-4o-mini", (1024, 1024)), 2_833 + 4 * 5_667);
        assert_eq!(tokens("openai", "gpt-4o", (512, 512)), 629);
        assert_eq!(tokens("openai-responses", "gpt-6.1-sol", (1024, 1024)), 2_519);
        assert_eq!(tokens("azure", "any", (8000, 8000)), TOKENS_MAX);
        assert_eq!(tokens("mistral", "pixtral", (1024, 1024)), 4_096);
        assert_eq!(tokens("mistral", "pixtral", (8000, 8000)), 16_384);
        assert_eq!(tokens("openai", "gpt-4o-mini", (u32::MAX, u32::MAX)), 2_833 + 4 * 5_667);
        assert_eq!(tokens("gemini", "g", (u32::MAX, u32::MAX)), TOKENS_MAX);
        assert_eq!(tokens("gemini", "g", (0, 0)), 1_120);
    }
}
