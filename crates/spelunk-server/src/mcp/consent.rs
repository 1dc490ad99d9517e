//! Consent over MCP: before a tool changes something, the client asks its user by elicitation.
//! Calls are denied if the client did not declare elicitation.

use std::sync::Arc;

use rmcp::model::{
    BooleanSchema, ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, PrimitiveSchemaDefinition, ServerRequest,
};
use spelunk_engine::{ConsentRequest, ExternalTools};

use super::{CallContext, ClientChannel, Questions, State, plain_head};

const ALLOW: &str = "allow";
const SHOWN_CHARS_MAX: usize = 2_000;

pub(super) fn tools(
    state: &State,
    context: &CallContext,
    questions: &mut Option<Arc<Questions>>,
) -> ExternalTools {
    let tools = state.app.run_tools();
    // A client that declares no mode supports forms.
    let has_forms = |capabilities: ClientCapabilities| {
        capabilities.elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
    };
    if tools.is_empty() || !context.client_capabilities().is_some_and(has_forms) {
        return tools;
    }
    let channel = ClientChannel::of(context, questions);
    tools.with_consent(Arc::new(move |asked| {
        let request = ElicitRequest::new(form(&asked));
        match &channel {
            ClientChannel::Rounds(questions) => {
                let reply = questions.ask(&asked.effect, InputRequest::Elicitation(request));
                Box::pin(async move {
                    let reply = reply.await.and_then(|reply| serde_json::from_value(reply).ok());
                    reply.as_ref().is_some_and(allows)
                })
            }
            ClientChannel::Request(peer) => {
                let peer = peer.clone();
                Box::pin(async move {
                    let reply = peer.send_request(ServerRequest::ElicitRequest(request)).await;
                    matches!(reply, Ok(ClientResult::ElicitResult(reply)) if allows(&reply))
                })
            }
        }
    }))
}

fn form(asked: &ConsentRequest) -> ElicitRequestParams {
    let arguments = plain_head(&asked.arguments.to_string(), SHOWN_CHARS_MAX);
    let boolean = BooleanSchema::new().title("Allow this call");
    let schema = ElicitationSchema::builder()
        .required_property(ALLOW, PrimitiveSchemaDefinition::Boolean(boolean))
        .build_unchecked();
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("Run {} wants to call {} with {arguments}", asked.run.short(), asked.tool),
        requested_schema: schema,
    }
}

/// Declining, cancelling or leaving the box unticked denies the call.
fn allows(reply: &ElicitResult) -> bool {
    let is_ticked = reply.content.as_ref().is_some_and(|content| content[ALLOW] == true);
    reply.action == ElicitationAction::Accept && is_ticked
}
