//! Calls of external tools. The start is recorded before the tool is called and the outcome before the strategy
//! sees it, so a resumed run does not repeat what happened. If the outcome of a call that must happen at most once is
//! unknown, the run stops until the user decides.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use serde_json::Value;
use spelunk_context::redact;
use spelunk_journal::Blobs;
use spelunk_types::{Durability, EffectClass, EffectId, EffectOutcome, EventKind};

use super::Frame;
use super::failure::durable;
use crate::journal::replay::RecordedEffect;
use crate::sync::lock;
use crate::tools::{ConsentRequest, EffectDecision, ExternalTool, ToolError};
use crate::{FrameError, JournalResult, Result, Stop};

const RESULT_BYTES_MAX: usize = 1_000_000;
const MESSAGE_CHARS_MAX: usize = 4_000;

const TOOL_ERROR: &str = "ToolError";
const BUDGET_ERROR: &str = "BudgetError";

/// The result of a call for a strategy: a value, or an exception and its message.
pub(crate) type Acted = Result<Value, (String, String)>;

impl Frame {
    pub(crate) fn tools(&self) -> &[ExternalTool] {
        self.run().tools.at(self.id().depth())
    }

    /// Calls a tool. The id is taken now; nothing happens before the future is awaited.
    pub(crate) fn act(&self, tool: &ExternalTool, arguments: Value) -> BoxFuture<'static, Result<Acted>> {
        let (frame, tool, past) = (self.clone(), tool.clone(), self.move_past_failures());
        let ordinal = self.shared.counters.effects.fetch_add(1, Ordering::Relaxed);
        let effect = EffectId { frame: self.id().clone(), ordinal };
        Box::pin(async move {
            durable(past).await?;
            frame.act_as(effect, &tool, arguments).await
        })
    }

    async fn act_as(&self, effect: EffectId, tool: &ExternalTool, arguments: Value) -> Result<Acted> {
        let (run, written) = (self.run(), arguments.to_string());
        let mut is_decided = false;
        match run.replay.effect(&effect, &tool.name, &written) {
            Err(()) => {
                return Err(Stop::Diverged { what: format!("tool call `{effect}` differs") }.into());
            }
            Ok(Some(RecordedEffect { outcome: Some(outcome), .. })) => return self.acted(outcome),
            Ok(Some(RecordedEffect { is_sent: true, class: EffectClass::Once, .. })) => {
                match run.tools.decisions.get(&effect) {
                    Some(EffectDecision::Done) => {
                        self.settle(effect, Duration::ZERO, &Ok(Value::Null)).await?;
                        return Ok(Ok(Value::Null));
                    }
                    Some(EffectDecision::Again) => is_decided = true,
                    None => {
                        return Err(unknown(effect, tool, "the run ended while it was called".to_owned()));
                    }
                }
            }
            Ok(Some(_) | None) => {}
        }
        if let Some(refused) = self.refused_effect(&effect, tool, &arguments, is_decided).await? {
            self.start_effect(&effect, tool, written, false).await?;
            let acted = Err(refused);
            self.settle(effect, Duration::ZERO, &acted).await?;
            return Ok(acted);
        }
        self.start_effect(&effect, tool, written, true).await?;
        let (began, time) = (Instant::now(), Duration::from_millis(tool.timeout_ms));
        let called = tokio::time::timeout(time, (tool.call)(arguments)).await.unwrap_or_else(|_| {
            Err(ToolError::Unknown(format!("there was no result within {} ms", tool.timeout_ms)))
        });
        let acted = match called {
            Ok(value) => bounded(if run.allows_secrets { value } else { redacted(value) }),
            Err(ToolError::Unknown(why)) if tool.effect == EffectClass::Once => {
                return Err(unknown(effect, tool, why));
            }
            Err(ToolError::Failed(why) | ToolError::Unknown(why)) => {
                let why = if run.allows_secrets { why } else { redact(&why).0.into_owned() };
                Err((TOOL_ERROR.to_owned(), why.chars().take(MESSAGE_CHARS_MAX).collect()))
            }
        };
        self.settle(effect, began.elapsed(), &acted).await?;
        Ok(acted)
    }

    async fn refused_effect(
        &self,
        effect: &EffectId,
        tool: &ExternalTool,
        arguments: &Value,
        is_decided: bool,
    ) -> JournalResult<Option<(String, String)>> {
        let (run, name) = (self.run(), &tool.name);
        {
            let mut called = lock(&run.tool_calls);
            let n_calls = called.entry(name.clone()).or_default();
            if *n_calls >= tool.calls_max {
                let message = format!("`{name}` may be called {} times in one run", tool.calls_max);
                return Ok(Some((BUDGET_ERROR.to_owned(), message)));
            }
            *n_calls += 1;
        }
        if tool.effect == EffectClass::Read || tool.is_allowed || is_decided {
            return Ok(None);
        }
        let message = match self.consent(effect, tool, arguments).await? {
            Some(true) => return Ok(None),
            Some(false) => format!("the user does not allow this call of `{name}`"),
            None => format!("`{name}` may change something, so it needs consent: `--allow-tool {name}`"),
        };
        *lock(&run.tool_calls).entry(name.clone()).or_default() -= 1;
        Ok(Some((TOOL_ERROR.to_owned(), message)))
    }

    /// The user's decision about a call, or the one recorded before a crash; `None` if there is no way to ask.
    async fn consent(
        &self,
        effect: &EffectId,
        tool: &ExternalTool,
        arguments: &Value,
    ) -> JournalResult<Option<bool>> {
        let (run, name, class) = (self.run(), tool.name.clone(), tool.effect);
        let arguments = if run.allows_secrets { arguments.clone() } else { redacted(arguments.clone()) };
        let shown = arguments.to_string();
        if let Some(allowed) = run.replay.consent(effect, &name, &shown) {
            return Ok(Some(allowed));
        }
        let Some(consent) = &run.tools.consent else { return Ok(None) };
        let (id, asked) = (run.id.clone(), effect.clone());
        // The question is open before it is recorded, so that it can be answered by anyone who reads the record.
        let answer = consent(ConsentRequest { run: id, effect: asked, tool: name.clone(), class, arguments });
        let asked = effect.clone();
        let draft = move |blobs: &Blobs| {
            let arguments = blobs.keep_said(&shown)?;
            Ok(EventKind::EffectAsked { effect: asked, tool: name, class, arguments })
        };
        run.writer.record_draft(self.id(), Durability::Synced, Box::new(draft)).await?;
        let allowed = answer.await;
        let decided = EventKind::EffectDecided { effect: effect.clone(), allowed };
        run.writer.record(self.id(), decided).await?;
        Ok(Some(allowed))
    }

    async fn start_effect(
        &self,
        effect: &EffectId,
        tool: &ExternalTool,
        arguments: String,
        sent: bool,
    ) -> JournalResult {
        let (effect, name, class) = (effect.clone(), tool.name.clone(), tool.effect);
        let draft = move |blobs: &Blobs| {
            let arguments = blobs.keep_said(&arguments)?;
            Ok(EventKind::EffectStarted { effect, tool: name, class, arguments, sent })
        };
        self.run().writer.record_draft(self.id(), Durability::Synced, Box::new(draft)).await
    }

    async fn settle(&self, effect: EffectId, took: Duration, acted: &Acted) -> JournalResult {
        let (acted, took_ms) = (acted.clone(), u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        let draft = move |blobs: &Blobs| {
            let outcome = match acted {
                Ok(value) => EffectOutcome::Returned { value: blobs.keep_said(&value.to_string())? },
                Err((kind, message)) => EffectOutcome::Failed { kind, message: blobs.keep_said(&message)? },
            };
            Ok(EventKind::EffectSettled { effect, outcome, took_ms })
        };
        self.run().writer.record_draft(self.id(), Durability::Synced, Box::new(draft)).await
    }

    fn acted(&self, outcome: &EffectOutcome) -> Result<Acted> {
        let text = self.run().blobs.text(outcome.text()).map_err(Arc::new)?;
        Ok(match outcome {
            EffectOutcome::Returned { .. } => Ok(serde_json::from_str(&text).unwrap_or_default()),
            EffectOutcome::Failed { kind, .. } => Err((kind.clone(), text)),
        })
    }
}

fn unknown(effect: EffectId, tool: &ExternalTool, why: String) -> FrameError {
    Stop::EffectUnknown { effect, tool: tool.name.clone(), why }.into()
}

/// The value as a replay would read it, unless it is too large.
fn bounded(value: Value) -> Acted {
    let text = value.to_string();
    if text.len() <= RESULT_BYTES_MAX {
        return Ok(serde_json::from_str(&text).unwrap_or(value));
    }
    let n_bytes = text.len();
    let message =
        format!("the tool was called, but its result has {n_bytes} bytes, more than {RESULT_BYTES_MAX}");
    Err((TOOL_ERROR.to_owned(), message))
}

fn redacted(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact(&text).0.into_owned()),
        Value::Array(items) => items.into_iter().map(redacted).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (redact(&name).0.into_owned(), redacted(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}
