//! Pages of `docs/reference` that are generated from the code.

use std::path::Path;

/// Compares a checked-in page with the generated one; `SPELUNK_UPDATE=1` rewrites it instead.
#[expect(
    clippy::disallowed_methods,
    reason = "pages of the repository are neither documents nor durable state"
)]
pub fn check_page(name: &str, generated: &str) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    if std::env::var("SPELUNK_UPDATE").is_ok_and(|update| update == "1") {
        std::fs::create_dir_all(&dir).expect("the repository can be written to");
        std::fs::write(dir.join(name), generated).expect("the repository can be written to");
    }
    let checked_in = std::fs::read_to_string(dir.join(name)).unwrap_or_default();
    assert!(
        checked_in == generated,
        "`docs/reference/{name}` is stale: run `SPELUNK_UPDATE=1 cargo test-all` and commit the page"
    );
}
