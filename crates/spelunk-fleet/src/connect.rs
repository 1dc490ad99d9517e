//! Connects to the fleet: checks the server and creates missing streams and buckets.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use async_nats::jetstream::context::{CreateStreamErrorKind, GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::kv;
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, Stream};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr, ServerError};
use tokio::sync::watch;

use crate::{FleetError, Result, refused};

/// How long one attempt to connect may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a leader election may take.
const ELECTION: Duration = Duration::from_secs(20);
/// How long one request may take.
pub(crate) const REQUEST: Duration = Duration::from_secs(5);
/// How long a node is listed after its last report.
const NODE: Duration = Duration::from_secs(30);
/// How long an idempotency key is remembered.
const KEY: Duration = Duration::from_hours(24);
const PREFIX_CHARS_MAX: usize = 32;
/// The metadata key of streams that a fleet created.
const MARK: &str = "spelunk-fleet";
const FORMAT: &str = "1";
/// Replicas in a cluster: one of three servers may be lost.
const REPLICAS: usize = 3;

/// How to connect to a fleet, and the settings of this node.
#[derive(Debug, Clone)]
pub struct FleetOptions {
    /// Addresses of NATS servers, separated by commas.
    pub url: String,
    /// A file with the credentials of a NATS user.
    pub credentials: Option<PathBuf>,
    /// A file with root certificates, used instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// The prefix of all stream names, so that two fleets can share servers.
    pub prefix: String,
    /// The name of this node.
    pub node: String,
    /// How long a lease lasts without renewal; the same on every node.
    pub lease: Duration,
    /// Where snapshots are unpacked.
    pub cache: PathBuf,
    /// The maximum size of all unpacked snapshots.
    pub cache_bytes_max: u64,
    /// How many model calls this node makes at once.
    pub calls_max: u64,
    /// How long a run waits for servers that do not answer.
    pub outage_max: Duration,
}

pub(crate) struct Connected {
    pub(crate) client: Client,
    pub(crate) context: Context,
    pub(crate) journal: Stream,
    pub(crate) queue: Stream,
    pub(crate) leases: kv::Store,
    pub(crate) runs: kv::Store,
    pub(crate) keys: kv::Store,
    pub(crate) nodes: kv::Store,
    pub(crate) rates: kv::Store,
    pub(crate) blobs: ObjectStore,
    /// The stream that stores `blobs`, for the times of its messages.
    pub(crate) blob_stream: Stream<()>,
    pub(crate) denials: Denials,
}

/// The last permission denial and its time. The server sends it apart from the denied request, which
/// it does not answer.
pub(crate) type Denials = watch::Receiver<Option<(Instant, String)>>;

