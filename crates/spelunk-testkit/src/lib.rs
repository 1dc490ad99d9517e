//! Makes failure cheap to test: a scripted model server that speaks the providers' wire formats over real HTTP, every
//! way in which such a server can fail, and a disk that fails on demand. For dev-dependencies only.

mod dialect;
mod disk;
mod fault;
mod gate;
mod model_server;
mod nats;
mod pdf;
mod proxy;
mod reference;
mod script;
mod trajectory;

pub use disk::{Crash, FaultDisk};
pub use fault::{ClosedPort, Fault, StatusFault, status};
pub use gate::Gate;
pub use model_server::{ModelServer, Recorded};
pub use nats::NatsServer;
pub use pdf::pdf;
pub use proxy::Proxy;
pub use reference::check_page;
pub use script::{Rule, on, when};
pub use trajectory::{Trajectory, facts, with_expectations};
