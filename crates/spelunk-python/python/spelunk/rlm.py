"""The interface of the reference engine (``rlms`` 0.1.3): ``from spelunk.rlm import RLM`` instead of ``from rlm import RLM``.

What this engine does not do is refused with the nearest way to do it; what makes no difference to the answer is accepted
with a warning. ``docs/compatibility.md`` lists both.
"""

from __future__ import annotations

import functools
import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union

from ._answer import Answer, Event
from ._errors import Interrupted, SpelunkError
from ._spelunk import Spelunk

__all__ = [
    "BudgetExceededError", "CancellationError", "ErrorThresholdExceededError", "ModelUsageSummary", "RLM",
    "RLMChatCompletion", "TimeoutExceededError", "TokenLimitExceededError", "UsageSummary",
]

Prompt = Union[str, Mapping[str, Any], list[Any]]
_PREVIEW_CHARS_MAX = 80
#: The provider of this engine for each backend, and the variable of its key.
_BACKENDS = {
    "openai": ("openai", "OPENAI_API_KEY"),
    "vllm": ("openai", "OPENAI_API_KEY"),
    "vercel": ("openai", "OPENAI_API_KEY"),
    "portkey": ("openai", "OPENAI_API_KEY"),
    "openrouter": ("openai", "OPENAI_API_KEY"),
    "anthropic": ("anthropic", "ANTHROPIC_API_KEY"),
    "gemini": ("gemini", "GEMINI_API_KEY"),
    "azure_openai": ("azure", "AZURE_OPENAI_API_KEY"),
}
_BASE_URLS = {"openrouter": "https://openrouter.ai/api/v1", "vercel": "https://ai-gateway.vercel.sh/v1"}


class BudgetExceededError(Exception):
    """The run has reached ``max_budget``."""

    def __init__(self, spent: float, budget: float, message: Optional[str] = None) -> None:
        self.spent, self.budget = spent, budget
        super().__init__(message or f"Budget exceeded: spent ${spent:.6f} of ${budget:.6f} budget")


class TimeoutExceededError(Exception):
    """The run has reached ``max_timeout``."""

    def __init__(
        self, elapsed: float, timeout: float, partial_answer: Optional[str] = None, message: Optional[str] = None
    ) -> None:
        self.elapsed, self.timeout, self.partial_answer = elapsed, timeout, partial_answer
        super().__init__(message or f"Timeout exceeded: {elapsed:.1f}s of {timeout:.1f}s limit")


class TokenLimitExceededError(Exception):
    """The run has reached ``max_tokens``."""

    def __init__(
        self, tokens_used: int, token_limit: int, partial_answer: Optional[str] = None, message: Optional[str] = None
    ) -> None:
        self.tokens_used, self.token_limit, self.partial_answer = tokens_used, token_limit, partial_answer
        super().__init__(message or f"Token limit exceeded: {tokens_used:,} of {token_limit:,} tokens")


class ErrorThresholdExceededError(Exception):
    """Never raised by this engine: it exists so that programs which catch it go on to work."""

    def __init__(
        self,
        error_count: int,
        threshold: int,
        last_error: Optional[str] = None,
        partial_answer: Optional[str] = None,
        message: Optional[str] = None,
    ) -> None:
        self.error_count, self.threshold = error_count, threshold
        self.last_error, self.partial_answer = last_error, partial_answer
        super().__init__(message or f"Error threshold exceeded: {error_count} consecutive errors (limit: {threshold})")


class CancellationError(Exception):
    """Ctrl-C stopped the run. ``run`` is what ``spelunk.Spelunk().resume`` continues."""

    def __init__(
        self, partial_answer: Optional[str] = None, message: Optional[str] = None, run: Optional[str] = None
    ) -> None:
        self.partial_answer, self.run = partial_answer, run
        super().__init__(message or "Execution cancelled by user")


@dataclass
class ModelUsageSummary:
    """The usage of one model."""

    total_calls: int
    total_input_tokens: int
    total_output_tokens: int
    total_cost: Optional[float] = None

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ModelUsageSummary:
        names = ("total_calls", "total_input_tokens", "total_output_tokens", "total_cost")
        return cls(*(data.get(name) for name in names))  # type: ignore[arg-type]


