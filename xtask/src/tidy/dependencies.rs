//! Third-party packages have licences that `deny.toml` allows. `cargo deny check`, which is not
//! installed on every machine, also checks advisories, sources and duplicate versions.

use serde_json::Value;

use super::{Complaint, RepoFile};

const RULES: &str = "deny.toml";

pub(crate) fn check(files: &[RepoFile], metadata: &Value) -> Vec<Complaint> {
    let Some(rules) = files.iter().find(|file| file.path == RULES) else {
        return vec![Complaint::at(RULES, 0, "is missing: it says which licences are allowed")];
    };
    let allowed = allowed(&rules.text);
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let forbidden = packages.filter_map(|package| {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let message = format!("the licence `{}` of `{}` is not in `allow`", text("license"), text("name"));
        (!is_allowed(text("license"), &allowed)).then(|| Complaint::at(RULES, 0, message))
    });
    forbidden.collect()
}

/// The list of licences in the rules.
fn allowed(rules: &str) -> Vec<&str> {
    let lines = rules.lines().skip_while(|line| *line != "allow = [").skip(1);
    lines.take_while(|line| *line != "]").filter_map(|line| line.split('"').nth(1)).collect()
}

/// Whether a licence expression can be met with these licences. The innermost parentheses come first.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let met = |flat: &str| {
        flat.split(" OR ")
            .any(|all| all.split(" AND ").all(|one| allowed.contains(&one.trim()) || one.trim() == "(met)"))
    };
    let mut expression = expression.replace('/', " OR ").replace('(', "[").replace(')', "]");
    while let Some((before, rest)) = expression.rsplit_once('[') {
        let Some((inside, after)) = rest.split_once(']') else { return false };
        let word = if met(inside) { "(met)" } else { "(unmet)" };
        expression = format!("{before}{word}{after}");
    }
    met(&expression)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn licences_are_those_of_the_rules() {
        let metadata = json!({"packages": [
            {"name": "a", "license": "MIT OR Apache-2.0"},
            {"name": "b", "license": "GPL-3.0/MIT"},
            {"name": "c", "license": "(MIT OR GPL-3.0) AND ISC"},
            {"name": "d", "license": "MIT AND (GPL-3.0 OR LGPL-3.0)"},
            {"name": "e", "license": "ISC AND (MIT AND (GPL-3.0 OR MIT))"},
            {"name": "f", "license": null},
        ]});
        let text = "[licenses]\nallow = [\n    \"MIT\",\n    \"ISC\",\n]\n".to_owned();
        let messages = |files: &[RepoFile]| -> Vec<String> {
            check(files, &metadata).into_iter().map(|found| found.message).collect()
        };
        assert_eq!(
            messages(&[RepoFile { path: RULES.into(), text }]),
            [
                "the licence `MIT AND (GPL-3.0 OR LGPL-3.0)` of `d` is not in `allow`",
                "the licence `` of `f` is not in `allow`",
            ]
        );
        assert_eq!(messages(&[]), ["is missing: it says which licences are allowed"]);
    }
}