/// Connects; retries for `patience` if no server answers.
pub(crate) async fn connect(options: &FleetOptions, patience: Duration) -> Result<Connected> {
    check_prefix(&options.prefix)?;
    let began = Instant::now();
    let (client, denials) = loop {
        match try_connect(options).await {
            Err(FleetError::Unreachable { is_final: false, .. }) if began.elapsed() < patience => {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            tried => break tried?,
        }
    };
    let info = client.server_info();
    let url = shown(&options.url);
    if !client.is_server_compatible(2, 10, 0) {
        return Err(FleetError::TooOld { url, version: info.version });
    }
    if !info.jetstream {
        return Err(FleetError::NoJetStream { url });
    }
    let mut context = jetstream::new(client.clone());
    context.set_timeout(REQUEST);
    let maker = Maker { context: &context, prefix: &options.prefix, is_cluster: info.cluster.is_some() };
    let began = Instant::now();
    loop {
        let mut denied = denials.clone();
        let making = Box::pin(maker.connected(options, &client, &denials));
        let made = tokio::select! {
            made = making => made,
            Ok(denied) = denied.wait_for(Option::is_some) => {
                let why = denied.as_ref().map(|(_, why)| why.clone());
                return Err(FleetError::Denied { why: why.unwrap_or_default() });
            }
        };
        match made {
            // Servers do not answer while they elect a leader.
            Err(FleetError::Refused { .. }) if began.elapsed() < patience.max(ELECTION) => {
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
            made => return made,
        }
    }
}

async fn try_connect(options: &FleetOptions) -> Result<(Client, Denials)> {
    let unreachable =
        |why: String, is_final: bool| FleetError::Unreachable { url: shown(&options.url), why, is_final };
    let (deny, denials) = watch::channel(None);
    let mut connect = ConnectOptions::new()
        .name(format!("spelunk {}", options.node))
        .connection_timeout(CONNECT)
        .request_timeout(Some(REQUEST))
        .event_callback(move |event| {
            if let Event::ServerError(ServerError::Other(why)) = event
                && why.to_lowercase().starts_with("permissions violation")
            {
                deny.send_replace(Some((Instant::now(), why)));
            }
            async {}
        });
    if let Some(file) = &options.credentials {
        let with = connect.credentials_file(file).await;
        connect = with.map_err(|error| {
            unreachable(format!("the credentials `{}` could not be read: {error}", file.display()), true)
        })?;
    }
    if let Some(file) = &options.ca_file {
        connect = connect.add_root_certificates(file.clone());
    }
    let addresses: Result<Vec<ServerAddr>, _> =
        options.url.split(',').map(|url| url.trim().parse()).collect();
    let addresses = addresses.map_err(|_| FleetError::Option {
        name: "address",
        what: shown(&options.url),
        why: "write it as `nats://HOST:4222`",
    })?;
    // The client ignores credentials in an address.
    let user = addresses.iter().find_map(|address| Some((address.username()?, address.password())));
    connect = match user {
        Some((user, Some(password))) => connect.user_and_password(decoded(user), decoded(password)),
        Some((token, None)) => connect.token(decoded(token)),
        None => connect,
    };
    let connected = connect.connect(addresses).await.map_err(|error| {
        let (kind, cause) = (error.kind().to_string(), std::error::Error::source(&error));
        // A rejected server certificate is reported as an I/O error.
        let is_of_tls = cause.and_then(|cause| cause.downcast_ref::<std::io::Error>());
        let is_of_tls = is_of_tls.is_some_and(|cause| cause.kind() == std::io::ErrorKind::InvalidData);
        let cause = cause.map(ToString::to_string).filter(|cause| !cause.contains(&kind));
        let why = cause.map_or_else(|| kind.clone(), |cause| format!("{kind}: {cause}"));
        unreachable(why, is_of_tls || is_final(error.kind()))
    })?;
    Ok((connected, denials))
}

/// Whether a server answered and would refuse again.
fn is_final(kind: ConnectErrorKind) -> bool {
    match kind {
        ConnectErrorKind::ServerParse
        | ConnectErrorKind::Authentication
        | ConnectErrorKind::AuthorizationViolation
        | ConnectErrorKind::Tls => true,
        ConnectErrorKind::Dns
        | ConnectErrorKind::TimedOut
        | ConnectErrorKind::Io
        | ConnectErrorKind::MaxReconnects => false,
    }
}

fn decoded(part: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Addresses without user names and passwords.
pub(crate) fn shown(url: &str) -> String {
    let one = |address: &str| match address.rsplit_once('@') {
        Some((before, host)) => {
            let scheme = before.split_once("://").map(|(scheme, _)| format!("{scheme}://"));
            format!("{}{host}", scheme.unwrap_or_default())
        }
        None => address.to_owned(),
    };
    url.split(',').map(|address| one(address.trim())).collect::<Vec<_>>().join(",")
}

fn check_prefix(prefix: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !prefix.is_empty() && prefix.len() <= PREFIX_CHARS_MAX && prefix.chars().all(is_plain) {
        return Ok(());
    }
    let why = "use up to 32 letters, digits, `-` and `_`";
    Err(FleetError::Option { name: "prefix", what: prefix.to_owned(), why })
}

struct Maker<'a> {
    context: &'a Context,
    prefix: &'a str,
    is_cluster: bool,
}

impl Maker<'_> {
    async fn connected(
        &self,
        options: &FleetOptions,
        client: &Client,
        denials: &Denials,
    ) -> Result<Connected> {
        Ok(Connected {
            journal: self.stream("journal", RetentionPolicy::Limits, "journal.*").await?,
            queue: self.stream("queue", RetentionPolicy::WorkQueue, "queue.*").await?,
            leases: self.bucket("leases", options.lease).await?,
            runs: self.bucket("runs", Duration::ZERO).await?,
            keys: self.bucket("keys", KEY).await?,
            nodes: self.bucket("nodes", NODE).await?,
            rates: self.bucket("rates", options.lease).await?,
            blobs: self.blobs().await?,
            blob_stream: {
                let name = format!("OBJ_{}_blobs", self.prefix);
                self.context.get_stream_no_info(name).await.map_err(refused("open the blobs"))?
            },
            client: client.clone(),
            context: self.context.clone(),
            denials: denials.clone(),
        })
    }

    fn replicas(&self) -> usize {
        if self.is_cluster { REPLICAS } else { 1 }
    }

    /// A stream that, when full, rejects new messages instead of dropping old ones.
    async fn stream(&self, name: &str, retention: RetentionPolicy, subject: &str) -> Result<Stream> {
        let wanted = Config {
            name: format!("{}_{name}", self.prefix),
            subjects: vec![format!("{}.{subject}", self.prefix)],
            retention,
            discard: DiscardPolicy::New,
            num_replicas: self.replicas(),
            allow_direct: true,
            metadata: HashMap::from([(MARK.to_owned(), FORMAT.to_owned())]),
            ..Config::default()
        };
        match self.context.get_stream(&wanted.name).await {
            Ok(stream) => {
                check_same(&wanted, &stream.cached_info().config)?;
                return Ok(stream);
            }
            Err(error) if is_missing(&error) => {}
            Err(error) => {
                return Err(refused(format!("open the stream `{}`", wanted.name))(error));
            }
        }
        match self.context.create_stream(wanted.clone()).await {
            Ok(stream) => Ok(stream),
            // Another node created it first.
            Err(error) if is_taken(&error.kind()) => {
                let stream = self.context.get_stream(&wanted.name).await.map_err(refused("open a stream"))?;
                check_same(&wanted, &stream.cached_info().config)?;
                Ok(stream)
            }
            Err(error) => Err(refused(format!("create the stream `{}`", wanted.name))(error)),
        }
    }

    async fn bucket(&self, name: &str, max_age: Duration) -> Result<kv::Store> {
        let bucket = format!("{}_{name}", self.prefix);
        let config = kv::Config {
            bucket: bucket.clone(),
            history: 1,
            max_age,
            num_replicas: self.replicas(),
            ..kv::Config::default()
        };
        let store = match self.context.get_key_value(&bucket).await {
            Ok(store) => store,
            Err(_) => match self.context.create_key_value(config).await {
                Ok(store) => store,
                // Another node created it first.
                Err(error) => {
                    let refused = refused(format!("create the bucket `{bucket}`"));
                    self.context.get_key_value(&bucket).await.map_err(|_| refused(error))?
                }
            },
        };
        let age = store.stream.cached_info().config.max_age;
        if age == max_age {
            return Ok(store);
        }
        let what = format!("its values expire after {} ms, not {} ms", age.as_millis(), max_age.as_millis());
        Err(FleetError::Foreign { stream: format!("KV_{bucket}"), what })
    }

    async fn blobs(&self) -> Result<ObjectStore> {
        let bucket = format!("{}_blobs", self.prefix);
        if let Ok(store) = self.context.get_object_store(&bucket).await {
            return Ok(store);
        }
        let config = object_store::Config {
            bucket: bucket.clone(),
            num_replicas: self.replicas(),
            ..object_store::Config::default()
        };
        match self.context.create_object_store(config).await {
            Ok(store) => Ok(store),
            Err(error) => {
                let refused = refused(format!("create the object store `{bucket}`"));
                self.context.get_object_store(&bucket).await.map_err(|_| refused(error))
            }
        }
    }
}

fn is_missing(error: &GetStreamError) -> bool {
    matches!(error.kind(), GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

fn is_taken(kind: &CreateStreamErrorKind) -> bool {
    matches!(kind, CreateStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NAME_EXIST)
}

/// Refuses an existing stream that differs from what we would create.
fn check_same(wanted: &Config, there: &Config) -> Result<()> {
    let foreign =
        |what: &str| Err(FleetError::Foreign { stream: wanted.name.clone(), what: what.to_owned() });
    match () {
        () if !there.metadata.contains_key(MARK) => foreign("it was not created by a fleet"),
        () if there.metadata.get(MARK) != wanted.metadata.get(MARK) => {
            foreign("it was created by another version of Spelunk")
        }
        () if there.subjects != wanted.subjects => foreign("its subjects differ"),
        () if there.retention != wanted.retention => foreign("its retention differs"),
        () if there.discard != wanted.discard => foreign("it discards old messages"),
        () if !there.max_age.is_zero() => foreign("its messages expire"),
        () if !there.allow_direct => foreign("it does not allow direct reads"),
        () => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_passwords() {
        assert_eq!(shown("nats://me:secret@a:4222, tls://b:4222"), "nats://a:4222,tls://b:4222");
        assert_eq!(shown("me:p@ss@host"), "host");
        assert_eq!(decoded("p%40ss%2Fw%zz%"), "p@ss/w%zz%");
    }

    #[test]
    fn a_prefix_is_a_plain_word() {
        assert!(check_prefix("team-1_a").is_ok());
        for bad in ["", "a.b", "a b", "a*", ">", "ä", &"x".repeat(33)] {
            assert!(check_prefix(bad).is_err(), "{bad}");
        }
    }
}
