//! The service: translates protocol requests into calls. It is independent of the transport and makes no decisions.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::{ErrorData, ServerHandler};
use spelunk_app::arguments::Arguments;
use spelunk_app::blocking::blocking;
use spelunk_app::config::nearest;

use super::catalogue::{Action, Entry, Waiting, entries};
use super::tool_wait::{self, wait_for};
use super::{
    CallContext, CallStart, State, ToolAnswer, cells, plain_head, prompts, query, resources, run_tools, tasks,
};

const INSTRUCTIONS: &str = "Spelunk keeps text that is too large for your window outside of it. Find \
    passages with search, register text with context_add and read it with context_read and context_grep, \
    run code over it with rlm_repl, and start a whole run with rlm_ask only when the user asks for one.";

/// Serves one client, over any transport. All connections that share a state share its contexts, runs and notes.
pub(crate) struct Service {
    state: Arc<State>,
    entries: Vec<Entry>,
}

impl Service {
    pub(crate) fn new(state: Arc<State>) -> Self {
        Self { state, entries: entries() }
    }

    fn entry(&self, name: &str) -> Result<&Entry, ErrorData> {
        self.entries.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let shown = plain_head(name, 60);
            let meant = nearest(&shown, self.entries.iter().map(|entry| entry.name));
            let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            ErrorData::invalid_params(format!("there is no tool `{shown}`{hint}"), None)
        })
    }
}

impl ServerHandler for Service {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("spelunk", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: CallContext,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = self.entries.iter().filter(|entry| entry.set <= self.state.tools);
        Ok(ListToolsResult::with_all_items(listed.map(Entry::tool).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.entry(name).ok().map(Entry::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: CallContext,
    ) -> Result<CallToolResponse, ErrorData> {
        let entry = self.entry(&request.name)?;
        if let Some(handle) = &request.request_state {
            let replies = request.input_responses.unwrap_or_default();
            return tool_wait::go_on(&self.state, &context, entry.name, handle, replies).await;
        }
        let (state, arguments) = (&self.state, Arguments::new(request.arguments));
        let begun = match entry.action {
            Action::Local(action) => {
                let acted_on = Arc::clone(state);
                let acting = async {
                    // The semaphore is never closed, so acquiring cannot fail.
                    let _place = state.reads.acquire().await.ok();
                    blocking(move || action(&acted_on, arguments)).await
                };
                let said = tokio::select! {
                    said = acting => said,
                    () = context.ct.cancelled() => {
                        return Err(ErrorData::internal_error("the request was cancelled", None));
                    }
                };
                return Ok(ToolAnswer::of(state, said).respond(state));
            }
            Action::Waiting(Waiting::Query) => query::query(state, &context, arguments).await,
            Action::Waiting(Waiting::Ask) => {
                query::query(state, &context, run_tools::with_patience(arguments)).await
            }
            Action::Waiting(Waiting::Run) => run_tools::run(state, &context, arguments).await,
            Action::Waiting(Waiting::Resume) => run_tools::resume(state, &context, arguments).await,
            Action::Waiting(Waiting::Result) => run_tools::result(state, arguments).await,
            Action::Waiting(Waiting::Cancel) => run_tools::cancel(state, &context, arguments).await,
            Action::Waiting(Waiting::Repl) => cells::repl(state, &context, arguments).await,
            Action::Waiting(Waiting::Tasks) => tasks::start(state, arguments).await.map(CallStart::Answered),
            Action::Waiting(Waiting::Submit) => {
                tasks::submit(state, arguments).await.map(CallStart::Answered)
            }
        };
        wait_for(state, &context, entry.name, begun).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: CallContext,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: CallContext,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request.name, request.arguments.as_ref()).map(Into::into)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: CallContext,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        resources::list(&self.state, cursor.as_deref())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: CallContext,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: CallContext,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let state = Arc::clone(&self.state);
        let reading = blocking(move || Ok(resources::read(&state, &request.uri))).await;
        reading
            .unwrap_or_else(|failure| Err(ErrorData::internal_error(failure.0.to_string(), None)))
            .map(Into::into)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [rmcp::model::ProtocolVersion]> {
        Cow::Borrowed(rmcp::model::ProtocolVersion::KNOWN_VERSIONS)
    }
}
