//! A private PostgreSQL server for tests, from the programs of the machine. If there are none, there is no server, and such
//! a test says so and checks nothing.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, Weak};

use super::wait_for;

/// The owner of the cluster.
pub(crate) const USER: &str = "ann";
/// It must not be found anywhere.
pub(crate) const PASSWORD: &str = "Zk3vT9qLm2xWp7R-of-ann";
/// The server refuses to run as root.
const NOBODY: u32 = 65_534;

pub(crate) struct Cluster {
    process: Child,
    programs: PathBuf,
    dir: tempfile::TempDir,
    pub(crate) port: u16,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The server of all tests that run at the moment.
static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());

/// The server, or a note that there is none.
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
pub(crate) fn cluster() -> Option<Arc<Cluster>> {
    let mut shared = SHARED.lock().unwrap();
    if let Some(cluster) = shared.upgrade() {
        return Some(cluster);
    }
    let Some(programs) = programs() else {
        println!("SKIPPED: there is no PostgreSQL server on this machine (package `postgresql`)");
        return None;
    };
    let cluster = Arc::new(Cluster::start(programs));
    *shared = Arc::downgrade(&cluster);
    Some(cluster)
}

fn programs() -> Option<PathBuf> {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = installed.map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all: Vec<PathBuf> = folders.chain(std::env::split_paths(&path)).collect();
    let has =
        |folder: &&PathBuf| ["initdb", "postgres", "psql"].iter().all(|name| folder.join(name).exists());
    all.iter().find(has).cloned()
}

impl Cluster {
    fn start(programs: PathBuf) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        std::fs::write(path.join("password"), PASSWORD).unwrap();
        let is_root = is_root();
        if is_root {
            for owned in [path.to_owned(), path.join("password")] {
                std::os::unix::fs::chown(owned, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        let command = |name: &str| {
            let program = programs.join(name);
            if !is_root {
                return Command::new(program);
            }
            let nobody = NOBODY.to_string();
            let mut command = Command::new("setpriv");
            command.args(["--reuid", &nobody, "--regid", &nobody, "--clear-groups"]);
            command.arg(program);
            command
        };
        let (data, password) = (path.join("data"), path.join("password"));
        let made = command("initdb")
            .args(["-U", USER, "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync", "--pwfile"])
            .arg(password)
            .arg("-D")
            .arg(&data)
            .current_dir(path)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        certify(&data, is_root);
        let port = free_port();
        let mut server = command("postgres");
        server.arg("-D").arg(&data).args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1", "-k"]);
        server.arg(path).args(["-c", "fsync=off", "-c", "max_connections=50"]);
        if data.join("server.crt").exists() {
            server.args(["-c", "ssl=on"]);
        }
        let log = std::fs::File::create(path.join("log")).unwrap();
        let process =
            server.current_dir(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let cluster = Self { process, programs, dir, port };
        wait_for("the start of PostgreSQL", || cluster.psql("postgres", "SELECT 1").ok());
        cluster
    }

    /// A new database with these tables.
    pub(crate) fn database(&self, name: &str, sql: &str) {
        self.psql("postgres", &format!("CREATE DATABASE {name}")).unwrap();
        self.psql(name, sql).unwrap();
    }

    /// What `psql` prints, as text alone.
    pub(crate) fn psql(&self, database: &str, sql: &str) -> Result<String, String> {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-XqAt", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", USER]);
        psql.args(["-p", &self.port.to_string(), "-d", database, "-c", sql]).env("PGPASSWORD", PASSWORD);
        let ran = psql.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if ran.status.success() { Ok(text(&ran.stdout)) } else { Err(text(&ran.stderr)) }
    }

    /// The URL of a database without a password.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{database}", self.port)
    }

    /// The certificate of the server, if the machine could make one.
    pub(crate) fn certificate(&self) -> Option<PathBuf> {
        let path = self.dir.path().join("data/server.crt");
        path.exists().then_some(path)
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout == b"0\n"
}

fn certify(data: &Path, is_root: bool) {
    let (key, certificate) = (data.join("server.key"), data.join("server.crt"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args([
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-keyout",
        ])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    if made.is_ok_and(|made| made.status.success()) && is_root {
        for owned in [&key, &certificate] {
            std::os::unix::fs::chown(owned, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
}

/// A port that nobody uses at the moment.
pub(crate) fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
