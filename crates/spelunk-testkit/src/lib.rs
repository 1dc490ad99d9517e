//! Making failure cheap to test: a scripted model server that speaks the providers' wire formats over real HTTP, and
//! every way in which such a server can fail; a disk that dies on demand. Only dev-dependencies may name this crate.

mod dialect;
mod disk;
mod facts;
mod fault;
mod gate;
mod model_server;
mod reference;
mod script;
mod trajectory;

pub use disk::{Crash, FaultDisk};
pub use facts::facts;
pub use fault::{ClosedPort, Fault, StatusFault, status};
pub use gate::Gate;
pub use model_server::{ModelServer, Recorded};
pub use reference::check_page;
pub use script::{Rule, on, when};
pub use trajectory::{Trajectory, with_expectations};
