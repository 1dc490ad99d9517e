//! The catalogue of local models as stored in its file. We write this data, so it is parsed strictly.

use serde::Deserialize;

/// One model of `data/local-models.json`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelRow {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) license: String,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
    /// `OWNER/REPOSITORY/FILE` on a model hub.
    pub(crate) hub: Option<String>,
    /// Packages that contain the file, in the order in which they are joined.
    pub(crate) parts: Vec<PartRow>,
}

/// One package.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartRow {
    pub(crate) package: String,
    pub(crate) version: String,
    /// The file inside the package.
    pub(crate) member: String,
}
