//! The catalogue of local models as stored in its file. We write this data, so it is parsed strictly.

use serde::Deserialize;

/// A local model available by name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueModel {
    /// Its name in this program.
    pub name: String,
    /// What it is and what it is good for, in one line.
    pub about: String,
    /// Its licence.
    pub license: String,
    /// The size of its file.
    pub bytes: u64,
    /// SHA-256 of the file, in lower-case hexadecimal.
    pub sha256: String,
    /// `OWNER/REPOSITORY/FILE` on a model hub, if it has one.
    pub hub: Option<String>,
    /// The packages that contain it, in the order in which they are joined.
    pub parts: Vec<CataloguePart>,
}

/// A package that contains a part of a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CataloguePart {
    /// Its name.
    pub package: String,
    /// Its version.
    pub version: String,
    /// The file inside it.
    pub member: String,
}
