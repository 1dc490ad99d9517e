//! Reference pages, generated from the table: a settings file with every default, and the list of variables.

use std::fmt::Write as _;

use super::group::KINDS;
use super::table::{self, Fallback, Kind, SECTIONS, Setting};
use crate::env::VARIABLES;

/// Every setting with its default, checked in as `docs/reference/defaults.toml`. Every line is commented out, so the
/// page can be pasted whole.
pub fn defaults_toml() -> String {
    let mut page = String::from(
        "# Every setting of Spelunk with its default. Generated from the source: do not edit.\n\
         # Copy what you need into `spelunk.toml` or `~/.config/spelunk/config.toml` and remove the `#`.\n",
    );
    for (section, doc) in SECTIONS {
        push(&mut page, format_args!("\n# {doc}\n[{section}]\n"));
        for setting in table::all().iter().filter(|setting| setting.section() == *section) {
            push(
                &mut page,
                format_args!("\n# {}{}\n{}\n", setting.doc, remark(setting), default_line(setting)),
            );
        }
    }
    for kind in &*KINDS {
        push(&mut page, format_args!("\n# {}\n# [{}.{}]\n", kind.doc, kind.section, kind.example));
        for field in &kind.fields {
            let remark = words(field) + field.reach.remark();
            push(&mut page, format_args!("\n# {}{remark}\n{}\n", field.doc, default_line(field)));
        }
    }
    page
}

/// Every environment variable, checked in as `docs/reference/environment.md`.
pub fn environment_md() -> String {
    let mut page = String::from(
        "# Environment variables\n\n\
         Generated from the source: do not edit. An empty variable counts as unset.\n\n\
         | variable | meaning |\n|---|---|\n",
    );
    for (variable, doc) in VARIABLES {
        push(&mut page, format_args!("| `{variable}` | {doc} |\n"));
    }
    page.push_str(
        "\n## Settings\n\n\
         Every setting has a variable. It overrides settings files, and flags override it. \
         A variable that begins with `SPELUNK_` and is not on this page is rejected.\n\n\
         | variable | setting | default | meaning |\n|---|---|---|---|\n",
    );
    for setting in table::all() {
        let default = match &setting.fallback {
            Fallback::Value(value) => format!("`{value}`"),
            Fallback::Unset { .. } => "none".to_owned(),
        };
        push(
            &mut page,
            format_args!("| `{}` | `{}` | {default} | {} |\n", setting.variable(), setting.key, setting.doc),
        );
    }
    page
}

fn default_line(setting: &Setting) -> String {
    let (Fallback::Value(value) | Fallback::Unset { example: value }) = &setting.fallback;
    format!("# {} = {value}", setting.word())
}

fn remark(setting: &Setting) -> String {
    let is_set = matches!(setting.fallback, Fallback::Value(_));
    let example = if is_set { "" } else { " No default. Example:" };
    words(setting) + setting.reach.remark() + example
}

fn words(setting: &Setting) -> String {
    if let Kind::Choice(words) = setting.kind {
        format!(" One of: {}.", words.join(", "))
    } else {
        String::new()
    }
}

fn push(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("writing to a string cannot go wrong");
}

#[cfg(test)]
pub(super) mod tests;
