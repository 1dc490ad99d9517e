//! The errors of a fleet.

use std::io;

use spelunk_types::{ErrorCode, Explain, RunId};

pub(crate) type Result<T, E = FleetError> = std::result::Result<T, E>;

/// Why the fleet cannot be used, or did not do something.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FleetError {
    #[error("`{what}` is not a valid {name} of a fleet: {why}")]
    Option { name: &'static str, what: String, why: &'static str },
    #[error("could not connect to the fleet at `{url}`: {why}")]
    Unreachable { url: String, why: String, is_final: bool },
    #[error("the NATS server denied permission: {why}")]
    Denied { why: String },
    #[error("the NATS server at `{url}` has version {version}; a fleet needs 2.10 or newer")]
    TooOld { url: String, version: String },
    #[error("the NATS server at `{url}` has no JetStream")]
    NoJetStream { url: String },
    #[error("the stream `{stream}` exists with other settings: {what}")]
    Foreign { stream: String, what: String },
    #[error("the fleet did not {what}: {why}")]
    Refused { what: String, why: String },
    #[error("the NATS servers refused to store data: {why}")]
    Full { why: String },
    #[error("the fleet did not {what} within {seconds} s")]
    Silent { what: String, seconds: u64 },
    #[error("another node has taken over run `{}`", run.short())]
    TakenOver { run: RunId },
    #[error("an event of run `{}` is larger than the {limit} bytes that the NATS server accepts", run.short())]
    TooLarge { run: RunId, limit: usize },
    #[error("could not send `{path}` to the fleet: {why}")]
    File { path: String, why: String },
    #[error("the snapshot `{manifest}` is {what}")]
    Snapshot { manifest: String, what: String },
    #[error("could not use a local file of this node")]
    Local {
        #[from]
        source: io::Error,
    },
}

/// For `map_err`: the servers did not do this.
pub(crate) fn refused<E: std::fmt::Display>(what: impl Into<String>) -> impl FnOnce(E) -> FleetError {
    move |why| FleetError::Refused { what: what.into(), why: why.to_string() }
}

impl FleetError {
    /// Whether a retry may succeed: the servers did not answer, or a node that may be gone took over.
    pub fn is_outage(error: &(dyn std::error::Error + 'static)) -> bool {
        let mut next = Some(error);
        while let Some(error) = next {
            // `io::Error::source` skips the error that it carries.
            let carried = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            let of_fleet = match carried {
                Some(carried) => carried.downcast_ref::<Self>(),
                None => error.downcast_ref::<Self>(),
            };
            if let Some(of_fleet) = of_fleet {
                return matches!(
                    of_fleet,
                    Self::Refused { .. }
                        | Self::Silent { .. }
                        | Self::Unreachable { .. }
                        | Self::TakenOver { .. }
                );
            }
            next = error.source();
        }
        false
    }
}

impl From<FleetError> for io::Error {
    fn from(error: FleetError) -> Self {
        if let FleetError::Local { source } = error { source } else { Self::other(error) }
    }
}

impl Explain for FleetError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Option { .. } | Self::TooOld { .. } | Self::NoJetStream { .. } | Self::Foreign { .. } => {
                ErrorCode::FleetUnusable
            }
            Self::TakenOver { .. } => ErrorCode::RunLocked,
            Self::File { .. } => ErrorCode::SourceUnreadable,
            Self::Unreachable { .. }
            | Self::Denied { .. }
            | Self::Refused { .. }
            | Self::Full { .. }
            | Self::Silent { .. }
            | Self::TooLarge { .. }
            | Self::Snapshot { .. }
            | Self::Local { .. } => ErrorCode::FleetUnavailable,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Option { .. } => "see docs/fleet.md for the options of a fleet".to_owned(),
            Self::Unreachable { .. } => {
                "check that a NATS server runs there, and the credentials (`--fleet-creds FILE`)".to_owned()
            }
            Self::Denied { .. } => {
                "grant this user the permissions in docs/fleet.md, section Security".to_owned()
            }
            Self::File { .. } => "exclude it with `--exclude GLOB`".to_owned(),
            Self::TooOld { .. } => "upgrade the NATS server".to_owned(),
            Self::NoJetStream { .. } => "start it with `-js`, or enable JetStream for the account".to_owned(),
            Self::Foreign { .. } => {
                "choose another prefix with `--set fleet.prefix=NAME`, or remove the stream".to_owned()
            }
            Self::Refused { .. } | Self::Silent { .. } => {
                "check the NATS servers, their storage limits and the permissions of this user".to_owned()
            }
            Self::Full { .. } => "raise the storage limits of the NATS servers, or remove runs with \
                                  `spelunk run clean`, then `spelunk gc`"
                .to_owned(),
            Self::TakenOver { run } => format!("watch it with `spelunk tail {}`", run.short()),
            Self::TooLarge { .. } => "raise `max_payload` of the NATS servers".to_owned(),
            Self::Snapshot { .. } => "ask again: the files are uploaded again".to_owned(),
            Self::Local { .. } => return None,
        })
    }
}
