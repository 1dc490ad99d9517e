//! Updates the catalogue of hosted models from the newest package `litellm`, downloaded by pip like
//! the parts of a local model. It replaces the user's catalogue only after every line was checked.

use std::io::{Read as _, Write as _};

use spelunk_model::{CatalogueError, HostedCatalogue};
use zip::ZipArchive;

use super::file::{Staging, disk};
use super::{PullError, Puller, packages};

const PACKAGE: &str = "litellm";
const MEMBER: &str = "litellm/model_prices_and_context_window_backup.json";
const JSON_BYTES_MAX: u64 = 64 << 20;

impl Puller<'_> {
    /// Downloads the newest data set and returns its catalogue. `today` is the date, `YYYY-MM-DD`.
    pub fn update_catalogue(&self, today: &str) -> Result<HostedCatalogue, PullError> {
        let staging = Staging::open(&self.folder, PACKAGE)?;
        staging.clear();
        (self.say)(&format!("downloading the newest package `{PACKAGE}`"));
        packages::download(self.pips, &staging.dir, PACKAGE)?;
        let (version, json) = data_set(&staging)?;
        let catalogue = HostedCatalogue::of_litellm(&json, &version, today)?;
        let (name, path) = ("catalogue", self.folder.catalogue_path());
        let staged = staging.path(name);
        let mut file = staging.create(name)?;
        let written = file.write_all(catalogue.text().as_bytes()).and_then(|()| file.sync_all());
        written.map_err(|source| disk(&staged, source))?;
        staging.place(name, &path)?;
        Ok(catalogue)
    }
}

fn data_set(staging: &Staging) -> Result<(String, String), PullError> {
    let not_in = || PullError::Package { package: PACKAGE.to_owned(), member: MEMBER.to_owned() };
    let version = |name: &str| {
        let (version, _) = name.strip_prefix("litellm-")?.split_once('-')?;
        let is_version = version.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
        (is_version && name.split('.').next_back() == Some("whl")).then(|| version.to_owned())
    };
    let wheel = staging.names().into_iter().find_map(|name| Some((version(&name)?, name)));
    let (version, name) = wheel.ok_or_else(not_in)?;
    let mut archive = ZipArchive::new(staging.open_file(&name)?).map_err(|_| not_in())?;
    let member = archive.by_name(MEMBER).map_err(|_| not_in())?;
    let mut json = String::new();
    let n_read = member.take(JSON_BYTES_MAX).read_to_string(&mut json).map_err(|_| not_in())?;
    if n_read as u64 == JSON_BYTES_MAX {
        return Err(CatalogueError::Cut { what: "the data set is too large".to_owned() }.into());
    }
    Ok((version, json))
}
