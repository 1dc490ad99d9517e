//! Real MCP servers: Spelunk's own, on standard input and over HTTP, and one of the official Python package. If Python
//! or its package is unavailable, the last prints SKIPPED and checks nothing.

use expect_test::expect;

use super::writing;
use crate::http::client::Server;
use crate::scene::{NOTE, QUESTION, Scene, python};

const SPELUNK: &str = env!("CARGO_BIN_EXE_spelunk");

#[test]
fn the_tools_of_a_server_on_standard_input_are_functions() {
    let (scene, mcp) = (Scene::new(&NOTE), format!("{SPELUNK} mcp"));
    let listed = scene.spelunk(["tools", "list", "--mcp", &mcp]).run();
    assert!(listed.stdout.contains("mcp_context_grep("), "{}{}", listed.stdout, listed.stderr);
    let read = "mcp_context_add(path='notes/a.md')\nFINAL(str(mcp_context_grep(pattern='magic')))";
    let server = writing(&[read]);
    let args = ["ask", QUESTION, "notes", "--mcp", &mcp, "--allow-tool", "mcp"];
    let ran = scene.spelunk(args).server(&server).run();
    assert!(ran.stdout.contains("The magic number is 42."), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn the_tools_of_a_server_at_a_url_are_functions() {
    let scene = Scene::new(&NOTE);
    let serving = Server::start(&scene, &[], None);
    let url = format!("http://{}/mcp", serving.address);
    let listed = scene.spelunk(["tools", "list", "--mcp", &url]).run();
    let called = scene.spelunk(["tools", "call", "mcp_context_list", "--mcp", &url]).run();
    assert!(listed.stdout.contains("mcp_context_grep("), "{}{}", listed.stdout, listed.stderr);
    assert_eq!(called.code, 0, "{}{}", called.stdout, called.stderr);
}

const PYTHON_SERVER: &str = r#"
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
server = MCPServer("sums")

@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int = 2) -> int:
    """Adds two numbers."""
    return a + b

@server.tool(annotations=ToolAnnotations(idempotent_hint=True))
def note(text: str) -> dict:
    """Notes a text."""
    return {"noted": text}

@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("out of order")

server.run()
"#;

#[test]
fn a_server_of_the_python_package_is_listed_called_and_used() {
    let Some(python) = python("mcp-sdk", &["mcp>=2.3,<3"], "mcp.client") else {
        println!("SKIPPED: there is no Python with the package `mcp`");
        return;
    };
    let scene = Scene::new(&NOTE);
    scene.write("sums.py", PYTHON_SERVER.as_bytes());
    let mcp = format!("{} sums.py", python.display());
    scene.spelunk(["tools", "list", "--mcp", &mcp]).run().check(&expect![[r#"
        mcp_add(a: int, b: int = None)  [read]
            Adds two numbers.
        mcp_note(text: str)  [repeatable, needs consent]
            Notes a text.
        mcp_fail()  [once, needs consent]
            Fails.
        --- stderr
        --- exit 0
    "#]]);
    let code = "said = [mcp_add(1)['result'], mcp_add(a=2, b=3)['result']]
for call in [lambda: mcp_note('x'), mcp_fail]:
    try:
        said.append(call())
    except ToolError as error:
        said.append(str(error))
FINAL(str(said))";
    let server = writing(&[code]);
    let args =
        ["ask", QUESTION, "notes", "--mcp", &mcp, "--allow-tool", "mcp_note", "--allow-tool", "mcp_fail"];
    let ran = scene.spelunk(args).server(&server).run();
    let said = "[3, 5, {'noted': 'x'}, 'Error executing tool fail']";
    assert_eq!((ran.code, ran.stdout.trim_end()), (0, said), "{}", ran.stderr);
}
