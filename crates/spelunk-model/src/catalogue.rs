//! The catalogue: local models available by name, their download locations and checksums.

use std::sync::LazyLock;

use crate::CatalogueModel;

/// Every local model available by name.
pub fn local_catalogue() -> &'static [CatalogueModel] {
    &CATALOGUE
}

static CATALOGUE: LazyLock<Vec<CatalogueModel>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../data/local-models.json"))
        .expect("the catalogue is part of the program and read by a test")
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