@dataclass
class UsageSummary:
    """The usage of a run, by model."""

    model_usage_summaries: dict[str, ModelUsageSummary]

    @property
    def total_cost(self) -> Optional[float]:
        costs = [each.total_cost for each in self.model_usage_summaries.values() if each.total_cost is not None]
        return sum(costs) if costs else None

    @property
    def total_input_tokens(self) -> int:
        return sum(each.total_input_tokens for each in self.model_usage_summaries.values())

    @property
    def total_output_tokens(self) -> int:
        return sum(each.total_output_tokens for each in self.model_usage_summaries.values())

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "model_usage_summaries": {name: each.to_dict() for name, each in self.model_usage_summaries.items()}
        }
        return told if self.total_cost is None else {**told, "total_cost": self.total_cost}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> UsageSummary:
        summaries = data.get("model_usage_summaries", {})
        return cls({name: ModelUsageSummary.from_dict(each) for name, each in summaries.items()})


@dataclass
class RLMChatCompletion:
    """The result of a completion. ``metadata`` is what ``spelunk ask --json`` prints of the run."""

    root_model: str
    prompt: Prompt
    response: str
    usage_summary: UsageSummary
    execution_time: float
    metadata: Optional[dict[str, Any]] = None
    error: Optional[str] = None

    def to_dict(self) -> dict[str, Any]:
        told = {**vars(self), "usage_summary": self.usage_summary.to_dict()}
        return {name: value for name, value in told.items() if value is not None or name not in ("metadata", "error")}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RLMChatCompletion:
        usage = UsageSummary.from_dict(data["usage_summary"])
        head = (data.get("root_model"), data.get("prompt"), data.get("response"))
        tail = (data.get("execution_time"), data.get("metadata"), data.get("error"))
        return cls(*head, usage, *tail)  # type: ignore[arg-type]


