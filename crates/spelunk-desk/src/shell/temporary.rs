//! `mktemp` without randomness: it takes the first free name, so the same desk gives the same name.

use bashkit::{Builtin, BuiltinContext, ExecResult, async_trait};

const TEMPLATE: &str = "/tmp/tmp.XXXXXXXXXX";
const PLACES_MIN: usize = 3;
/// How many names are tried. A script may run as many commands, and a desk holds fewer files.
const NAMES_MAX: u32 = 10_000;

/// `mktemp [-d] [TEMPLATE]` as a command of the interpreter.
pub(super) struct Temporary;

#[async_trait]
impl Builtin for Temporary {
    async fn execute(&self, context: BuiltinContext<'_>) -> bashkit::Result<ExecResult> {
        let words: Vec<&str> = context.args.iter().map(String::as_str).collect();
        let (is_directory, template) = match words.as_slice() {
            [] => (false, TEMPLATE),
            ["-d"] => (true, TEMPLATE),
            ["-d", template] => (true, *template),
            [template] if !template.starts_with('-') => (false, *template),
            _ => return Ok(failed("usage: mktemp [-d] [TEMPLATE]")),
        };
        let stem = template.trim_end_matches('X');
        let n_places = template.len() - stem.len();
        if n_places < PLACES_MIN {
            return Ok(failed(&format!("too few X's in template '{template}'")));
        }
        for n in 0..NAMES_MAX {
            let name = format!("{stem}{n:0n_places$}");
            let path = context.cwd.join(&name);
            if context.fs.exists(&path).await? {
                continue;
            }
            let made = if is_directory {
                context.fs.mkdir(&path, false).await
            } else {
                context.fs.write_file(&path, &[]).await
            };
            return Ok(match made {
                Ok(()) => ExecResult::ok(format!("{name}\n")),
                Err(error) => failed(&format!("could not create '{name}': {error}")),
            });
        }
        Ok(failed(&format!("every name for '{template}' is taken")))
    }
}

fn failed(why: &str) -> ExecResult {
    ExecResult::err(format!("mktemp: {why}\n"), 1)
}
