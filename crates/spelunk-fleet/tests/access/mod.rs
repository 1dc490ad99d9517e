//! Who may use a fleet, and which servers can be one.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use spelunk_fleet::{Fleet, FleetOptions};
use spelunk_journal::{Disk as _, SharedRuns as _, digest};
use spelunk_testkit::NatsServer;
use spelunk_types::Explain as _;

use super::{line, node, options, run};

/// How long a refusal may take on a slow machine, far below the minute that a node waits for absent servers.
const SECONDS: Duration = Duration::from_secs(10);
/// How long a node waits at its start.
const NODE_PATIENCE: Duration = Duration::from_mins(1);

/// The code and the message of a refusal that comes within seconds, however patient the node is.
fn refused(options: FleetOptions) -> (&'static str, String) {
    let began = Instant::now();
    let error = Fleet::connect(options, NODE_PATIENCE).err().unwrap();
    assert!(began.elapsed() < SECONDS, "{error} after {:?}", began.elapsed());
    assert!(error.hint().is_some());
    (error.code().name(), error.to_string())
}

/// Uses everything of a fleet once.
fn works(options: FleetOptions, dir: &Path) {
    let fleet = Fleet::connect(options, Duration::ZERO).unwrap();
    let here = spelunk_fleet::FleetWorkspace::new(fleet, spelunk_fs::PrivateDir::new(dir.join("files")));
    let _lease = here.lease(&run(1)).unwrap();
    here.append(&format!("runs/{}/journal.jsonl", run(1)), &line(0)).unwrap();
    here.catch_up(&run(1)).unwrap();
    assert_eq!(here.runs().unwrap(), [run(1)]);
    let fleet = here.fleet();
    fleet.put_blob(&digest(b"blob"), b"blob").unwrap();
    assert_eq!(fleet.get_blob(&digest(b"blob")).unwrap(), Some(b"blob".to_vec()));
    fleet.note_run(&run(1), b"noted".to_vec()).unwrap();
    assert_eq!(fleet.noted_run(&run(1)).unwrap(), Some(b"noted".to_vec()));
    assert_eq!(fleet.remember_key("key", b"1".to_vec()).unwrap(), None);
    fleet.enqueue("ann", "job", b"job".to_vec()).unwrap();
    assert_eq!(fleet.status().unwrap().queued, 1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let job = runtime.block_on(fleet.next_job(Duration::from_secs(5))).unwrap().unwrap();
    assert_eq!(job.body(), b"job");
    runtime.block_on(job.done());
    let status = fleet.status().unwrap();
    assert_eq!((status.queued, status.taken), (0, 0));
    here.remove(&run(1)).unwrap();
}

/// A key and a certificate for 127.0.0.1; `None`, said aloud, where there is no `openssl`.
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn certificate(dir: &Path, name: &str) -> Option<(PathBuf, PathBuf)> {
    let (key, certificate) = (dir.join(format!("{name}.key")), dir.join(format!("{name}.crt")));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"])
        .args(["-subj", &format!("/CN={name}")])
        .args(["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    if made.is_ok_and(|made| made.status.success()) {
        return Some((key, certificate));
    }
    println!("SKIPPED: there is no `openssl` on this machine");
    None
}

#[test]
fn a_tls_address_needs_a_known_authority() {
    let dir = tempfile::tempdir().unwrap();
    let Some((key, ours)) = certificate(dir.path(), "server") else { return };
    let Some((_, other)) = certificate(dir.path(), "other") else { return };
    let tls = format!("tls {{ cert_file: \"{}\", key_file: \"{}\" }}\n", ours.display(), key.display());
    let Some(nats) = NatsServer::configured(dir.path(), &tls) else { return };
    let url = nats.url().replace("nats://", "tls://");
    let with = |ca_file: Option<PathBuf>| FleetOptions { ca_file, ..options(&url, dir.path(), "a") };
    works(with(Some(ours)), dir.path());
    for ca_file in [Some(other), None] {
        let (code, message) = refused(with(ca_file));
        assert_eq!(code, "fleet-unavailable");
        assert!(message.ends_with("invalid peer certificate: UnknownIssuer"), "{message}");
    }
    let (_, message) = refused(with(Some(dir.path().join("absent.crt"))));
    assert!(message.contains("No such file"), "{message}");
}

const HEADER: &str = r#"{"typ":"JWT","alg":"ed25519-nkey"}"#;

/// A token as the tools of NATS write them.
fn token(issuer: &KeyPair, subject: &KeyPair, facts: &str) -> String {
    let claims = format!(
        r#"{{"jti":"test","iat":1700000000,"iss":"{}","name":"test","sub":"{}","nats":{{{facts},"version":2}}}}"#,
        issuer.public_key(),
        subject.public_key()
    );
    let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let signed = format!("{}.{}", encode(HEADER.as_bytes()), encode(claims.as_bytes()));
    let signature = issuer.sign(signed.as_bytes()).unwrap();
    format!("{signed}.{}", encode(&signature))
}

fn credentials(dir: &Path, name: &str, account: &KeyPair) -> PathBuf {
    let user = KeyPair::new_user();
    let jwt = token(account, &user, r#""type":"user","subs":-1,"data":-1,"payload":-1"#);
    let text = format!(
        "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        user.seed().unwrap()
    );
    let file = dir.join(name);
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn credentials_of_a_file_are_used_and_wrong_ones_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (operator, system, team) = (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account());
    let limits = |storage: i32| {
        format!(
            r#""type":"account","limits":{{"subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,"wildcards":true,"conn":-1,"leaf":-1,"mem_storage":{storage},"disk_storage":{storage},"streams":{storage},"consumer":{storage}}}"#
        )
    };
    let config = format!(
        "operator: {}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{\n  {}: {}\n  {}: {}\n}}\n",
        token(&operator, &operator, r#""type":"operator""#),
        system.public_key(),
        system.public_key(),
        token(&operator, &system, &limits(0)),
        team.public_key(),
        token(&operator, &team, &limits(-1)),
    );
    let Some(nats) = NatsServer::configured(dir.path(), &config) else { return };
    let with =
        |file: Option<PathBuf>| FleetOptions { credentials: file, ..options(&nats.url(), dir.path(), "a") };
    works(with(Some(credentials(dir.path(), "team.creds", &team))), dir.path());
    let stranger = credentials(dir.path(), "stranger.creds", &KeyPair::new_account());
    for wrong in [Some(stranger), None] {
        let (code, message) = refused(with(wrong));
        assert_eq!(code, "fleet-unavailable");
        assert!(message.ends_with(": authorization violation"), "{message}");
    }
    let absent = dir.path().join("absent.creds");
    let (_, message) = refused(with(Some(absent.clone())));
    let expected = format!("the credentials `{}` could not be read: ", absent.display());
    assert!(message.contains(&expected), "{message}");
    std::fs::write(&absent, "nothing").unwrap();
    let (_, message) = refused(with(Some(absent)));
    assert!(message.contains(&expected), "{message}");
}

/// The permissions of docs/fleet.md, for the prefix `test`.
pub(super) const PERMISSIONS: &str = r#"publish: ["test.>", "_INBOX.>", "$JS.API.>", "$JS.ACK.>", "$KV.>", "$O.>"], subscribe: ["test.>", "_INBOX.>"]"#;

#[test]
fn the_documented_permissions_suffice_and_a_denied_one_is_named() {
    let page = include_str!("../../../../docs/fleet.md");
    assert!(
        page.contains(&PERMISSIONS.replace("test.>", "spelunk.>")),
        "docs/fleet.md has other permissions"
    );
    let dir = tempfile::tempdir().unwrap();
    let user = |name: &str, permissions: &str| {
        format!("{{ user: {name}, password: p, permissions: {{ {permissions} }} }}")
    };
    let users = [
        user("all", PERMISSIONS),
        user("mute", &PERMISSIONS.replace("\"$JS.API.>\", ", "")),
        user("deaf", &PERMISSIONS.replace("_INBOX", "_OTHER")),
        user("idle", &PERMISSIONS.replacen("test.>", "test.journal.>", 1)),
    ];
    let config = format!("authorization {{ users: [{}] }}\n", users.join(", "));
    let Some(nats) = NatsServer::configured(dir.path(), &config) else { return };
    let of = |name: &str| {
        let url = nats.url().replace("nats://", &format!("nats://{name}:p@"));
        options(&url, dir.path(), name)
    };
    works(of("all"), dir.path());
    let (code, message) = refused(of("mute"));
    assert_eq!(code, "fleet-unavailable");
    assert_eq!(
        message,
        "the NATS server denied permission: Permissions Violation for Publish to \
         \"$JS.API.STREAM.INFO.test_journal\""
    );
    let (_, message) = refused(of("deaf"));
    assert!(message.contains("Permissions Violation for Subscription to \"_INBOX."), "{message}");
    // What is denied later is named, too.
    let fleet = Fleet::connect(of("idle"), Duration::ZERO).unwrap();
    let began = Instant::now();
    let error = fleet.enqueue("ann", "job", b"job".to_vec()).unwrap_err();
    let denied = "the NATS server denied permission: Permissions Violation for Publish to \"test.queue.";
    assert!(error.to_string().starts_with(denied), "{error}");
    assert!(began.elapsed() < SECONDS, "{:?}", began.elapsed());
}

#[test]
fn a_wrong_password_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let config = "authorization { user: ann, password: right }\n";
    let Some(nats) = NatsServer::configured(dir.path(), config) else { return };
    for wrong in ["ann:hush-4711@", "bob:right@", ""] {
        let url = nats.url().replace("nats://", &format!("nats://{wrong}"));
        let (code, message) = refused(options(&url, dir.path(), "a"));
        assert_eq!(code, "fleet-unavailable");
        let shown = nats.url();
        assert_eq!(message, format!("could not connect to the fleet at `{shown}`: authorization violation"));
    }
}

/// A server that greets as version 2.9 does, and answers pings.
fn old_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let greeting = r#"{"server_id":"OLD","server_name":"old","version":"2.9.10","go":"go1.19","host":"127.0.0.1","port":4222,"headers":true,"max_payload":1048576,"jetstream":true,"proto":1}"#;
        write!(stream, "INFO {greeting}\r\n").unwrap();
        for line in BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok) {
            if line.starts_with("PING") {
                stream.write_all(b"PONG\r\n").unwrap();
            }
        }
    });
    port
}

