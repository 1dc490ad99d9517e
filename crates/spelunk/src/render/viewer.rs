//! The viewer: a page that shows runs in a browser.

/// A file of the viewer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) media_type: &'static str,
    pub(crate) body: String,
    /// The name of these bytes, for caches.
    pub(crate) digest: String,
}

/// The page as a server sends it.
pub(crate) fn page() -> &'static str {
    "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Spelunk</title></head>\n<body>\n\
     <p>The server runs. <a href=\"/openapi.json\">What it can do</a></p>\n</body>\n</html>\n"
}

/// A file that the page asks for.
pub(crate) fn asset(_name: &str) -> Option<&'static Asset> {
    None
}
