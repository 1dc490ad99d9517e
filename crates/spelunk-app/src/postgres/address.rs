//! The address of a database: its URL, and the password from the URL, `PGPASSWORD` or `~/.pgpass`.
//! The password is stored only in the client's configuration, which never shows it.

use std::io::Read as _;
use std::path::PathBuf;

use spelunk_context::ServerError;
use spelunk_fs::open_to_read;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::unusable;
use crate::env::{self, Environment};

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
const PORT: u16 = 5432;
const PASS_BYTES_MAX: u64 = 100_000;
const URL_HINT: &str = "write it as `postgres://USER@HOST:PORT/DATABASE`";

pub fn is_postgres_url(typed: &str) -> bool {
    SCHEMES.iter().any(|scheme| typed.starts_with(scheme))
}

#[derive(Debug)]
pub(super) struct Address {
    pub(super) name: String,
    pub(super) url: String,
    /// How to connect, or why the URL is wrong.
    pub(super) target: Result<Target, ServerError>,
}

#[derive(Debug)]
pub(super) struct Target {
    pub(super) config: Config,
    pub(super) place: Place,
    pub(super) trust: Trust,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Tcp(String, u16),
    Socket(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trust {
    /// Any, as PostgreSQL's own clients do by default.
    Anybody,
    /// The host's, signed by an authority that this machine trusts or, if given, by the one in this file.
    Host(Option<PathBuf>),
}

impl Address {
    pub(super) fn read(url: &str, environment: &Environment) -> Self {
        let shown = without_password(url);
        match target(url, environment) {
            Ok(target) => {
                let name = target.config.get_dbname().or(target.config.get_user());
                Self { name: name.unwrap_or("postgres").to_owned(), url: shown, target: Ok(target) }
            }
            Err(why) => {
                Self { name: "postgres".to_owned(), url: shown, target: Err(unusable(why, URL_HINT)) }
            }
        }
    }
}

/// The URL without the password: neither in the credentials nor in the parameters.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    // A password may contain `/` and `@`, although it should not.
    let rest = match rest.rsplit_once('@') {
        Some((credentials, place)) => {
            let user = credentials.split(':').next().unwrap_or_default();
            format!("{user}@{place}")
        }
        None => rest.to_owned(),
    };
    let kept: Vec<&str> =
        query.into_iter().flat_map(|query| query.split('&')).filter(|pair| !is_secret(pair)).collect();
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    format!("{scheme}://{rest}{query}")
}

fn is_secret(pair: &str) -> bool {
    pair.split('=').next().is_some_and(|name| name.eq_ignore_ascii_case("password"))
}

fn target(url: &str, environment: &Environment) -> Result<Target, String> {
    let (before, query) = url.split_once('?').unwrap_or((url, ""));
    // Otherwise a part of the password would be mistaken for a host or a database, and shown.
    if before.matches('@').count() > 1 {
        return Err("an `@` in a user or a password is written as `%40`".to_owned());
    }
    let (mut mode, mut root, mut kept) = ("prefer", None, Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", value)) => mode = value,
            Some(("sslrootcert", value)) => root = Some(PathBuf::from(value.replace("%2F", "/"))),
            _ => kept.push(pair),
        }
    }
    let plain = if kept.is_empty() { before.to_owned() } else { format!("{before}?{}", kept.join("&")) };
    // The parser's message would quote parts of the URL, perhaps of the password.
    let mut config: Config = plain.parse().map_err(|_| "the URL is not valid".to_owned())?;
    let (ssl, trust) = match mode {
        "disable" => (SslMode::Disable, Trust::Anybody),
        "prefer" => (SslMode::Prefer, Trust::Anybody),
        "require" => (SslMode::Require, Trust::Anybody),
        "verify-full" => (SslMode::Require, Trust::Host(root)),
        _ => return Err("`sslmode` is one of disable, prefer, require and verify-full".to_owned()),
    };
    config.ssl_mode(ssl).application_name("spelunk");
    let port = config.get_ports().first().copied().unwrap_or(PORT);
    let place = match config.get_hosts() {
        [] => Place::Tcp("localhost".to_owned(), port),
        [Host::Tcp(host)] => Place::Tcp(host.clone(), port),
        #[cfg(unix)]
        [Host::Unix(folder)] => Place::Socket(folder.join(format!(".s.PGSQL.{port}"))),
        _ => return Err("it names several hosts".to_owned()),
    };
    if config.get_password().is_none()
        && let Some(password) = password(&config, &place, port, environment)
    {
        config.password(password);
    }
    Ok(Target { config, place, trust })
}

fn password(config: &Config, place: &Place, port: u16, environment: &Environment) -> Option<String> {
    if let Some(password) = environment.text(env::PGPASSWORD) {
        return Some(password.to_owned());
    }
    let path = environment.path(env::HOME)?.join(".pgpass");
    let file = open_to_read(&path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Like PostgreSQL's own clients, ignores a file that others can read.
        if file.metadata().ok()?.permissions().mode() & 0o077 != 0 {
            return None;
        }
    }
    let mut text = String::new();
    file.take(PASS_BYTES_MAX).read_to_string(&mut text).ok()?;
    let host = match place {
        Place::Tcp(host, _) => host.as_str(),
        Place::Socket(_) => "localhost",
    };
    let user = config.get_user().unwrap_or_default();
    let wanted = [host, &port.to_string(), config.get_dbname().unwrap_or(user), user];
    text.lines().find_map(|line| {
        let fields = fields(line)?;
        let is_meant = fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
        is_meant.then(|| fields[4].clone())
    })
}

/// The five fields of a line of `.pgpass`, in which `:` and `\` are escaped with a backslash.
fn fields(line: &str) -> Option<[String; 5]> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut()?.extend(chars.next()),
            c => fields.last_mut()?.push(c),
        }
    }
    fields.try_into().ok()
}

#[cfg(test)]
mod tests;
