//! The connection of this process to its fleet, if it belongs to one.

use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use spelunk_fleet::{Fleet, FleetError, FleetOptions, FleetWorkspace};
use spelunk_fs::PrivateDir;

/// The name of this machine, where Linux tells it: shells often do not export `HOSTNAME`.
pub(crate) fn host_name() -> Option<String> {
    let file = spelunk_fs::open_to_read(Path::new("/proc/sys/kernel/hostname")).ok()?;
    let mut name = String::new();
    file.take(256).read_to_string(&mut name).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The connection, once it is made.
#[derive(Default)]
pub(crate) struct FleetPlace {
    connected: Mutex<Option<Arc<FleetWorkspace>>>,
}

impl FleetPlace {
    pub(crate) fn connected(&self) -> Option<Arc<FleetWorkspace>> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Connects at the first call; if no server answers, keeps trying for `patience`. Blocking.
    pub(crate) fn connect(
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
