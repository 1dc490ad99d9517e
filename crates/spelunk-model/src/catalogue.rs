//! The catalogue: local models available by name, their download locations and checksums.

use std::sync::LazyLock;

use crate::wire::catalogue::ModelRow;

/// A local model available by name.
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CataloguePart {
    /// Its name.
    pub package: String,
    /// Its version.
    pub version: String,
    /// The file inside it.
    pub member: String,
}

/// Every local model available by name.
pub fn local_catalogue() -> &'static [CatalogueModel] {
    &CATALOGUE
}

static CATALOGUE: LazyLock<Vec<CatalogueModel>> = LazyLock::new(|| {
    let rows: Vec<ModelRow> = serde_json::from_str(include_str!("../data/local-models.json"))
        .expect("the catalogue is part of the program and read by a test");
    let part = |row: crate::wire::catalogue::PartRow| CataloguePart {
        package: row.package,
        version: row.version,
        member: row.member,
    };
    let model = |row: ModelRow| CatalogueModel {
        name: row.name,
        about: row.about,
        license: row.license,
        bytes: row.bytes,
        sha256: row.sha256,
        hub: row.hub,
        parts: row.parts.into_iter().map(part).collect(),
    };
    rows.into_iter().map(model).collect()
});

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_model_has_a_name_a_checksum_and_packages() {
        let names: BTreeSet<_> = local_catalogue().iter().map(|model| &model.name).collect();
        assert_eq!(names.len(), local_catalogue().len());
        for model in local_catalogue() {
            let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
            assert_eq!(model.sha256.len(), 64, "{}", model.name);
            assert!(model.sha256.chars().all(is_hex), "{}", model.name);
            assert!(!model.parts.is_empty() && model.bytes > 0, "{}", model.name);
            assert!(model.hub.as_ref().is_none_or(|hub| hub.split('/').count() == 3), "{}", model.name);
            let packages: BTreeSet<_> = model.parts.iter().map(|part| &part.package).collect();
            assert_eq!(packages.len(), model.parts.len(), "{}", model.name);
        }
    }
}
