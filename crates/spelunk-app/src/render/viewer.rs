//! The viewer: a web page that shows runs. Its source files in `viewer/` are plain modules, which are bundled into one
//! script here, so that the page of a server and the file of `run export --html` are the same program.

mod blobs;
mod export;
mod plan;

use std::sync::LazyLock;

pub use self::export::{Exported, exported};
pub use self::plan::plan;

macro_rules! modules {
    ($($name:literal)+) => { &[$(($name, include_str!(concat!("../../viewer/", $name)))),+] };
}

/// The modules, each after those it imports.
const SCRIPTS: &[(&str, &str)] = modules! {
    "units.js" "dom.js" "effects.js" "fold.js" "stream.js" "api.js" "prose.js" "windowed.js" "tree.js" "python.js"
    "states.js" "timeline.js" "flame.js" "calls.js" "source.js" "detail.js" "cells.js" "findings.js" "treemap.js" "log.js"
    "list.js" "fleet.js" "form.js" "compare.js" "watch.js" "answer.js" "masthead.js" "consent.js" "run.js" "main.js"
};
const STYLE: &str = include_str!("../../viewer/viewer.css");
const ICON: &str = include_str!("../../viewer/icon.svg");
const PAGE: &str = include_str!("../../viewer/page.html");
const HEAD_MARK: &str = "<!--head-->";
const BODY_MARK: &str = "<!--body-->";

#[derive(Debug, PartialEq, Eq)]
pub struct Asset {
    pub(crate) name: &'static str,
    pub media_type: &'static str,
    pub body: String,
    pub digest: String,
}

static ASSETS: LazyLock<[Asset; 3]> = LazyLock::new(|| {
    [
        asset_of("viewer.js", "text/javascript; charset=utf-8", script()),
        asset_of("viewer.css", "text/css; charset=utf-8", STYLE.to_owned()),
        asset_of("icon.svg", "image/svg+xml", ICON.to_owned()),
    ]
});

static SERVED: LazyLock<String> = LazyLock::new(|| {
    let [script, style, icon] =
        ASSETS.each_ref().map(|asset| format!("/assets/{}?v={}", asset.name, asset.digest));
    let head = format!(
        "<link rel=\"icon\" href=\"{icon}\" type=\"image/svg+xml\">\n<link rel=\"stylesheet\" href=\"{style}\">\n\
         <script type=\"module\" src=\"{script}\"></script>"
    );
    PAGE.replacen(HEAD_MARK, &head, 1).replacen(BODY_MARK, "", 1)
});

pub fn page() -> &'static str {
    &SERVED
}

pub fn asset(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

fn asset_of(name: &'static str, media_type: &'static str, body: String) -> Asset {
    let digest = spelunk_journal::digest(body.as_bytes()).to_string().chars().take(16).collect();
    Asset { name, media_type, body, digest }
}

/// Bundles all modules into one script. Each becomes a function that is called once and returns the module's exports,
/// so that modules share no names.
fn script() -> String {
    let mut joined = String::new();
    for (name, module) in SCRIPTS {
        joined += &format!("const {} = (() => {{\n", variable(name));
        let mut exports = Vec::new();
        for line in module.lines() {
            if let Some((words, from)) = import(line) {
                joined += &format!("const {{ {words} }} = {};\n", variable(from));
                continue;
            }
            let exported = line.strip_prefix("export ");
            exports.extend(exported.and_then(declared));
            joined += exported.unwrap_or(line);
            joined.push('\n');
        }
        joined += &format!("return {{ {} }};\n}})();\n", exports.join(", "));
    }
    joined
}

fn variable(module: &str) -> String {
    format!("${}", module.trim_end_matches(".js"))
}

/// `import { words } from './module.js';`
fn import(line: &str) -> Option<(&str, &str)> {
    let (words, from) = line.strip_prefix("import { ")?.split_once(" } from './")?;
    Some((words, from.strip_suffix("';")?))
}

/// The name that a line declares: `async function read(origin) {`.
fn declared(line: &str) -> Option<&str> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let rest = ["function ", "const ", "class "].iter().find_map(|word| line.strip_prefix(word))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

#[cfg(test)]
mod tests;