#[test]
fn an_older_server_is_told_which_version_is_needed() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("nats://127.0.0.1:{}", old_server());
    let (code, message) = refused(options(&url, dir.path(), "a"));
    assert_eq!(code, "fleet-unusable");
    assert_eq!(
        message,
        format!("the NATS server at `{url}` has version 2.9.10; a fleet needs 2.10 or newer")
    );
}

#[test]
fn a_prefix_is_a_fleet() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let ours = node(&nats, dir.path(), "a");
    let of = |prefix: &str, node: &str| {
        let options = FleetOptions { prefix: prefix.into(), ..options(&nats.url(), dir.path(), node) };
        let fleet = Fleet::connect(options, Duration::ZERO).unwrap();
        spelunk_fleet::FleetWorkspace::new(fleet, spelunk_fs::PrivateDir::new(dir.path().join(node)))
    };
    let (same, other) = (of("test", "b"), of("test2", "c"));
    let _lease = ours.lease(&run(1)).unwrap();
    ours.append(&format!("runs/{}/journal.jsonl", run(1)), &line(0)).unwrap();
    ours.fleet().put_blob(&digest(b"blob"), b"blob").unwrap();
    ours.fleet().enqueue("ann", "job", b"job".to_vec()).unwrap();
    // Whoever has the prefix is in the fleet.
    assert!(same.lease(&run(1)).is_err());
    assert_eq!((same.runs().unwrap(), same.fleet().status().unwrap().queued), (vec![run(1)], 1));
    // Another prefix sees nothing of it.
    assert!(other.lease(&run(1)).is_ok());
    assert_eq!((other.runs().unwrap(), other.fleet().status().unwrap().queued), (vec![], 0));
    assert_eq!(other.fleet().get_blob(&digest(b"blob")).unwrap(), None);
}

#[test]
fn a_file_over_a_gibibyte_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let Some(nats) = NatsServer::start(dir.path()) else { return };
    let path = dir.path().join("large.txt");
    // It has no blocks on the disk.
    std::fs::File::create(&path).unwrap().set_len((1 << 30) + 1).unwrap();
    let file = spelunk_fleet::SnapshotFile { name: "large.txt".into(), path: path.clone() };
    let error = node(&nats, dir.path(), "a").fleet().upload_snapshot(vec![file]).unwrap_err();
    assert_eq!(error.code().name(), "source-unreadable");
    assert_eq!(
        error.to_string(),
        format!("could not send `{}` to the fleet: it is larger than 1 GiB", path.display())
    );
}
