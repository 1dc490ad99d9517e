use serde_json::json;

use super::*;

fn tool(name: &str, schema: Value) -> ExternalTool {
    ExternalTool {
        name: name.to_owned(),
        source: "test".to_owned(),
        description: "Finds things.\nIn detail.".to_owned(),
        schema,
        effect: EffectClass::Read,
        timeout_ms: 1_000,
        calls_max: 1,
        in_children: false,
        is_allowed: false,
        call: Arc::new(|value| Box::pin(async move { Ok(value) })),
    }
}

fn search() -> ExternalTool {
    let properties = json!({
        "limit": { "type": "integer", "description": "How many." },
        "query": { "type": "string" },
        "zone": { "type": ["string", "null"] },
    });
    tool("jira_search", json!({ "type": "object", "properties": properties, "required": ["query"] }))
}

#[test]
fn a_tool_has_a_signature_and_a_docstring() {
    let doc = "jira_search(query: str, limit: int = None, zone = None)\n\nFinds things.\nIn detail.\nlimit: How many.";
    assert_eq!(search().doc(), doc);
    assert_eq!(search().summary(), "Finds things.");
    assert_eq!(tool("anything", json!({ "type": "object" })).signature(), "anything(**arguments)");
}

#[test]
fn arguments_are_bound_as_python_binds_them() {
    let bind = |args: &[Value], kwargs: &[(&str, Value)]| {
        let kwargs = kwargs.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        search().bind(args.to_vec(), kwargs)
    };
    assert_eq!(bind(&[json!("a"), json!(2)], &[]), Ok(json!({ "query": "a", "limit": 2 })));
    assert_eq!(bind(&[], &[("query", json!("a")), ("zone", Value::Null)]), Ok(json!({ "query": "a" })));
    let it_is = "it is `jira_search(query: str, limit: int = None, zone = None)`";
    assert_eq!(bind(&[], &[]), Err(format!("jira_search() needs 'query': {it_is}")));
    let other = bind(&[], &[("question", json!("a"))]);
    assert_eq!(other, Err(format!("jira_search() has no argument 'question': {it_is}")));
    assert_eq!(bind(&[json!("a")], &[("query", json!("b"))]), Err("jira_search() got 'query' twice".into()));
    let many = vec![json!(1); 4];
    assert_eq!(bind(&many, &[]), Err(format!("too many positional arguments: {it_is}")));
    let any = tool("anything", json!({ "type": "object" }));
    assert_eq!(any.bind(Vec::new(), [("x".to_owned(), json!(1))]), Ok(json!({ "x": 1 })));
}

#[test]
fn a_name_that_python_or_the_session_has_is_refused() {
    for name in [
        "import",
        "print",
        "grep",
        "llm_query",
        "llm_query_batched",
        "context",
        "ToolError",
        "a-b",
        "",
        "_x",
        "é",
    ] {
        let refused = ExternalTools::new(vec![tool(name, json!({}))]).err();
        let expected = ToolNameError::Name { name: name.to_owned(), source_name: "test".to_owned() };
        assert_eq!(refused, Some(expected), "{name}");
    }
    let twice = ExternalTools::new(vec![search(), search()]).err();
    assert_eq!(twice, Some(ToolNameError::Twice { name: "jira_search".to_owned() }));
    let many = (0..=OUTSIDE_TOOLS_MAX).map(|idx| tool(&format!("t{idx}"), json!({}))).collect();
    assert_eq!(ExternalTools::new(many).err(), Some(ToolNameError::TooMany { n: OUTSIDE_TOOLS_MAX + 1 }));
}

#[test]
fn a_schema_that_lies_makes_a_function_of_any_arguments() {
    let schemas = [
        json!("nothing"),
        json!({ "properties": 7 }),
        json!({ "properties": { "a b": {} } }),
        json!({ "properties": { "x": "y".repeat(SCHEMA_BYTES_MAX) } }),
        json!({ "properties": { "lambda": {} }, "required": [3] }),
    ];
    for schema in schemas {
        let tools = ExternalTools::new(vec![tool("t", schema.clone())]).unwrap();
        assert_eq!(tools.all()[0].signature(), "t(**arguments)", "{schema}");
    }
    let missing = tool("t", json!({ "properties": { "a": 1 }, "required": ["b", "a"] }));
    assert_eq!(missing.signature(), "t(a)");
}

#[test]
fn a_resumed_run_keeps_what_its_model_was_told() {
    let before = ExternalTools::new(vec![search()]).unwrap().to_json().unwrap();
    let changed = ExternalTool { description: "Something else.".to_owned(), schema: json!({}), ..search() };
    let others = ExternalTools::new(vec![tool("other", json!({})), changed]).unwrap();
    let kept = others.as_recorded(Some(&before)).unwrap();
    assert_eq!(kept.to_json().unwrap(), before);
    let gone = ExternalTools::new(vec![tool("other", json!({}))]).unwrap();
    assert_eq!(gone.as_recorded(Some(&before)).err(), Some("jira_search".to_owned()));
    assert!(others.as_recorded(None).unwrap().is_empty());
    assert_eq!(tool_sources(&before), BTreeSet::from(["test".to_owned()]));
}
