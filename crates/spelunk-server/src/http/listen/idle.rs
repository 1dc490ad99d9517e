//! Which connections have no request in progress, so that one can be closed if there is no room for another. Clients
//! that connect and send nothing, or that hold on to connections, cannot lock others out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

#[derive(Clone, Default)]
pub(super) struct Connections(Arc<Mutex<Open>>);

#[derive(Default)]
struct Open {
    n_so_far: u64,
    by_id: BTreeMap<u64, Connection>,
}

struct Connection {
    task: AbortHandle,
    /// When it began to wait for a request, as a number of events; `None` while one is in progress.
    idle_since: Option<u64>,
}

impl Connections {
    /// Closes the connection that has been without a request for longest.
    pub(super) fn close_oldest_idle(&self) {
        let mut open = self.lock();
        let idle = open.by_id.iter().filter_map(|(id, connection)| Some((connection.idle_since?, *id)));
        if let Some((_, id)) = idle.min()
            && let Some(connection) = open.by_id.remove(&id)
        {
            connection.task.abort();
        }
    }

    /// Reserves the id of a connection, which is forgotten when the guard is dropped.
    pub(super) fn open(&self) -> OpenConnection {
        OpenConnection { id: self.lock().next(), connections: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn next(&mut self) -> u64 {
        self.n_so_far += 1;
        self.n_so_far
    }
}

pub(super) struct OpenConnection {
    id: u64,
    connections: Connections,
}

impl OpenConnection {
    /// Where the connection's requests report that they are in progress.
    pub(super) fn requests(&self) -> Requests {
        Requests { id: self.id, connections: self.connections.clone() }
    }

    /// Spawns the connection's task with this guard. The task cannot outrun its registration, which holds the lock.
    pub(super) fn spawn(self, spawn: impl FnOnce(Self) -> AbortHandle) {
        let (id, connections) = (self.id, self.connections.clone());
        let mut open = connections.lock();
        let idle_since = Some(open.next());
        open.by_id.insert(id, Connection { task: spawn(self), idle_since });
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connections.lock().by_id.remove(&self.id);
    }
}

#[derive(Clone)]
pub(super) struct Requests {
    id: u64,
    connections: Connections,
}

impl Requests {
    pub(super) fn begin(&self) -> RequestInProgress {
        if let Some(connection) = self.connections.lock().by_id.get_mut(&self.id) {
            connection.idle_since = None;
        }
        RequestInProgress(self.clone())
    }
}

/// Until it is dropped, its connection is not idle.
pub(super) struct RequestInProgress(Requests);

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        let mut open = self.0.connections.lock();
        let now = open.next();
        if let Some(connection) = open.by_id.get_mut(&self.0.id) {
            connection.idle_since = Some(now);
        }
    }
}
