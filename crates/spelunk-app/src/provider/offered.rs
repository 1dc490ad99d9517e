//! Whether a provider still offers its default models. Its model list is requested once a day and
//! cached beside the local models. A list that is slow, empty or malformed changes nothing.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use spelunk_model::{HostedCatalogue, ListShape, list_models_as};

use super::keys::Endpoint;
use super::open::today;
use crate::config::ModelSettings;
use crate::env::Environment;
use crate::local::ModelFolder;
use crate::units::head;

const WAIT: Duration = Duration::from_secs(2);
const NAMES_MAX: usize = 5_000;
const NAME_BYTES_MAX: usize = 200;
const FILE_BYTES_MAX: u64 = 2 << 20;

/// The endpoint, with other default models if its provider does not offer the first choice.
pub(super) async fn checked(
    endpoint: Endpoint,
    settings: &ModelSettings,
    environment: &Environment,
) -> Endpoint {
    let (Some(defaults), Some(shape)) = (&endpoint.defaults, ListShape::of(endpoint.provider)) else {
        return endpoint;
    };
    // OpenRouter's names contain a maker, and it offers nearly everything.
    let Some(folder) = ModelFolder::of(&settings.local, environment).filter(|_| !defaults.root.contains('/'))
    else {
        return endpoint;
    };
    let (today, path) = (today(), file(&folder, &endpoint));
    let names = match read(&path, &today) {
        Some(names) => names,
        None => {
            let asked = list_models_as(shape, &endpoint.base_url, endpoint.key.as_ref(), WAIT).await;
            let names: BTreeSet<String> =
                asked.unwrap_or_default().into_iter().filter(|name| is_name(name)).take(NAMES_MAX).collect();
            // A list that did not arrive is not requested again today: the next command would wait as long.
            write(&path, &today, &names);
            names
        }
    };
    let is_offered = |name: &str| names.contains(name);
    let is_complete = is_offered(&defaults.root) && defaults.sub.as_deref().is_none_or(is_offered);
    let instead = HostedCatalogue::current().defaults(endpoint.provider, &today, is_offered);
    match instead {
        Some(instead) if !is_complete => {
            let gone = if is_offered(&defaults.root) { defaults.sub.as_ref() } else { Some(&defaults.root) };
            let gone = head(gone.map(String::as_str).unwrap_or_default(), 80);
            let because = format!("{}; it does not offer {gone}", endpoint.because);
            Endpoint { because, ..endpoint }.with_defaults(Some(instead), "")
        }
        Some(_) | None => endpoint,
    }
}

fn is_name(name: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(|c| c.is_ascii_graphic())
}

fn file(folder: &ModelFolder, endpoint: &Endpoint) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let address: String = endpoint.base_url.chars().map(plain).take(NAME_BYTES_MAX).collect();
    folder.path().join(".offered").join(format!("{}-{address}.txt", endpoint.provider))
}

/// The names of a list from this day. The first line has the date and the number of names, to
/// detect a truncated file.
#[expect(clippy::disallowed_methods, reason = "the folder is the user's own")]
fn read(path: &Path, today: &str) -> Option<BTreeSet<String>> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    let (first, rest) = text.split_once('\n')?;
    let names: BTreeSet<String> = rest.lines().map(str::to_owned).collect();
    (first == format!("{today} {}", names.len())).then_some(names)
}

/// Writes a list. If that fails, it is requested again.
#[expect(clippy::disallowed_methods, reason = "the folder is the user's own")]
fn write(path: &Path, today: &str, names: &BTreeSet<String>) {
    let mut text = format!("{today} {}\n", names.len());
    for name in names {
        text.push_str(name);
        text.push('\n');
    }
    drop(path.parent().map(std::fs::create_dir_all));
    drop(std::fs::write(path, text));
}
