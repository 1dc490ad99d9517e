//! Secrets by file name: typical names of files with keys, passwords and tokens. Content is not examined here.

use std::path::{Component, Path};

use crate::name::is_listed;

/// Whether the path, or a directory that contains it, is typical of secrets.
pub(crate) fn is_secret(path: &Path) -> bool {
    let parts = parts_of(path);
    let Some(file_name) = parts.last() else { return false };
    is_secret_name(file_name) || is_in_secret_place(&parts)
}

/// Whether every file in that directory counts as a secret, whatever its name.
pub(crate) fn is_secret_place(directory: &Path) -> bool {
    is_in_secret_place(&parts_of(directory))
}

fn is_in_secret_place(parts: &[String]) -> bool {
    parts.iter().any(|part| SECRET_DIRECTORIES.contains(&part.as_str()))
        || parts.windows(2).any(|pair| SECRET_PAIRS.iter().any(|secret| pair == secret))
}

fn parts_of(path: &Path) -> Vec<String> {
    let parts = path.components().filter_map(|component| match component {
        Component::Normal(part) => Some(part.to_string_lossy().to_lowercase()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    });
    parts.collect()
}

const SECRET_DIRECTORIES: [&str; 7] =
    [".ssh", ".aws", ".gnupg", ".kube", ".azure", ".password-store", ".gcloud"];

/// A name that is secret only in a directory with that name.
const SECRET_PAIRS: [[&str; 2]; 4] =
    [[".config", "gcloud"], [".docker", "config.json"], [".cargo", "credentials"], [".config", "gh"]];

const SECRET_NAMES: &str = ".env .envrc .netrc _netrc .npmrc .pypirc .pgpass .my.cnf .htpasswd .git-credentials .dockercfg \
    .s3cfg .boto .vault-token .terraformrc credentials.toml credentials.json client_secret.json \
    service-account.json secrets.yml secrets.yaml secrets.json kubeconfig secrets.toml vault.yml \
    vault.yaml wp-config.php .vault_pass";

const SECRET_PREFIXES: [&str; 5] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".env."];

const SECRET_EXTENSIONS: [&str; 12] =
    ["env", "pem", "key", "p12", "pfx", "p8", "kdbx", "jks", "keystore", "ppk", "tfstate", "gpg"];

/// Prefixes and suffixes of names that show the layout of a secret without containing one.
const HARMLESS_STARTS: [&str; 3] = ["example.", "sample.", "template."];
const HARMLESS_ENDS: [&str; 4] = [".example", ".sample", ".template", ".dist"];

fn is_secret_name(name: &str) -> bool {
    let is_harmless = HARMLESS_STARTS.iter().any(|start| name.starts_with(start))
        || HARMLESS_ENDS.iter().any(|end| name.ends_with(end));
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let is_typical = is_listed(SECRET_NAMES, name)
        || SECRET_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || extension.is_some_and(|extension| SECRET_EXTENSIONS.contains(&extension));
    is_typical && !is_harmless
}

#[cfg(test)]
mod tests;