class RLM:
    """A recursive language model with the arguments of the reference engine."""

    def __init__(
        self,
        backend: str = "openai",
        backend_kwargs: Optional[dict[str, Any]] = None,
        environment: str = "local",
        environment_kwargs: Optional[dict[str, Any]] = None,
        depth: int = 0,
        max_depth: int = 1,
        max_iterations: int = 30,
        max_budget: Optional[float] = None,
        max_timeout: Optional[float] = None,
        max_tokens: Optional[int] = None,
        max_errors: Optional[int] = None,
        custom_system_prompt: Optional[str] = None,
        other_backends: Optional[list[str]] = None,
        other_backend_kwargs: Optional[list[dict[str, Any]]] = None,
        logger: Any = None,
        verbose: bool = False,
        persistent: bool = False,
        custom_tools: Optional[dict[str, Any]] = None,
        custom_sub_tools: Optional[dict[str, Any]] = None,
        compaction: bool = False,
        compaction_threshold_pct: float = 0.85,
        max_concurrent_subcalls: int = 4,
        on_subcall_start: Optional[Callable[[int, str, str], None]] = None,
        on_subcall_complete: Optional[Callable[[int, str, float, Optional[str]], None]] = None,
        on_iteration_start: Optional[Callable[[int, int], None]] = None,
        on_iteration_complete: Optional[Callable[[int, int, float], None]] = None,
        sampling_args: Optional[dict[str, Any]] = None,
        sub_sampling_args: Optional[dict[str, Any]] = None,
        orchestrator: bool = True,
        user_prologue: Optional[str] = None,
        *,
        workspace: Optional[str] = None,
    ) -> None:
        """As in the reference engine; ``workspace`` is where runs are kept."""
        _refuse(depth != 0, "depth", "only the engine itself starts children")
        _refuse(environment not in ("local", "ipython"), f"environment={environment!r}",
                'the code of models runs in a confined process of this machine: use environment="local"')
        _refuse(bool(environment_kwargs), "environment_kwargs", "see `sandbox` in docs/reference/defaults.toml")
        _refuse(not 0 <= max_depth <= 6, f"max_depth={max_depth}", "use 0 to 6")
        _refuse(custom_system_prompt, "custom_system_prompt", "put instructions into `root_prompt`")
        _refuse(user_prologue, "user_prologue", "put it into `root_prompt`")
        _refuse(persistent, "persistent", 'use the strategy `agent`, whose runs take further questions')
        _refuse(custom_sub_tools, "custom_sub_tools", "only the root frame has tools")
        _refuse(sampling_args or sub_sampling_args, "sampling_args", "the engine chooses them for each kind of call")
        _ignore(max_errors, "max_errors", "`max_iterations` bounds the turns of a frame")
        _ignore(logger, "logger", "every run has a journal: `spelunk show`, and `metadata` of the result")
        _ignore(compaction, "compaction", "transcripts are bounded by `limits.transcript_tokens_max`")
        _ignore(not orchestrator, "orchestrator=False", "there is one system prompt")
        self.backend, self.backend_kwargs = backend, dict(backend_kwargs or {})
        self.max_depth, self.max_iterations = max_depth, max_iterations
        self.max_budget, self.max_timeout, self.max_tokens = max_budget, max_timeout, max_tokens
        self.verbose, self.persistent = verbose, persistent
        self._callbacks = (on_subcall_start, on_subcall_complete, on_iteration_start, on_iteration_complete)
        settings: dict[str, Any] = {
            "limits.depth_max": max(max_depth - 1, 0),
            "limits.turns_max": max_iterations,
            "limits.calls_parallel_max": max_concurrent_subcalls,
        }
        if max_timeout is not None:
            settings["limits.run_ms_max"] = round(max_timeout * 1000)
        if max_tokens is not None:
            settings["limits.tokens_max"] = max_tokens
        model, base_url, env = _model(backend, self.backend_kwargs)
        self._spelunk = Spelunk(
            model=model,
            sub_model=_sub_model(backend, other_backends, other_backend_kwargs),
            base_url=base_url,
            max_cost=max_budget,
            workspace=workspace,
            settings=settings,
            env=env,
            tools=[_tool(name, entry) for name, entry in (custom_tools or {}).items()],
        )

    def completion(self, prompt: Prompt, root_prompt: Optional[str] = None) -> RLMChatCompletion:
        """Answers ``root_prompt`` about ``prompt``, or ``prompt`` itself if there is no other question."""
        began = time.perf_counter()
        options: dict[str, Any] = {}
        if root_prompt is None and isinstance(prompt, str):
            question = prompt
        else:
            question = "Answer the request in the context." if root_prompt is None else root_prompt
            options = {"context": prompt, "strategy": "repl" if self.max_depth > 0 else "direct"}
        try:
            run = self._spelunk.start(question, **options)
            try:
                self._watch(iter(run))
            except BaseException:
                run.cancel()
                raise
            answer = run.answer()
        except Interrupted as stopped:
            raise CancellationError(message="Execution cancelled by user (Ctrl+C)", run=stopped.run) from None
        except SpelunkError as error:
            raise self._limit(error, time.perf_counter() - began) or error from None
        return self._completion(prompt, answer, time.perf_counter() - began)

    def close(self) -> None:
        """Nothing is left open between completions."""

    def __enter__(self) -> RLM:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _completion(self, prompt: Prompt, answer: Answer[Any], took: float) -> RLMChatCompletion:
        model = str(self.backend_kwargs.get("model_name", "unknown"))
        used = answer.usage
        summary = ModelUsageSummary(used.calls, used.input_tokens, used.output_tokens, answer.cost or None)
        return RLMChatCompletion(model, prompt, answer.text, UsageSummary({model: summary}), took, dict(answer.details))

    def _limit(self, error: SpelunkError, took: float) -> Optional[Exception]:
        """The reference engine has an exception for each limit."""
        if error.code == "cost-exhausted" and self.max_budget is not None:
            return BudgetExceededError(self.max_budget, self.max_budget, error.message)
        if error.code == "time-exhausted" and self.max_timeout is not None:
            return TimeoutExceededError(took, self.max_timeout, None, error.message)
        if error.code == "tokens-exhausted" and self.max_tokens is not None:
            return TokenLimitExceededError(self.max_tokens, self.max_tokens, None, error.message)
        return None

    def _watch(self, events: Any) -> None:
        """Calls the callbacks: a frame below the root is a sub-call, and a cell is an iteration."""
        frame_began, frame_ended, turn_began, turn_ended = self._callbacks
        model = str(self.backend_kwargs.get("model_name", "unknown"))
        opened: dict[str, float] = {}
        turns: dict[str, tuple[int, float]] = {}
        for event in events:
            now, depth = time.perf_counter(), event.frame.count(".")
            if self.verbose:
                print(f"{event.frame} {event.type}", file=sys.stderr)
            if event.type == "frame.opened":
                opened[event.frame] = now
                if depth and frame_began:
                    frame_began(depth, model, _text(event)[:_PREVIEW_CHARS_MAX])
            elif event.type == "frame.closed" and depth and frame_ended:
                outcome = event.fields["outcome"]
                frame_ended(depth, model, now - opened.get(event.frame, now), outcome.get("message"))
            elif event.type == "call.started" and event.frame not in turns:
                turns[event.frame] = (1, now)
                if turn_began:
                    turn_began(depth, 1)
            elif event.type == "cell.ran":
                number, began = turns.get(event.frame, (1, now))
                if turn_ended:
                    turn_ended(depth, number, now - began)
                turns[event.frame] = (number + 1, now)
                if turn_began:
                    turn_began(depth, number + 1)


