//! Repairs queries that fail, or find an empty cell, where the error shows what was meant. A small model rarely
//! corrects a query itself, and a large one is spared a call. A query with a result is never changed.

/// The query as it was probably meant, given what is wrong with it; `None` if that does not tell.
pub(super) fn repaired(sql: &str, fault: &str) -> Option<String> {
    if let Some((_, rest)) = fault.split_once("no such column: ") {
        return unqualified(sql, rest.split_whitespace().next()?);
    }
    if fault.contains("misuse of aggregate") {
        return grouped(sql);
    }
    if fault.contains("near \"<\": syntax error") {
        return without_alias(sql);
    }
    if fault.contains("an empty cell") { with_values(sql) } else { None }
}

/// A column of another table than the one that it is ascribed to: without the table, SQLite finds it if there is only one.
fn unqualified(sql: &str, column: &str) -> Option<String> {
    let (_, name) = column.trim_end_matches('.').split_once('.')?;
    let is_part = |c: char| c.is_alphanumeric() || "_.".contains(c);
    let (mut repaired, mut rest) = (String::new(), sql);
    while let Some(at) = rest.find(column) {
        let (before, found) = rest.split_at(at);
        let after = found.get(column.len()..)?;
        let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        repaired.push_str(before);
        repaired.push_str(if is_whole { name } else { column });
        rest = after;
    }
    repaired.push_str(rest);
    (repaired != sql).then_some(repaired)
}

/// `SELECT x … ORDER BY count(*)` asks for groups of x. If every x is unique, none is the most frequent.
fn grouped(sql: &str) -> Option<String> {
    let (selected, order) = (clause(sql, "select ", " from ")?, find(sql, " order by ")?);
    if find(sql, " group by ").is_some() || selected.contains('(') || find(selected, " as ").is_some() {
        return None;
    }
    let columns = selected.trim().trim_start_matches("DISTINCT ").trim_start_matches("distinct ");
    let (before, after) = sql.split_at(order);
    let having = if find(after, "count(").is_some() { " HAVING count(*) > 1" } else { "" };
    Some(format!("{before} GROUP BY {columns}{having}{after}"))
}

/// The rows without a value are no group.
fn with_values(sql: &str) -> Option<String> {
    let by = clause(sql, " group by ", " order by ")?;
    if by.contains(',') || find(by, " having ").is_some() {
        return None;
    }
    let (before, after) = sql.split_at(find(sql, " order by ")?);
    Some(format!("{before} HAVING {} IS NOT NULL{after}", by.trim()))
}

/// A name such as `<total>` is none in SQL.
fn without_alias(sql: &str) -> Option<String> {
    let start = find(sql, " as <")?;
    let (before, alias) = sql.split_at(start);
    let (_, after) = alias.split_once('>')?;
    Some(format!("{before}{after}"))
}

/// What is between two keywords, which must be written once.
fn clause<'s>(sql: &'s str, from: &str, to: &str) -> Option<&'s str> {
    let start = find(sql, from)? + from.len();
    sql.get(start..find(sql, to)?)
}

/// The place of a keyword with any white space around it; `None` unless it occurs once.
fn find(sql: &str, keyword: &str) -> Option<usize> {
    let flat: String = sql.chars().map(|c| if c.is_ascii_whitespace() { ' ' } else { c }).collect();
    let flat = flat.to_ascii_lowercase();
    let mut places = flat.match_indices(keyword);
    let (place, _) = places.next()?;
    places.next().is_none().then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_repaired_where_the_error_shows_what_was_meant() {
        let wrong_table = "The query failed: no such column: T2.name in SELECT …";
        let no_group = "The query failed: misuse of aggregate: count() in SELECT …";
        let alias = "The query failed: near \"<\": syntax error in SELECT …";
        let empty = "The result is an empty cell. Check …";
        let cases = [
            (
                "SELECT T2.name, T2.names FROM a AS T1 JOIN b AS T2 ON T1.id = T2.id",
                wrong_table,
                Some("SELECT name, T2.names FROM a AS T1 JOIN b AS T2 ON T1.id = T2.id"),
            ),
            (
                "SELECT host FROM http\nORDER BY count(*) DESC LIMIT 1",
                no_group,
                Some(
                    "SELECT host FROM http GROUP BY host HAVING count(*) > 1\nORDER BY count(*) DESC LIMIT 1",
                ),
            ),
            ("SELECT max(a) FROM t ORDER BY count(*)", no_group, None),
            ("SELECT sum(a) AS <sum> FROM t", alias, Some("SELECT sum(a) FROM t")),
            (
                "SELECT who FROM t GROUP BY who ORDER BY count(*) DESC",
                empty,
                Some("SELECT who FROM t GROUP BY who HAVING who IS NOT NULL ORDER BY count(*) DESC"),
            ),
            ("SELECT age FROM t WHERE who = 'Ada'", empty, None),
            ("SELECT colour FROM t", "The query failed: no such column: colour in SELECT …", None),
        ];
        for (sql, fault, expected) in cases {
            assert_eq!(repaired(sql, fault).as_deref(), expected, "{sql}");
        }
    }
}
