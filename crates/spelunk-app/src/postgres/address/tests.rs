use std::path::Path;

use expect_test::expect;

use super::*;

fn read(url: &str) -> String {
    let address = Address::read(url, &Environment::from([("PGPASSWORD", "env")]));
    let target = match &address.target {
        Ok(Target { config, place, trust }) => {
            let password = String::from_utf8_lossy(config.get_password().unwrap_or_default());
            format!("{place:?} {:?} {trust:?} {password}", config.get_ssl_mode())
        }
        Err(error) => error.to_string(),
    };
    format!("{} {}: {target}", address.name, address.url)
}

#[test]
fn a_url_is_shown_without_its_password_and_keeps_everything_else() {
    let urls = [
        "postgres://ann@db.example/shop",
        "postgresql://ann:s3cret@db.example:6432/shop?sslmode=require",
        "postgres://ann:a@b/c:d@h/shop?sslmode=disable",
        "postgres://h/shop?user=ann&password=s3cret",
        "postgres://ann@h/shop?sslmode=verify-full&sslrootcert=/etc/ca.pem&connect_timeout=3",
        "postgres:///shop?host=/run/postgresql",
        "postgres://ann@h1,h2/shop",
        "postgres://ann@h/shop?sslmode=verify-ca",
        "postgres://ann",
    ];
    let shown: Vec<String> = urls.iter().map(|url| read(url)).collect();
    expect![[r#"
        shop postgres://ann@db.example/shop: Tcp("db.example", 5432) Prefer Anybody env
        shop postgresql://ann@db.example:6432/shop?sslmode=require: Tcp("db.example", 6432) Require Anybody s3cret
        postgres postgres://ann@h/shop?sslmode=disable: an `@` in a user or a password is written as `%40`
        shop postgres://h/shop?user=ann: Tcp("h", 5432) Prefer Anybody s3cret
        shop postgres://ann@h/shop?sslmode=verify-full&sslrootcert=/etc/ca.pem&connect_timeout=3: Tcp("h", 5432) Require Host(Some("/etc/ca.pem")) env
        shop postgres:///shop?host=/run/postgresql: Socket("/run/postgresql/.s.PGSQL.5432") Prefer Anybody env
        postgres postgres://ann@h1,h2/shop: it names several hosts
        postgres postgres://ann@h/shop?sslmode=verify-ca: `sslmode` is one of disable, prefer, require and verify-full
        postgres postgres://ann: Tcp("ann", 5432) Prefer Anybody env"#]].assert_eq(&shown.join("\n"));
}

#[test]
fn the_address_shows_no_password() {
    let address = Address::read("postgres://ann:s3cret@h/shop", &Environment::default());
    assert!(!format!("{address:?}").contains("s3cret"));
}

#[cfg(unix)]
#[test]
#[expect(clippy::disallowed_methods, reason = "the file is the user's own")]
fn a_password_file_is_read_as_postgres_reads_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(".pgpass");
    let lines = "# comment\nh:5432:other:ann:no\nh:*:shop:ann:a\\:b\\\\c\n*:*:*:*:last\n";
    std::fs::write(&path, lines).unwrap();
    let asked = |home: &Path, url: &str| {
        let environment = Environment::from([("HOME", home.to_str().unwrap())]);
        let target = Address::read(url, &environment).target.unwrap();
        target.config.get_password().map(|password| String::from_utf8_lossy(password).into_owned())
    };
    let mode = |mode: u32| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o600);
    assert_eq!(asked(home.path(), "postgres://ann@h/shop").as_deref(), Some("a:b\\c"));
    assert_eq!(asked(home.path(), "postgres://bob@h/shop").as_deref(), Some("last"));
    assert_eq!(asked(home.path(), "postgres://ann:mine@h/shop").as_deref(), Some("mine"));
    mode(0o644);
    assert_eq!(asked(home.path(), "postgres://ann@h/shop"), None);
}