def _text(event: Event) -> str:
    return str(event.fields.get("question", {}).get("text", ""))


def _model(backend: str, options: Mapping[str, Any]) -> tuple[Optional[str], Optional[str], dict[str, str]]:
    """The model, its address and its key."""
    if backend not in _BACKENDS:
        raise ValueError(f"there is no backend {backend!r}: use one of {', '.join(_BACKENDS)}")
    unknown = set(options) - {"model_name", "api_key", "base_url"}
    _refuse(unknown, f"backend_kwargs {sorted(unknown)}", "see `model` in docs/reference/defaults.toml")
    provider, key = _BACKENDS[backend]
    base_url = options.get("base_url") or _BASE_URLS.get(backend)
    _refuse(backend in ("vllm", "portkey") and not base_url, f"backend={backend!r} without base_url",
            "say where the server is")
    name = options.get("model_name")
    env = {key: str(options["api_key"])} if options.get("api_key") else {}
    return f"{provider}/{name}" if name else None, base_url, env


def _sub_model(backend: str, others: Optional[list[str]], options: Optional[list[dict[str, Any]]]) -> Optional[str]:
    """The model of sub-calls."""
    if not others:
        return None
    if len(others) != 1:
        raise ValueError("there is one model for sub-calls: give one backend in other_backends")
    _refuse(others[0] != backend, f"other_backends={others!r}", "use the same backend, or `[models]` and `[roles]` in the settings")
    given = (options or [{}])[0]
    _refuse(set(given) - {"model_name", "api_key"}, "other_backend_kwargs besides model_name", "the address and the key are shared")
    return str(given["model_name"]) if given.get("model_name") else None


def _tool(name: str, entry: Any) -> Callable[..., Any]:
    """The function under the name that the model uses, with the description that replaces its docstring."""
    described = isinstance(entry, dict) and "tool" in entry
    function = entry["tool"] if described else entry
    _refuse(not callable(function), f"custom_tools[{name!r}]", "only functions can be tools; put values into the prompt")

    @functools.wraps(function)
    def named(**arguments: Any) -> Any:
        return function(**arguments)

    named.__name__ = name
    named.__doc__ = (entry.get("description") if described else None) or function.__doc__
    return named


def _refuse(is_given: Any, what: str, instead: str) -> None:
    if is_given:
        raise NotImplementedError(f"{what} is not available in spelunk.rlm: {instead}")


def _ignore(is_given: Any, what: str, why: str) -> None:
    if is_given:
        warnings.warn(f"{what} has no effect in spelunk.rlm: {why}", stacklevel=3)
