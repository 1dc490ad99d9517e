//! Rules for imports. Modules of the prelude are imported from there; the interpreter's own are imported as written.

use ruff_python_ast::{Alias, Identifier, StmtImport, StmtImportFrom};

use super::walk::Walk;
use super::{new_text, range_of};
use crate::monty::prelude;
use crate::monty::source_map::SourceMap;

impl Walk<'_> {
    pub(super) fn import(&mut self, import: &StmtImport) -> Option<SourceMap> {
        if self.is_prelude || !import.names.iter().any(|alias| is_ours(&alias.name)) {
            return None;
        }
        let range = range_of(import);
        let parts: Vec<String> = import.names.iter().map(import_one).collect();
        Some(new_text(parts.join("; "), range.start))
    }

    pub(super) fn import_from(&mut self, import: &StmtImportFrom) -> Option<SourceMap> {
        let module = import.module.as_ref().map_or("", Identifier::as_str);
        if self.is_prelude || import.level != 0 || module == "__future__" {
            return None;
        }
        let is_star = import.names.iter().any(|alias| alias.name.as_str() == "*");
        if !is_ours(module) && !is_star {
            return None;
        }
        let bind = |bound: &str, name: &str| format!("{bound} = __sp_from(\"{module}\", \"{name}\")");
        let parts: Vec<String> = if is_star {
            star_names(module).split_whitespace().map(|name| bind(name, name)).collect()
        } else {
            let bound = |alias: &Alias| bind(alias.asname.as_ref().unwrap_or(&alias.name), &alias.name);
            import.names.iter().map(bound).collect()
        };
        let text = if parts.is_empty() { format!("__sp_import(\"{module}\")") } else { parts.join("; ") };
        Some(new_text(text, range_of(import).start))
    }
}

fn import_one(alias: &Alias) -> String {
    let name = alias.name.as_str();
    match &alias.asname {
        Some(bound) if is_ours(name) => format!("{bound} = __sp_import(\"{name}\", True)"),
        Some(bound) => format!("import {name} as {bound}"),
        None if is_ours(name) => format!("{} = __sp_import(\"{name}\")", top(name)),
        None => format!("import {name}"),
    }
}

fn top(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

fn is_ours(name: &str) -> bool {
    prelude::has_module(name) || prelude::has_module(top(name))
}

/// What `from module import *` binds: the commonly used names.
fn star_names(module: &str) -> &'static str {
    match module {
        "math" => {
            "acos asin atan atan2 ceil comb copysign cos cosh degrees dist e erf exp fabs factorial floor \
             fmod fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm log log10 log2 modf nan \
             perm pi prod radians sin sinh sqrt tan tanh tau trunc"
        }
        "collections" => "ChainMap Counter OrderedDict defaultdict deque namedtuple",
        "itertools" => {
            "accumulate chain combinations combinations_with_replacement compress count cycle dropwhile \
             filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee \
             zip_longest"
        }
        "functools" => "cache cmp_to_key lru_cache partial reduce total_ordering wraps",
        "random" => "choice choices randint random randrange sample seed shuffle uniform",
        "statistics" => "mean median mode multimode pstdev pvariance stdev variance quantiles",
        "string" => {
            "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits printable punctuation \
             whitespace Template capwords"
        }
        "datetime" => "date datetime time timedelta timezone",
        "typing" => "Any Callable Dict Iterable List Optional Set Tuple Union",
        "dataclasses" => "dataclass field asdict",
        "re" => {
            "compile escape findall finditer fullmatch match search split sub subn I IGNORECASE M \
             MULTILINE S DOTALL X VERBOSE"
        }
        "operator" => "add attrgetter itemgetter methodcaller mul sub truediv",
        "heapq" => "heapify heappop heappush nlargest nsmallest",
        _ => "",
    }
}
