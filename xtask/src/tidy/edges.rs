//! Which crate may depend on which. The table is the diagram in ARCHITECTURE.md; a new edge must be
//! a decision, not an accident.

use serde_json::Value;

use super::Complaint;

/// Each crate and the workspace crates it may depend on, without `spelunk-`.
const ALLOWED: &[(&str, &str)] = &[
    ("spelunk-types", ""),
    ("spelunk-fs", ""),
    ("spelunk-re", ""),
    ("spelunk-context", "fs re types"),
    ("spelunk-index", "context fs types"),
    ("spelunk-desk", "context types"),
    ("spelunk-sandbox", "re types"),
    ("spelunk-model", "types"),
    ("spelunk-journal", "fs types"),
    ("spelunk-fleet", "fs journal model types"),
    ("spelunk-tables", "context"),
    ("spelunk-engine", "context desk fs index journal model sandbox tables types"),
    ("spelunk-eval", "model types"),
    ("spelunk-app", "context desk engine fleet fs index journal model sandbox tables types"),
    ("spelunk-server", "app context engine fleet fs index journal model sandbox types"),
    ("spelunk", "app context desk engine eval fleet fs index journal model sandbox server types"),
    ("spelunk-python", "spelunk"),
    ("spelunk-fuzz", "context journal model sandbox server tables types"),
    ("xtask", "types"),
];
/// May use everything; only tests may use it.
const TESTKIT: &str = "spelunk-testkit";
/// Only the command line and the servers need these.
const INTERFACES: &[&str] = &["axum", "clap", "rmcp"];
/// The external crates that `spelunk-types` may use.
const TYPES_EXTERNAL: &[&str] = &["serde"];

pub(crate) fn check(metadata: &Value) -> Vec<Complaint> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    packages.iter().flat_map(|package| check_package(package, &names)).collect()
}

fn check_package(package: &Value, names: &[&str]) -> Vec<Complaint> {
    let name = package["name"].as_str().unwrap_or_default();
    let path = manifest_path(name);
    let allowed: Vec<&str> = match ALLOWED.iter().find(|(known, _)| *known == name) {
        Some((_, allowed)) => allowed.split(' ').collect(),
        None if name == TESTKIT => names.iter().filter_map(|name| name.strip_prefix("spelunk-")).collect(),
        None => {
            return vec![Complaint::at(
                &path,
                0,
                format!("`{name}` is not in the table of crates: add it to edges.rs"),
            )];
        }
    };
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut complaints = Vec::new();
    for dependency in dependencies {
        let on = dependency["name"].as_str().unwrap_or_default();
        let is_dev = dependency["kind"].as_str() == Some("dev");
        let is_optional = dependency["optional"].as_bool() == Some(true);
        if let Some(message) = refuse_interface(name, on, is_dev || is_optional) {
            complaints.push(Complaint::at(&path, 0, message));
        }
        let is_ours = names.contains(&on) || ALLOWED.iter().any(|(known, _)| *known == on);
        if let Some(message) = refuse(name, on, is_dev, is_ours, &allowed) {
            complaints.push(Complaint::at(&path, 0, message));
        }
    }
    complaints
}

/// A program that uses only the library builds neither the command line nor a server.
fn refuse_interface(name: &str, on: &str, is_left_out: bool) -> Option<String> {
    let is_refused = match name {
        "spelunk" => on != "spelunk-app",
        "spelunk-app" => INTERFACES.contains(&on),
        _ => false,
    };
    (is_refused && !is_left_out).then(|| format!("`{name}` without its features would build `{on}`"))
}

