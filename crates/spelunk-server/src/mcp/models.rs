//! Which model answers: a configured provider, the client's own by sampling, the host's agents, or none.

use std::sync::Arc;

use rmcp::model::ClientCapabilities;
use spelunk_app::arguments::{Arguments, wrong};
use spelunk_app::asking::RoleModels;
use spelunk_app::provider;
use spelunk_engine::RunSettings;
use spelunk_model::Model;
use spelunk_types::Limits;

use super::agent_tasks::{self, AgentModel};
use super::sampling::{self, ModelRole, SamplingModel};
use super::{AgentTasks, CallContext, ClientChannel, ClientModelName, Failure, HostAnswers, State, Usage};

const WORD_CHARS_MAX: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelChoice {
    /// A provider if there is one, else the client.
    Auto,
    Provider,
    Client,
}

impl ModelChoice {
    pub(super) const WORDS: [&str; 3] = ["auto", "provider", "client"];

    pub(super) fn of(arguments: &mut Arguments) -> Result<Self, Usage> {
        match arguments.text("model", WORD_CHARS_MAX)?.as_deref() {
            None | Some("auto") => Ok(Self::Auto),
            Some("provider") => Ok(Self::Provider),
            Some("client") => Ok(Self::Client),
            Some(_) => Err(wrong("model", "must be auto, provider or client")),
        }
    }
}

pub(super) struct Models {
    pub(super) roles: RoleModels,
    pub(super) host: HostAnswers,
    /// A lower bound for the time limits of a call; 0 leaves the settings unchanged.
    patience_ms: u64,
}

impl Models {
    pub(super) fn of(root: Arc<dyn Model>) -> Self {
        Self::of_roles(RoleModels::one(root))
    }

    pub(super) fn of_roles(roles: RoleModels) -> Self {
        Self { roles, host: HostAnswers::default(), patience_ms: 0 }
    }

    pub(super) fn of_agents() -> Self {
        let tasks = Arc::new(AgentTasks::default());
        let root = Arc::new(AgentModel::new(Arc::clone(&tasks)));
        let host = HostAnswers { agent_tasks: Some(tasks), ..HostAnswers::default() };
        Self { host, patience_ms: agent_tasks::CALL_MS_MAX, ..Self::of(root) }
    }

    /// The run settings for these models: a person at the client may take their time.
    pub(super) fn settings(&self, state: &State, limits: Limits) -> RunSettings {
        let mut settings = state.app.run_settings_within(limits);
        if self.patience_ms > 0 {
            let limits = &mut settings.limits;
            limits.call_ms_max = limits.call_ms_max.max(self.patience_ms);
            limits.call_idle_ms_max = limits.call_idle_ms_max.max(self.patience_ms);
            if self.host.agent_tasks.is_some() {
                limits.run_ms_max = limits.run_ms_max.max(self.patience_ms);
            }
            limits.frame_ms_max = limits.frame_ms_max.max(limits.run_ms_max);
        }
        settings
    }
}

/// The models for a call: a configured provider, or the client's own by sampling, or none.
pub(super) async fn models(
    state: &State,
    context: &CallContext,
    choice: ModelChoice,
) -> Result<Option<Models>, Failure> {
    if choice != ModelChoice::Client
        && let Some(chosen) = provider::choose(&state.app.settings, &state.app.environment).await?
    {
        return Ok(Some(Models::of_roles(chosen.into())));
    }
    if choice == ModelChoice::Provider {
        return Ok(None);
    }
    Ok(of_client(context))
}

pub(super) fn of_client(context: &CallContext) -> Option<Models> {
    let can_sample = |capabilities: ClientCapabilities| capabilities.sampling.is_some();
    if !context.client_capabilities().is_some_and(can_sample) {
        return None;
    }
    let mut questions = None;
    let channel = ClientChannel::of(context, &mut questions);
    let name = ClientModelName::default();
    let model = |role| Arc::new(SamplingModel::new(role, channel.clone(), Arc::clone(&name)));
    let roles =
        RoleModels { root: model(ModelRole::Root), sub: Some(model(ModelRole::Sub)), synthesis: None };
    let host = HostAnswers { questions, client_model: name, ..HostAnswers::default() };
    Some(Models { roles, host, patience_ms: sampling::CALL_MS_MAX })
}
