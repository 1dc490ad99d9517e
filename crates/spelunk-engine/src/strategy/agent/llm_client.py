class CallResult:
    """The reply of a sub-model, and its usage."""

    def __init__(self, content, model, input_tokens, output_tokens, cached, call_id):
        self.content = content
        self.model = model
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens
        self.cached = cached
        self.call_id = call_id

    def __repr__(self):
        return "CallResult(content=" + repr(self.content[:80]) + ", cached=" + repr(self.cached) + ")"


class LLMClient:
    """Asks sub-models. Cached replies cost nothing. The engine enforces the budgets: a call beyond them raises
    BudgetError. A failed call is recorded in state/errors.jsonl and returns None."""

    def __init__(self, workspace=None):
        self.workspace = workspace

    def call(self, prompt, system="You are a helpful assistant.", max_tokens=None, temperature=None, use_cache=True, log_to_evidence=False, evidence_tag=None, metadata=None):
        """One question. The sub-model sees only the prompt. `temperature` defaults to the provider's; with
        `use_cache=False` the reply is new and not cached."""
        return self._result(_agent_call(prompt, system, max_tokens, self._thousandths(temperature), use_cache), log_to_evidence, evidence_tag, metadata)

    def call_batch(self, prompts, system="You are a helpful assistant.", max_tokens=None, temperature=None, use_cache=True, log_to_evidence=False, evidence_tag=None, metadata=None):
        """Many questions at once; failed ones return None."""
        replies = _agent_batch(list(prompts), system, max_tokens, self._thousandths(temperature), use_cache)
        return [self._result(reply, log_to_evidence, evidence_tag, metadata) for reply in replies]

    def _thousandths(self, temperature):
        return None if temperature is None else int(round(temperature * 1000))

    def _result(self, reply, log_to_evidence, evidence_tag, metadata):
        if reply is None:
            return None
        result = CallResult(reply["content"], reply["model"], reply["input_tokens"], reply["output_tokens"], reply["cached"], reply["call_id"])
        if log_to_evidence and result.content.strip():
            self.log_evidence(evidence_tag or "llm", result.content, metadata)
        return result

    def log_evidence(self, tag, content, metadata=None, source=None):
        """Records a fact in state/evidence.jsonl."""
        return _agent_evidence(tag, content, metadata, source)

    def count_tokens(self, text):
        """Roughly: a token is about four characters."""
        return (len(text) + 3) // 4

    def check_budget(self):
        """Usage and remaining budget, as a dict."""
        return _agent_budget()
