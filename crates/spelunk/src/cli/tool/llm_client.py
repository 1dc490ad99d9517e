"""Asks sub-models with `spelunk tool query`, which enforces the budgets and keeps the cache and the counters."""
import json
import subprocess
from pathlib import Path

WORKSPACE = Path(__file__).resolve().parent.parent


class CallResult:
    """The reply of a sub-model, and its usage."""

    def __init__(self, reply):
        self.content = reply["content"]
        self.model = reply["model"]
        self.input_tokens = reply["input_tokens"]
        self.output_tokens = reply["output_tokens"]
        self.cached = reply["cached"]
        self.call_id = reply["run"]


class BudgetError(RuntimeError):
    """The calls of this script are used up."""


class LLMClient:
    """Asks sub-models. A call beyond the budget raises BudgetError; a failed one is recorded in state/errors.jsonl and
    returns None."""

    def __init__(self, workspace=None):
        self.workspace = Path(workspace) if workspace else WORKSPACE

    def call(self, prompt, system=None, use_cache=True, log_to_evidence=False, evidence_tag=None):
        """One question. The sub-model sees only the prompt."""
        command = ["spelunk", "tool", "query", "-", "--json"] + ([] if use_cache else ["--no-cache"])
        asked = f"{system}\n\n{prompt}" if system else prompt
        ran = subprocess.run(command, cwd=self.workspace, input=asked, capture_output=True, text=True)
        if ran.returncode == 2:
            raise BudgetError(ran.stderr.strip())
        reply = json.loads(ran.stdout) if ran.stdout.strip() else {"content": None}
        if reply["content"] is None:
            return None
        if log_to_evidence and reply["content"].strip():
            self.log_evidence(evidence_tag or "llm", reply["content"])
        return CallResult(reply)

    def call_batch(self, prompts, **options):
        """Many questions; failed ones return None."""
        return [self.call(prompt, **options) for prompt in prompts]

    def log_evidence(self, tag, content, source=None):
        """Records a fact in state/evidence.jsonl."""
        command = ["spelunk", "tool", "evidence", "--tag", tag, "--content", content]
        subprocess.run(command + (["--source", source] if source else []), cwd=self.workspace, check=True, capture_output=True)

    def check_budget(self):
        """The counters, as a dict."""
        return json.loads((self.workspace / "state/metrics.json").read_text())
