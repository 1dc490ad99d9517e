//! MCP servers as sources of tools: started as a program or reached at a URL. Messages of a server are bounded in size
//! and time. If its list of tools changes later, nothing changes here: the model saw the tools at the start.
#![expect(clippy::wildcard_enum_match_arm, reason = "every other kind of content is treated alike")]

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock, Implementation,
    ProtocolVersion, Tool,
};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceError};
use serde_json::{Map, Value, json};
use spelunk_engine::{ExternalTool, ToolError};
use spelunk_types::EffectClass;
use tokio::process::{Child, Command};

use super::http::BoundedClient;
use super::{external, function_name};
use crate::config::ToolSource;

const MESSAGE_BYTES_MAX: usize = 4_000_000;
const PAGES_MAX: usize = 20;

pub(super) enum Transport {
    Command(Command),
    Url(String),
}

struct Connection {
    service: RunningService<RoleClient, ClientConfig>,
    /// Killed when the connection is dropped.
    _process: Option<Child>,
}

/// Connects and lists the tools; the error says why that failed.
pub(super) async fn open(source: &ToolSource, transport: Transport) -> Result<Vec<ExternalTool>, String> {
    let opening = async {
        let connection = connect(transport).await?;
        let tools = list(&connection).await?;
        Ok((Arc::new(connection), tools))
    };
    let opened = tokio::time::timeout(Duration::from_millis(source.timeout_ms), opening).await;
    let late = |_| Err(format!("it did not list its tools within {} ms", source.timeout_ms));
    let (connection, tools): (Arc<Connection>, Vec<Tool>) = opened.unwrap_or_else(late)?;
    Ok(tools.into_iter().map(|tool| of_server(source, &connection, tool)).collect())
}

/// Connects to a server of either era: if it does not know `server/discover`, it is asked to initialize.
async fn connect(mut transport: Transport) -> Result<Connection, String> {
    let preferred_versions = vec![ProtocolVersion::LATEST];
    let both =
        ClientLifecycleMode::Auto { preferred_versions: preferred_versions.clone(), legacy_version: None };
    let connected = match attempt(&mut transport, both).await? {
        // The server started slowly: it answered `server/discover` after the library had given up on it.
        Err(ClientInitializeError::ConflictInitResponseId(..)) => {
            attempt(&mut transport, ClientLifecycleMode::Discover { preferred_versions }).await?
        }
        Err(ClientInitializeError::UncorrelatedErrorResponse { .. }) => {
            attempt(&mut transport, ClientLifecycleMode::Initialize).await?
        }
        connected => connected,
    };
    connected.map_err(|error| error.to_string())
}

/// The outer error is about the process, the inner one about the protocol.
async fn attempt(
    transport: &mut Transport,
    mode: ClientLifecycleMode,
) -> Result<Result<Connection, ClientInitializeError>, String> {
    let info = ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("spelunk", env!("CARGO_PKG_VERSION")),
    );
    match transport {
        Transport::Command(command) => {
            let mut child = command.spawn().map_err(|error| format!("could not start it: {error}"))?;
            let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
                return Err("it has no input or output".to_owned());
            };
            let transport =
                AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(MESSAGE_BYTES_MAX);
            let service = info.serve_with_lifecycle(transport, mode).await;
            Ok(service.map(|service| Connection { service, _process: Some(child) }))
        }
        Transport::Url(url) => {
            let client = spelunk_model::http_client(url).map_err(|error| error.to_string())?;
            let mut config = StreamableHttpClientTransportConfig::with_uri(url.clone());
            config.max_sse_event_size = MESSAGE_BYTES_MAX;
            let client = BoundedClient { client, bytes_max: MESSAGE_BYTES_MAX };
            let transport = StreamableHttpClientTransport::with_client(client, config);
            let service = info.serve_with_lifecycle(transport, mode).await;
            Ok(service.map(|service| Connection { service, _process: None }))
        }
    }
}

async fn list(connection: &Connection) -> Result<Vec<Tool>, String> {
    let (mut tools, mut cursor) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let params = rmcp::model::PaginatedRequestParams::default().with_cursor(cursor.take());
        let page = connection.service.list_tools(Some(params)).await.map_err(|error| error.to_string())?;
        tools.extend(page.tools);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(tools);
        }
    }
    Err(format!("its list of tools has more than {PAGES_MAX} pages"))
}

fn of_server(source: &ToolSource, connection: &Arc<Connection>, tool: Tool) -> ExternalTool {
    let said = tool.annotations.unwrap_or_default();
    let effect = match (said.read_only_hint, said.idempotent_hint) {
        (Some(true), _) => EffectClass::Read,
        (_, Some(true)) => EffectClass::Repeatable,
        _ => EffectClass::Once,
    };
    let name = format!("{}_{}", function_name(&source.name), function_name(&tool.name));
    let description = tool.description.or(tool.title.map(Into::into)).unwrap_or_default().into_owned();
    let schema = Value::Object(tool.input_schema.as_ref().clone());
    let (connection, called) = (Arc::clone(connection), tool.name);
    let call: spelunk_engine::ToolFn = Arc::new(move |arguments| {
        let (connection, name) = (Arc::clone(&connection), called.clone());
        Box::pin(async move {
            let arguments = arguments.as_object().cloned().unwrap_or_else(Map::new);
            let params = CallToolRequestParams::new(name).with_arguments(arguments);
            match connection.service.call_tool(params).await {
                Ok(result) => read(result),
                Err(ServiceError::McpError(error)) => Err(ToolError::Failed(error.message.into_owned())),
                Err(error) => Err(ToolError::Unknown(format!("the server returned no result: {error}"))),
            }
        })
    });
    external(source, name, description, schema, effect, call)
}

/// The result as plain values: the structured content, else the text, else a list of all parts.
fn read(result: CallToolResult) -> Result<Value, ToolError> {
    let value = |block: ContentBlock| match block {
        ContentBlock::Text(text) => match serde_json::from_str(&text.text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
            Ok(_) | Err(_) => Value::String(text.text),
        },
        other => {
            let mut other = json!(other);
            // The bytes of a picture are of no use to code.
            if let Some(data) = other.get_mut("data") {
                *data = Value::String(format!("({} characters)", data.as_str().unwrap_or_default().len()));
            }
            other
        }
    };
    if result.is_error == Some(true) {
        let texts = result.content.into_iter().map(value).map(|value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        });
        return Err(ToolError::Failed(texts.collect::<Vec<_>>().join("\n")));
    }
    if let Some(structured) = result.structured_content {
        return Ok(structured);
    }
    let mut values: Vec<Value> = result.content.into_iter().map(value).collect();
    Ok(if values.len() == 1 { values.remove(0) } else { Value::Array(values) })
}
