//! Collections: sets of related files under ids with a common prefix: `identity:` for who the user is,
//! `project:<name>:` for a project, `temporal:` for current events. A missing file is reported, but is not an error.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::is_absence;
use crate::store::factory::new_of_file;
use crate::store::{
    Context, ContextId, ContextKind, DirectoryReport, Factory, Loader, NewContext, StoreError,
};

/// The result of registering a collection.
#[derive(Debug, Default)]
pub struct CollectionReport {
    /// New contexts.
    pub registered: Vec<Arc<Context>>,
    /// Ids that were already registered.
    pub already: Vec<ContextId>,
    /// Files that do not exist.
    pub missing: Vec<PathBuf>,
}

const FOUNDATION: [(&str, &str); 3] = [
    ("profile", "profile.yaml"),
    ("preferences", "preferences.yaml"),
    ("communication_style", "communication_style.yaml"),
];

impl Factory<'_> {
    /// Registers each (name, path) pair whose file exists below `base`, under the prefix and the name.
    pub fn from_collection(
        &self,
        base: &Path,
        pairs: &[(String, String)],
        kind: &ContextKind,
        id_prefix: &str,
    ) -> Result<CollectionReport, StoreError> {
        let mut report = CollectionReport::default();
        let mut new: Vec<NewContext> = Vec::new();
        for (name, path) in pairs {
            let id = ContextId::new(format!("{id_prefix}{name}"))?;
            let path = base.join(path);
            if path.metadata().is_err_and(|error| is_absence(&error)) {
                report.missing.push(path);
            } else if self.store.get(id.as_str()).is_ok() {
                report.already.push(id);
            } else {
                let mut context = new_of_file(id, &path, kind.clone());
                context.name = title(name);
                context.metadata.insert("format".to_owned(), format_of(&path));
                new.push(context);
            }
        }
        report.registered = self.store.register_all(new)?;
        Ok(report)
    }

    /// Registers the three files of `foundation/` below the root, under `identity:`.
    pub fn foundation(&self, root: &Path) -> Result<CollectionReport, StoreError> {
        let pairs = FOUNDATION.map(|(name, file)| (name.to_owned(), file.to_owned()));
        self.from_collection(&root.join("foundation"), &pairs, &ContextKind::Identity, "identity:")
    }

    /// Registers the YAML files of a project's directory, under `project:<name>:`.
    pub fn project(&self, project: &str, directory: &Path) -> Result<DirectoryReport, StoreError> {
        self.from_directory(directory, "*.{yaml,yml}", &ContextKind::Project, &format!("project:{project}:"))
    }

    /// Registers every directory of `projects/` below the root, if it exists, as a project of that name.
    pub fn projects(&self, root: &Path) -> Result<Vec<DirectoryReport>, StoreError> {
        let mut reports = Vec::new();
        let directory = root.join("projects");
        let walk = ignore::WalkBuilder::new(&directory)
            .max_depth(Some(1))
            .follow_links(false)
            .sort_by_file_name(Ord::cmp)
            .build();
        for entry in walk.flatten() {
            if entry.depth() == 1 && entry.file_type().is_some_and(|kind| kind.is_dir()) {
                let project = crate::name::tail(entry.path(), 1);
                reports.push(self.project(&project, entry.path())?);
            }
        }
        Ok(reports)
    }

    /// Registers the JSON files of `temporal/` below the root, if it exists, under `temporal:`.
    pub fn temporal(&self, root: &Path) -> Result<DirectoryReport, StoreError> {
        let directory = root.join("temporal");
        if directory.metadata().is_err_and(|error| is_absence(&error)) {
            return Ok(DirectoryReport::default());
        }
        self.from_directory(&directory, "*.{json,jsonl}", &ContextKind::Temporal, "temporal:")
    }

    /// Registers a function that describes current events, under `temporal:<id>`.
    pub fn temporal_loader(&self, id: &str, name: &str, loader: Loader) -> Result<Arc<Context>, StoreError> {
        let id = ContextId::new(format!("temporal:{id}"))?;
        self.from_loader(id, name, ContextKind::Temporal, loader)
    }
}

/// `communication_style` as `Communication Style`.
fn title(name: &str) -> String {
    let words = name.split(['_', ' ']).filter(|word| !word.is_empty());
    let capitalised = words.map(|word| {
        let mut chars = word.chars();
        chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect::<String>()
    });
    capitalised.collect::<Vec<_>>().join(" ")
}

fn format_of(path: &Path) -> String {
    match path.extension().map(|extension| extension.to_string_lossy().to_lowercase()) {
        Some(extension) if extension == "yml" || extension == "yaml" => "yaml".to_owned(),
        Some(extension) => extension,
        None => "text".to_owned(),
    }
}

#[cfg(test)]
mod tests;
