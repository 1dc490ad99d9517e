use super::*;

#[track_caller]
fn check(paths: &str, expected: bool) {
    let judged: Vec<_> = paths.split(' ').map(|path| (path, is_secret(Path::new(path)))).collect();
    let wanted: Vec<_> = paths.split(' ').map(|path| (path, expected)).collect();
    assert_eq!(judged, wanted);
}

#[test]
fn names_that_keys_and_passwords_are_kept_under_are_secret() {
    check(".env app/.env .env.local .ENV .Env.Production .envrc", true);
    check("id_rsa id_rsa.pub id_ed25519_work id_ecdsa id_dsa", true);
    check("server.pem tls/Server.KEY a.p12 a.pfx a.kdbx AuthKey.p8 a.jks a.ppk terraform.tfstate", true);
    check("production.env a/db.env group_vars/vault.yml wp-config.php .vault_pass secrets.toml", true);
    check(".netrc .npmrc .pypirc .pgpass .git-credentials .htpasswd secrets.yaml credentials.json", true);
}

#[test]
fn everything_in_a_directory_of_credentials_is_secret() {
    check("/users/a/.aws/credentials .ssh/config .gnupg/x/y .kube/config .ssh", true);
    check("/users/a/.config/gcloud/token .docker/config.json .cargo/credentials", true);
    check(".config/other/token docker/config.json ssh/config", false);
}

#[test]
fn examples_and_look_alikes_are_not() {
    check(
        "example.env sample.env lang/auth.json .env.example .env.sample .env.local.template server.pem.dist",
        false,
    );
    check("environment.md env .environment keys.md key pem monkey.rs id.rs / ..", false);
}

#[test]
fn a_directory_is_a_place_of_secrets_by_what_is_kept_in_it() {
    let judged = [".aws", "a/.ssh", ".config/gcloud", ".env", ".git", "src"]
        .map(|path| is_secret_place(Path::new(path)));
    assert_eq!(judged, [true, true, true, false, false, false]);
}
