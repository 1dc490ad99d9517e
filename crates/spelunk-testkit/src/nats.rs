//! A real NATS server with JetStream, alone or as a cluster, on free ports of this machine.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that can be killed and started again with the same files.
pub struct NatsServer {
    program: PathBuf,
    args: Vec<String>,
    port: u16,
    child: Option<Child>,
}

impl NatsServer {
    /// Starts a server that stores its data in this directory; `None`, with a message, if it is not installed.
    pub fn start(dir: &Path) -> Option<Self> {
        Some(Self::cluster(dir, 1)?.remove(0))
    }

    /// Starts a cluster of this many servers.
    pub fn cluster(dir: &Path, n: usize) -> Option<Vec<Self>> {
        let Some(program) = program() else {
            #[expect(clippy::print_stderr, reason = "a skipped test is said aloud")]
            {
                eprintln!("SKIPPED: nats-server is not installed; `.ci/nats` installs it");
            }
            return None;
        };
        let ports: Vec<(u16, u16)> = (0..n).map(|_| (free_port(), free_port())).collect();
        let routes: Vec<String> =
            ports.iter().map(|(_, route)| format!("nats://127.0.0.1:{route}")).collect();
        let server = |(idx, (port, route)): (usize, &(u16, u16))| {
            let store = dir.join(format!("nats-{idx}"));
            let mut args: Vec<String> = ["-js", "-a", "127.0.0.1", "-p"].map(str::to_owned).to_vec();
            args.extend([port.to_string(), "-n".to_owned(), format!("n{idx}"), "-sd".to_owned()]);
            args.push(store.display().to_string());
            if n > 1 {
                args.extend(["--cluster_name".to_owned(), "test".to_owned(), "--cluster".to_owned()]);
                args.extend([format!("nats://127.0.0.1:{route}"), "--routes".to_owned(), routes.join(",")]);
            }
            Self { program: program.clone(), args, port: *port, child: None }
        };
        let mut servers: Vec<Self> = ports.iter().enumerate().map(server).collect();
        servers.iter_mut().for_each(Self::launch);
        servers.iter().for_each(Self::answers);
        Some(servers)
    }

    /// Starts a server with these additional lines in its configuration.
    pub fn configured(dir: &Path, text: &str) -> Option<Self> {
        let file = dir.join("nats.conf");
        #[expect(clippy::disallowed_methods, reason = "a file of the test")]
        std::fs::write(&file, text).expect("the directory can be written to");
        let mut server = Self::start(dir)?;
        server.args.extend(["-c".to_owned(), file.display().to_string()]);
        server.restart();
        Some(server)
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }

    /// Starts it again with the same files.
    pub fn restart(&mut self) {
        self.kill();
        self.launch();
        self.answers();
    }

    fn launch(&mut self) {
        let mut command = Command::new(&self.program);
        command.args(&self.args).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().expect("nats-server starts"));
    }

    /// Waits until it accepts connections and greets.
    fn answers(&self) {
        let began = Instant::now();
        let greets = || {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
            stream.set_read_timeout(Some(Duration::from_secs(1))).ok()?;
            let mut greeting = [0; 4];
            stream.read_exact(&mut greeting).ok()?;
            (&greeting == b"INFO").then_some(())
        };
        while greets().is_none() {
            assert!(began.elapsed() < Duration::from_secs(30), "nats-server does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The program: where `.ci/nats` installs it, or from `PATH`.
fn program() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/nats/bin");
    #[expect(clippy::disallowed_methods, reason = "tests find programs as a shell does")]
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::iter::once(own)
        .chain(std::env::split_paths(&path))
        .map(|dir| dir.join("nats-server"))
        .find(|file| file.is_file())
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it has an address").port()
}
