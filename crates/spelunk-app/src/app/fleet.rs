//! The connection of this process to its fleet, if it belongs to one.

use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use spelunk_fleet::FleetWorkspace;
use spelunk_fleet::{Fleet, FleetError, FleetOptions, OUTAGE_MAX};
use spelunk_fs::PrivateDir;
use spelunk_journal::Workspace;
use spelunk_model::CallPlaces;

use super::App;
use crate::env;
use crate::failure::Result;

/// The name of this machine, where Linux tells it: shells often do not export `HOSTNAME`.
fn host_name() -> Option<String> {
    let file = spelunk_fs::open_to_read(Path::new("/proc/sys/kernel/hostname")).ok()?;
    let mut name = String::new();
    file.take(256).read_to_string(&mut name).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[derive(Default)]
pub(super) struct FleetPlace {
    connected: Mutex<Option<Arc<FleetWorkspace>>>,
}

impl FleetPlace {
    fn connected(&self) -> Option<Arc<FleetWorkspace>> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Connects at the first call; if no server answers, keeps trying for `patience`. Blocking.
    fn connect(
        &self,
        options: impl FnOnce() -> FleetOptions,
        dir: impl FnOnce() -> PrivateDir,
        patience: Duration,
    ) -> Result<Arc<FleetWorkspace>, FleetError> {
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fleet) = connected.as_ref() {
            return Ok(Arc::clone(fleet));
        }
        let fleet = FleetWorkspace::new(Fleet::connect(options(), patience)?, dir());
        *connected = Some(Arc::clone(&fleet));
        Ok(fleet)
    }
}

impl App {
    /// The configured fleet. If no server answers, keeps trying to connect for `patience`. Blocking.
    pub fn fleet(&self, patience: Duration) -> Result<Option<Arc<FleetWorkspace>>> {
        let settings = &self.settings.fleet;
        let Some(url) = &settings.url else { return Ok(None) };
        let file = |file: &Option<String>| file.as_ref().map(|file| self.current_dir.join(file));
        let host = || {
            let host = self.environment.text(env::HOSTNAME).map(str::to_owned);
            let host = host.or_else(host_name).unwrap_or_else(|| "node".to_owned());
            format!("{host}-{}", std::process::id())
        };
        let options = || FleetOptions {
            url: url.clone(),
            credentials: file(&settings.creds_file),
            ca_file: file(&settings.ca_file),
            prefix: settings.prefix.clone(),
            node: settings.node.clone().unwrap_or_else(host),
            lease: Duration::from_millis(settings.lease_ms),
            cache: self.user.cache("fleet"),
            cache_bytes_max: settings.cache_bytes_max,
            calls_max: settings.calls_max,
            outage_max: OUTAGE_MAX,
        };
        let dir = || PrivateDir::new(self.workspace_root());
        Ok(Some(self.fleet.connect(options, dir, patience)?))
    }

    /// Adds the runs of the fleet to a workspace.
    pub(super) fn shared(&self, workspace: Workspace) -> Result<Workspace> {
        let Some(fleet) = self.fleet(Duration::ZERO)? else { return Ok(workspace) };
        Ok(workspace.with_shared(Arc::clone(&fleet) as _, fleet))
    }

    pub(super) fn places(&self) -> Option<Arc<dyn CallPlaces>> {
        self.fleet.connected().map(|shared| Arc::new(shared.fleet().clone()) as _)
    }
}
