//! Folding: an id with slashes becomes a single path segment. `…/a/b/peek` and `…/a%2Fb/peek` both peek at
//! the context `a/b`, and an id that ends like an operation (`a/peek`) can be written `a%2Fpeek`.

use axum::http::{Request, Uri};

const PREFIX: &str = "/api/context";
const LOOKS: [&str; 3] = ["peek", "grep", "search"];

pub(crate) fn fold<B>(request: &mut Request<B>) {
    let Some(path) = folded(request.uri().path()) else { return };
    let mut parts = request.uri().clone().into_parts();
    let path_and_query = match request.uri().query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    // A valid URI stays valid when a slash is percent-encoded.
    let Ok(path_and_query) = path_and_query.parse() else { return };
    parts.path_and_query = Some(path_and_query);
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
}

fn folded(path: &str) -> Option<String> {
    let rest = path.strip_prefix(PREFIX)?;
    if rest.is_empty() {
        return Some(format!("{PREFIX}/"));
    }
    let parts: Vec<&str> = rest.strip_prefix('/')?.split('/').collect();
    let (id, look) = match parts.as_slice() {
        ["search", "all" | "combined"] | ["register", "personal"] | ["stats", "log" | "evict"] => {
            return None;
        }
        [id @ .., "chunk", _] if !id.is_empty() => (id, parts.get(id.len()..)?),
        [id @ .., look] if !id.is_empty() && LOOKS.contains(look) => (id, parts.get(id.len()..)?),
        id => (id, [].as_slice()),
    };
    if id.len() < 2 {
        return None;
    }
    let mut path = format!("{PREFIX}/{}", id.join("%2F"));
    for part in look {
        path.push('/');
        path.push_str(part);
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_of_an_id_become_part_of_it() {
        let shown = |path: &str| folded(path).unwrap_or_else(|| "as it is".to_owned());
        assert_eq!(shown("/api/context"), "/api/context/");
        for path in [
            "/api/context/",
            "/api/context/a",
            "/api/context/a/peek",
            "/api/context/a%2Fb/grep",
            "/api/context/a/chunk/3",
            "/api/context/stats",
            "/api/context/register",
            "/api/context/search/all",
            "/api/context/search/combined",
            "/api/context/register/personal",
            "/api/context/stats/log",
            "/api/context/stats/evict",
            "/api/context/peek",
            "/api/contexts/a/b",
            "/v1/runs/a/b",
        ] {
            assert_eq!(shown(path), "as it is", "{path}");
        }
        assert_eq!(shown("/api/context/a/b"), "/api/context/a%2Fb");
        assert_eq!(shown("/api/context/a/b/peek"), "/api/context/a%2Fb/peek");
        assert_eq!(shown("/api/context/a/b/c/chunk/3"), "/api/context/a%2Fb%2Fc/chunk/3");
        assert_eq!(shown("/api/context/a/peek/peek"), "/api/context/a%2Fpeek/peek");
        assert_eq!(shown("/api/context//etc/passwd"), "/api/context/%2Fetc%2Fpasswd");
        assert_eq!(shown("/api/context/../x"), "/api/context/..%2Fx");
        assert_eq!(shown("/api/context/search/all/peek"), "/api/context/search%2Fall/peek");
    }

    #[test]
    fn parameters_stay() {
        let mut request = Request::builder().uri("/api/context/a/b/peek?lines=2").body(()).unwrap();
        fold(&mut request);
        assert_eq!(request.uri(), "/api/context/a%2Fb/peek?lines=2");
    }
}