fn refuse(name: &str, on: &str, is_dev: bool, is_ours: bool, allowed: &[&str]) -> Option<String> {
    if on == TESTKIT && name != TESTKIT {
        return (!is_dev).then(|| format!("`{name}` uses `{TESTKIT}` outside of its tests"));
    }
    if is_ours {
        return (!allowed.contains(&on.strip_prefix("spelunk-").unwrap_or(on)))
            .then(|| format!("`{name}` may not look at `{on}`: arrows point down only"));
    }
    let is_too_much = name == "spelunk-types" && !is_dev && !TYPES_EXTERNAL.contains(&on);
    is_too_much.then(|| format!("`spelunk-types` may use nothing but serde, not `{on}`"))
}

fn manifest_path(name: &str) -> String {
    match name {
        "xtask" => "xtask/Cargo.toml".to_owned(),
        "spelunk-fuzz" => "fuzz/Cargo.toml".to_owned(),
        _ => format!("crates/{name}/Cargo.toml"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tidy::tests::told;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
        let list: Vec<Value> =
            dependencies.iter().map(|(on, kind)| json!({"name": on, "kind": kind})).collect();
        json!({"name": name, "dependencies": list})
    }

    fn check_one(name: &str, dependencies: &[(&str, Option<&str>)]) -> Vec<String> {
        let others = [package("spelunk-types", &[]), package("spelunk-testkit", &[])];
        let mut packages = vec![package(name, dependencies)];
        packages.extend(others.into_iter().filter(|other| other["name"] != name));
        told(&check(&json!({"packages": packages})))
    }

    #[test]
    fn arrows_that_point_down_are_allowed() {
        assert_eq!(check_one("spelunk-index", &[("spelunk-context", None), ("regex", None)]), [""; 0]);
        assert_eq!(check_one("spelunk-engine", &[("spelunk-model", None), ("spelunk-types", None)]), [""; 0]);
        assert_eq!(check_one("spelunk-testkit", &[("spelunk-types", None)]), [""; 0]);
    }

    #[test]
    fn a_sibling_or_a_crate_above_is_refused() {
        assert_eq!(
            check_one("spelunk-model", &[("spelunk-journal", None)]),
            ["0: `spelunk-model` may not look at `spelunk-journal`: arrows point down only"]
        );
        assert_eq!(
            check_one("spelunk-context", &[("spelunk-engine", Some("dev"))]),
            ["0: `spelunk-context` may not look at `spelunk-engine`: arrows point down only"]
        );
        assert_eq!(
            check_one("spelunk-context", &[("spelunk-index", Some("build"))]),
            ["0: `spelunk-context` may not look at `spelunk-index`: arrows point down only"]
        );
    }

    #[test]
    fn only_tests_may_use_the_testkit() {
        assert_eq!(check_one("spelunk-model", &[("spelunk-testkit", Some("dev"))]), [""; 0]);
        assert_eq!(
            check_one("spelunk-model", &[("spelunk-testkit", None)]),
            ["0: `spelunk-model` uses `spelunk-testkit` outside of its tests"]
        );
    }

    #[test]
    fn the_library_alone_builds_no_interface() {
        assert_eq!(
            check_one("spelunk", &[("clap", None), ("tempfile", Some("dev")), ("spelunk-app", None)]),
            ["0: `spelunk` without its features would build `clap`"]
        );
        assert_eq!(
            check_one("spelunk-app", &[("axum", None)]),
            ["0: `spelunk-app` without its features would build `axum`"]
        );
        let optional =
            json!({"name": "spelunk", "dependencies": [{"name": "clap", "kind": null, "optional": true}]});
        assert_eq!(check(&json!({"packages": [optional]})), []);
    }

    #[test]
    fn the_types_use_serde_and_nothing_else() {
        let dependencies = [("serde", None), ("expect-test", Some("dev")), ("tokio", None)];
        assert_eq!(
            check_one("spelunk-types", &dependencies),
            ["0: `spelunk-types` may use nothing but serde, not `tokio`"]
        );
    }

    #[test]
    fn a_crate_that_nobody_planned_is_refused() {
        assert_eq!(
            check_one("spelunk-utils", &[]),
            ["0: `spelunk-utils` is not in the table of crates: add it to edges.rs"]
        );
    }
}
