"""Model names as people type them."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.cli import main
from trivium.core.errors import UserError
from trivium.models.providers import Model, full_model_name, known_model
from trivium.models.settings import ModelOptions


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gpt-4.1-mini", "openai/gpt-4.1-mini"),
        ("chatgpt-4o-latest", "openai/chatgpt-4o-latest"),
        ("o3", "openai/o3"),
        ("o4-mini", "openai/o4-mini"),
        ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("gemini-2.5-pro", "google/gemini-2.5-pro"),
        ("grok-4", "grok/grok-4"),
        ("deepseek-chat", "deepseek/deepseek-chat"),
        ("mistral-large-latest", "mistral/mistral-large-latest"),
        ("openai/gpt-4.1-mini", "openai/gpt-4.1-mini"),
        ("openrouter/openai/gpt-4.1-mini", "openrouter/openai/gpt-4.1-mini"),
        ("ollama/llama3.2:1b", "ollama/llama3.2:1b"),
    ],
)
def test_a_well_known_model_needs_no_provider(typed: str, meant: str) -> None:
    assert full_model_name(typed) == meant
    assert full_model_name(meant) == meant


@pytest.mark.parametrize(
    "typed", ["", "llama3.2", "oracle", "/gpt-4.1-mini", "openai/", "o", "gpt"]
)
def test_an_unknown_name_is_refused(typed: str) -> None:
    assert known_model(typed) is None
    with pytest.raises(UserError, match="model must be PROVIDER/MODEL, "):
        full_model_name(typed)


def test_the_refusal_says_what_to_type() -> None:
    with pytest.raises(UserError) as refused:
        full_model_name("llama3.2")
    assert str(refused.value) == (
        "model must be PROVIDER/MODEL, so that it is known who serves it: type openai/llama3.2, "
        "ollama/llama3.2, openrouter/VENDOR/llama3.2, or anyname/llama3.2 --base_url URL; "
        "got 'llama3.2'"
    )
    with pytest.raises(UserError, match=r"such as openai/gpt-4.1-mini or ollama/llama3.2; got ''"):
        full_model_name("")


@pytest.mark.parametrize(
    "words",
    [
        "eval nhop_implicit --out x",
        "run --items 2",
        "sweep nhop_implicit --hops 4",
        "diagnose nhop_explicit",
        "threshold nhop_implicit --vary hops",
    ],
)
def test_every_command_reads_names_in_the_same_way(
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main([*words.split(), "--model", "o3"]) == 2
    assert capsys.readouterr().err.startswith("trivium: OPENAI_API_KEY is not set:")


def test_what_inspect_misses_is_said_without_its_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai._util.error import PrerequisiteError

    from trivium.models.inspect import models

    def missing(*_: object, **__: object) -> None:
        raise PrerequisiteError("[bold]ERROR[/bold]: install\n\n[bold]anthropic[/bold]")

    monkeypatch.setattr(models, "get_model", missing)
    options = ModelOptions()
    with pytest.raises(UserError) as said:
        models.inspect_model(Model("anthropic/claude", options.settings(), options))
    assert str(said.value) == "install anthropic"


def test_no_built_in_solver_is_taken_for_a_model() -> None:
    from trivium.benchmarks import benchmark_names, get_benchmark

    for name in benchmark_names():
        assert not [solver for solver in get_benchmark(name).solvers if known_model(solver)]


def test_the_defaults_of_calls_are_those_that_the_docs_name() -> None:
    options = ModelOptions()
    assert (options.concurrency, options.max_retries, options.confirm_above) == (32, 8, 1000)
    assert (options.retry_backoff, options.timeout) == (0.5, 600.0)
    assert (options.save_prompt, options.retry_errors, options.yes) == (False, True, False)
