"""The public API, line by line as the documentation shows it."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import trivium
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.core.question import PlainView, Question, QuestionBenchmark
from trivium.core.streams import Stream
from trivium.core.task import Task
from trivium.evaluation.evaluation import code_hash


@pytest.mark.parametrize(
    "module", ["trivium", "trivium.api", "trivium.core.task", "trivium.core.dialogue"]
)
def test_the_examples_in_docstrings_run(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0


def test_the_names_are_listed() -> None:
    assert {"load", "evaluate", "compare", "list_benchmarks", "check_benchmark"} <= set(
        dir(trivium)
    )
    assert "open" not in trivium.__all__, "a star import would hide the builtin"
    assert trivium.open is trivium.open_results
    assert callable(trivium.audit), "the function, not a package"
    assert all(getattr(trivium, name) is not None for name in trivium.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        trivium.nothing  # noqa: B018


def test_items_are_text_in_and_text_out() -> None:
    assert "nhop_explicit" in trivium.list_benchmarks()
    task = trivium.load("nhop_explicit", preset="explicit-hard", hops=6, mode="steps")
    assert (task.spec.hops, task.spec.alias_heads_per_block, task.view.mode) == (6, True, "steps")
    items = task.items(3, seed=7, start=0)
    assert [item.id for item in items] == ["SYN-000000", "SYN-000001", "SYN-000002"]
    assert items[2] == task.item(2, seed=7)
    item = items[0]
    assert "->f1->" in item.prompt
    assert item.floor == pytest.approx(1 / 6)
    assert item.groups["steps"] == 6
    assert task.score(item, item.gold)["correct"] == 1.0
    assert task.score(item, "G_0000")["correct"] == 0.0


def test_a_full_name_stands_for_spec_and_view() -> None:
    task = trivium.load("identifying_variables.markdown.balanced-ctrl")
    assert task.view.renderer == "markdown"
    assert "|" in task.item(0).prompt


def test_a_dialogue_is_played_move_by_move() -> None:
    task = trivium.load("blicket_game", preset="paper")
    item = task.item(0, seed=7)
    dialogue = task.start(item)
    assert dialogue.prompt == item.prompt
    response = dialogue.send("TEST A")
    assert response is not None
    assert response.startswith("Test 1: A.")
    assert not dialogue.done
    assert dialogue.send(item.gold) is None
    assert dialogue.done
    assert dialogue.scores["correct"] == 1.0
    assert dialogue.scores["tests"] == 1
    with pytest.raises(ValueError, match="over"):
        dialogue.send("TEST B")


@dataclass(frozen=True)
class ChattySpec:
    """No fields."""


class Chatty(QuestionBenchmark[ChattySpec]):
    """A dialogue partner that never ends a dialogue."""

    name = "chatty"
    title = "talk"
    spec_type = ChattySpec

    def question(self, spec: ChattySpec, stream: Stream) -> Question:
        return Question("Talk.", ("yes", "no"), "yes")

    def respond(self, item: Question, replies: Sequence[str], view: PlainView) -> str | None:
        return "And then?"


def last_token(prompt: str) -> str:
    """A solver of the user: the last token of the last fact."""
    facts = [line for line in prompt.splitlines() if "->" in line and line.count("_") == 2]
    return facts[-1].split()[-1]


async def patient(prompt: str) -> str:
    """The same as an async function."""
    return last_token(prompt)


def test_a_function_is_evaluated(tmp_path: Path) -> None:
    task = trivium.load("nhop_implicit", hops=4, m=4)
    result = trivium.evaluate(task, last_token, items=40, seed=7)
    summary = result.summary
    assert (summary.items, summary.failed, summary.floor, summary.ceiling) == (40, 0, 0.25, 1.0)
    value = summary.metrics["correct"].value
    assert value is not None
    assert 0 < value < 0.7
    slow = trivium.evaluate(task, patient, items=40, seed=7, concurrency=4)
    assert [row["reply"] for row in slow] == [row["reply"] for row in result]
    for name in ("last_token", "patient"):
        named = trivium.evaluate(task, f"{__name__}:{name}", items=40, seed=7)
        assert [row["scores"] for row in named] == [row["scores"] for row in result]
    folder = result.save(tmp_path / "mine")
    again = trivium.open(folder)
    assert again.summary == summary
    page = result.report(tmp_path / "new" / "page.html").read_text()
    with pytest.raises(UserError, match=r"/proc/x\.html: cannot be written"):
        result.report("/proc/x.html")
    assert "nhop_implicit" in page
    with pytest.raises(UserError, match="holds records already"):
        result.save(folder)


def test_results_become_a_table() -> None:
    pytest.importorskip("polars")
    result = trivium.evaluate(trivium.load("blicket_game"), "random", items=5)
    frame = result.to_polars()
    assert frame.height == 5
    assert {"id", "solver", "scores.correct", "groups.form", "kind"} <= set(frame.columns)


def test_results_are_compared_on_common_items() -> None:
    task = trivium.load("nhop_implicit", hops=4, m=4)
    weak = trivium.evaluate(task, "last_line", items=60, seed=7)
    strong = trivium.evaluate(task, "oracle", items=60, seed=7)
    (difference,) = trivium.compare(weak, strong)
    assert difference.items == 60
    expected = 1 - sum(row["scores"]["correct"] for row in weak) / 60
    assert difference.estimate.value == pytest.approx(expected)


def scripted(messages: list[str]) -> str:
    """Tests A, then B, then answers; needs to know how many turns there were."""
    turns = len(messages) // 2
    return ["TEST A", "TEST B", "ANSWER blickets: A; form: disjunctive"][turns]


def parrot(prompt: str) -> str:
    """Sees the whole dialogue as one text."""
    return "TEST A" if "Test 1" not in prompt else "ANSWER blickets: A; form: disjunctive"


@pytest.mark.parametrize(("function", "tests"), [(scripted, 2), (parrot, 1)])
def test_a_function_plays_the_game(function: object, tests: int) -> None:
    result = trivium.evaluate(trivium.load("blicket_game"), function, items=3)  # type: ignore[arg-type]
    assert {row["scores"]["tests"] for row in result} == {tests}
    assert {len(row["reply"]) for row in result} == {tests + 1}


def test_a_dialogue_that_never_ends_is_stopped() -> None:
    task = Task(Chatty(), ChattySpec(), PlainView())
    dialogue = task.start(task.item(0))
    while not dialogue.done:
        dialogue.send("go on")
    assert len(dialogue.replies) == 200


def test_every_evaluation_has_its_own_summary(tmp_path: Path) -> None:
    task = trivium.load("nhop_implicit", hops=4, m=4)
    trivium.evaluate(task, "oracle", items=4, out=tmp_path / "a")
    trivium.evaluate(task, "last_line", items=5, out=tmp_path / "b")
    both = trivium.open(tmp_path)
    assert [(one.solver, one.items) for one in both.summaries] == [("oracle", 4), ("last_line", 5)]
    with pytest.raises(UserError, match="results of 2 evaluations: use summaries"):
        both.summary  # noqa: B018


def test_records_are_kept_and_resumed(tmp_path: Path) -> None:
    task = trivium.load("nhop_implicit")
    calls = []

    def counting(prompt: str) -> str:
        calls.append(prompt)
        return "E_0001"

    trivium.evaluate(task, counting, items=3, out=tmp_path / "run")
    result = trivium.evaluate(task, counting, items=5, out=tmp_path / "run")
    assert len(calls) == 5
    assert len(result) == 5


def test_another_function_of_the_same_name_does_not_resume(tmp_path: Path) -> None:
    def one_token(token: str) -> Callable[[str], str]:
        def answer(prompt: str) -> str:
            return token

        return answer

    def answer(prompt: str) -> str:
        return prompt[-6:]

    again = answer
    trivium.evaluate("nhop_implicit", again, items=3, out=tmp_path, name="mine")
    trivium.evaluate("nhop_implicit", again, items=3, out=tmp_path, name="mine")
    with pytest.raises(UserError, match="the function mine has changed since"):
        trivium.evaluate("nhop_implicit", one_token("x"), items=3, out=tmp_path, name="mine")
    assert code_hash(answer) == code_hash(partial(answer)) != code_hash(one_token("x"))
    assert code_hash(lambda x: x in {"a", "b"}) == code_hash(lambda x: x in {"b", "a"})


@pytest.mark.parametrize("kind", ["plain", "async", "batch"])
def test_what_a_function_did_before_it_failed_is_recorded(kind: str, tmp_path: Path) -> None:
    calls = 0

    def answer(prompt: str) -> str:
        nonlocal calls
        calls += 1
        return "E_0001" if calls < 8 else str(1 / 0)

    async def later(prompt: str) -> str:
        return answer(prompt)

    def batch(prompts: Sequence[str]) -> list[str]:
        return [answer(prompt) for prompt in prompts]

    function = {"plain": answer, "async": later, "batch": batch}[kind]
    with pytest.raises(UserError, match=r"failed on item IMP-00000.: ZeroDivisionError: division"):
        trivium.evaluate("nhop_implicit", function, items=9, out=tmp_path, concurrency=3)
    assert len(trivium.open(tmp_path)) in range(6, 8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: trivium.load("nhop_explict"), "did you mean nhop_explicit"),
        (lambda: trivium.load("nhop_explicit", preset="hard"), "unknown preset 'hard'"),
        (lambda: trivium.load("nhop_explicit", hopps=4), "unknown key 'hopps'; did you mean hops"),
        (lambda: trivium.load("nhop_explicit", hops="4"), "hops must be a whole number, got '4'"),
        (lambda: trivium.load("nhop_explicit", mode="loud"), "mode must be one of"),
        (lambda: trivium.load("nhop_implicit").items(0), "items must be at least 1, got 0"),
        (lambda: trivium.load("nhop_implicit").item(-1), "start must be at least 0, got -1"),
        (
            lambda: trivium.evaluate(trivium.load("nhop_implicit"), "oracel"),
            "unknown solver 'oracel'",
        ),
        (
            lambda: trivium.evaluate(trivium.load("nhop_implicit"), lambda prompt: 5),
            "must return text, got 5",
        ),
        (
            lambda: trivium.evaluate(trivium.load("nhop_implicit"), "no.such.module:solve"),
            "solver 'no.such.module:solve' cannot be imported",
        ),
        (
            lambda: trivium.evaluate(trivium.load("nhop_implicit"), "agent:nowhere"),
            "agents play only blicket_game, not nhop_implicit",
        ),
        (lambda: trivium.open("/nowhere"), "/nowhere"),
    ],
)
def test_a_wrong_name_or_value_raises_one_sentence(call: object, message: str) -> None:
    with pytest.raises(UserError, match=message) as raised:
        call()  # type: ignore[operator]
    assert "\n" not in str(raised.value)


def test_functions_work_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def solve(prompt):\n    return 'E_0001'\n")
    words = ["eval", "nhop_implicit", "--solver", "mine:solve", "--items", "600", "--out", "run"]
    script = Path(sys.executable).with_name("trivium")
    command = [str(script), *words, "--processes", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(trivium.open(tmp_path / "run")) == 600


@pytest.mark.parametrize(
    ("imports", "name"),
    [
        ("import gymnasium", "trivium:trivium/Blicket-v0"),
        ("import gymnasium, trivium", "trivium/Blicket-v0"),
        ("import trivium, gymnasium", "trivium/Blicket-v0"),
        (
            "import trivium; from importlib.util import find_spec; find_spec('gymnasium'); "
            "import gymnasium",
            "trivium/Blicket-v0",
        ),
    ],
)
def test_gymnasium_finds_the_environments_by_name(imports: str, name: str) -> None:
    pytest.importorskip("gymnasium")
    code = f"{imports}; print(gymnasium.make({name!r}).spec.id)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "trivium/Blicket-v0", done.stderr


def test_a_filter_finds_kinds_by_their_beginning_and_other_fields_by_their_value() -> None:
    records = [
        {"kind": "wrong-candidate:3", "id": "a", "solver": "a:b", "scores": {"correct": 0.0}},
        {"kind": "wrong-candidate:1", "id": "b", "solver": "a", "scores": {"correct": 0.0}},
        {"kind": "right", "id": "c", "solver": "c", "scores": {"correct": 1.0}},
    ]
    results = trivium.ResultSet(records)

    def found(**wanted: Any) -> list[str]:
        return [row["id"] for row in results.filter(**wanted)]

    assert found(kind="wrong-candidate") == ["a", "b"]
    assert found(kind="wrong-candidate:1") == ["b"]
    assert found(kind="right") == ["c"]
    assert found(solver="a") == ["b"]
    assert found(correct=0.0, id=lambda name: name > "a") == ["b"]


def test_what_one_tries_first_works() -> None:
    results = trivium.evaluate("nhop_implicit", "oracle", items=[0, 5, 7])
    assert [row["index"] for row in results] == [0, 5, 7]
    task = trivium.load("nhop_implicit")
    assert [row["index"] for row in trivium.evaluate(task, "oracle", items=task[2:4])] == [2, 3]
    assert [item.id for item, _ in zip(task, range(3), strict=False)] == [
        item.id for item in task.items(3)
    ]
    two = [trivium.evaluate(task, lambda _: "B_0001", items=4, name=name) for name in "ab"]
    assert [one.solver for result in two for one in result.summaries] == ["a", "b"]
    wrong = results.failures()
    assert len(wrong) == 0
    assert len(two[0].filter(kind="no-answer", steps=4)) == 4
    assert list(two[0].to_pandas()["scores.correct"]) == [0.0] * 4
    assert two[0][0]["solver"] == "a"
    assert len(two[0][1:3]) == 2
    assert trivium.compare(two)[0].items == 4
    deeper = trivium.evaluate("nhop_implicit", "oracle", items=2, hops=7, mode="steps")
    assert (deeper[0]["spec"]["hops"], deeper[0]["view"]["mode"]) == (7, "steps")


def test_power_is_that_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [
        trivium.evaluate("nhop_implicit", name, items=40, out=tmp_path / name)
        for name in ("oracle", "last_line")
    ]
    for flags, options in (
        ("--score 0.6 --correlation 0.4", {"score": 0.6, "correlation": 0.4}),
        (f"--runs {tmp_path / 'oracle'} {tmp_path / 'last_line'}", {"runs": runs}),
    ):
        main(f"estimate nhop_implicit --power 0.1 {flags}".split())
        cost = trivium.estimate("nhop_implicit", power=0.1, **options)
        assert cost.power is not None
        assert f"takes {cost.power.items:,} items" in capsys.readouterr().out
        assert cost.requests == cost.power.items
    main(["estimate", "explicit_hard", "--price_in", "1", "--price_out", "2"])
    assert (
        str(trivium.estimate("explicit_hard", price_in=1, price_out=2)) in capsys.readouterr().out
    )


def test_a_failure_does_not_say_that_a_temporary_folder_is_kept() -> None:
    with pytest.raises(
        UserError, match=r"line \d+\); attempts before it are kept where the run has"
    ):
        trivium.evaluate("nhop_implicit", lambda prompt: str(1 / 0), items=9)


def test_a_call_that_asks_nothing_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for said in ("", f"{tmp_path / 'run'} holds all 4 attempts; none is missing\n"):
        trivium.evaluate("nhop_implicit", "oracle", items=4, out=tmp_path / "run")
        assert capsys.readouterr().err == said


def test_a_batch_function_gets_many_prompts(tmp_path: Path) -> None:
    task, sizes = trivium.load("nhop_implicit"), []
    gold = {item.prompt: item.gold for item in task.items(10)}

    def many(prompts: list[str]) -> list[str]:
        sizes.append(len(prompts))
        return [gold[prompt] for prompt in prompts]

    made = trivium.evaluate(task, many, items=10, concurrency=4, out=tmp_path / "run")
    assert made.summary.metrics["correct"].value == 1
    assert sizes == [4, 4, 2]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: trivium.evaluate("nhop_implict", "oracle"), "did you mean nhop_implicit"),
        (lambda: trivium.evaluate("nhop_implicit", "orcale"), "did you mean oracle"),
        (lambda: trivium.evaluate("nhop_implicit", "oracle", tmep=0), "did you mean temp"),
        (lambda: trivium.evaluate("nhop_implicit", "oracle", items=[]), "items is empty"),
        (lambda: trivium.evaluate("nhop_implicit", len, name="oracle"), "of a built-in solver"),
        (
            lambda: trivium.load("nhop_implicit").item("a"),  # type: ignore[arg-type]
            "start must be a whole number, got 'a'",
        ),
        (
            lambda: trivium.load("nhop_implicit").items(1.5),  # type: ignore[arg-type]
            r"items must be a whole number, got 1\.5",
        ),
        (lambda: trivium.evaluate("nhop_implicit", "oracle", item=3), "did you mean items"),
        (lambda: trivium.evaluate("nhop_implicit", "oracle", items="5"), "number or a list"),  # type: ignore[arg-type]
        (lambda: trivium.evaluate("nhop_implicit", 3), "a name or a function, got 3"),  # type: ignore[arg-type]
        (lambda: trivium.evaluate("nhop_implicit", "oracle", shots=1), "only models take shots"),
        (lambda: trivium.evaluate("nhop_implicit", len, template="{prompt}"), "take template"),
        (lambda: trivium.run("nhop_implicit", items=2, temp=0.5), "only models take temp"),
        (
            lambda: trivium.evaluate(trivium.load("nhop_implicit"), "oracle", hops=3),
            r"hops belongs to the task: trivium.load\('nhop_implicit', hops=3\)",
        ),
        (lambda: trivium.audit("nhop_implicit", item=3), "did you mean items"),
        (lambda: trivium.load("nhop_implicit").score("a prompt", "x"), "one of the task"),  # type: ignore[arg-type]
        (lambda: trivium.load("nhop_implicit")[-1], "has no last item"),
        (lambda: trivium.load("nhop_implicit")[3:], "name the end of the slice"),
        (lambda: trivium.load("nhop_implicit", hopps=3), "did you mean hops"),
        (lambda: trivium.evaluate("nhop_implicit", "vllm/m", temp="hot"), "temp must be a number"),
        (lambda: trivium.evaluate("nhop_implicit", "vllm/m", extra_body=[1]), "a JSON object such"),
        (lambda: trivium.evaluate("nhop_implicit", "oracle", seed=2**70), "seed must fit into 64"),
        (lambda: trivium.evaluate("nhop_implicit", "oracle", seed=1.5), "seed must be a whole"),  # type: ignore[arg-type]
        (lambda: trivium.evaluate("nhop_implicit", "oracle", items=[0, 0]), "000000 2 times"),
        (lambda: trivium.evaluate("nhop_implicit", "oracle", items=["x"]), "of nhop_implicit"),  # type: ignore[arg-type]
        (lambda: trivium.evaluate("nhop_implicit", "oracle", items=True), "number or a list"),
        (lambda: trivium.evaluate("nhop_implicit", "oracle", out=3), "out must be text or a path"),  # type: ignore[arg-type]
        (lambda: trivium.evaluate("nhop_implicit", len, name=3), "name must be text, got 3"),  # type: ignore[arg-type]
        (lambda: trivium.run(["nhop_implicit"]), "benchmarks must be text"),  # type: ignore[arg-type]
        (lambda: trivium.compare(1, 2), "result 1 must be results or their folder, got 1"),  # type: ignore[arg-type]
        (lambda: trivium.audit("nhop_implicit", items=99), "items must be at least 100, got 99"),
        (lambda: trivium.estimate("nhop_implicit", power=2), "power must lie between 0 and 1"),
        (lambda: trivium.new_benchmark("numpy"), "'numpy' is the name of a Python module"),
    ],
)
def test_mistakes_are_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence) as caught:
        call()
    assert caught.value._render_traceback_() == [f"UserError: {caught.value}"]


def test_every_object_shows_itself_in_twenty_lines() -> None:
    task = trivium.load("nhop_implicit", hops=4)
    first, second = (trivium.evaluate(task, name, items=8) for name in ("oracle", "last_line"))
    found = trivium.threshold(task, "oracle", vary={"hops": [3, 4, 5]}, max_items=30)
    shown = {
        "task nhop_implicit hops=4": task,
        "floor 0.125": task[0],
        "compose facts": task.benchmark,
        "the answer is right": task.benchmark.metrics[0],
        "results of 8 attempts": first,
        "oracle: correct 1.000": first.summary,
        "n 8>": first.summary.metrics["correct"],
        "last_line (result 2) is lower than oracle": trivium.compare(first, second),
        "oracle: hops": found,
        "hops": found.thresholds[0],
        "1 request,": trivium.estimate(task, items=1),
        "takes 272 items": trivium.estimate(task, power=0.1),
        "<to see a difference of 0.1 ": trivium.estimate(task, power=0.1).power,
        "8 attempts that are not right": second.failures(),
        "dialogue about IMP-000000, open": task.start(task[0]),
        "no differences": trivium.compare(first),
        "charts": first.plot(),
    }
    for part, made in shown.items():
        text = repr(made)
        assert part in text
        assert len(text.split("\n")) <= 20
        assert "object at 0x" not in text
    assert str(first).startswith("nhop_implicit, oracle: 8 items, 8 answered")
    assert (
        "<script>"
        not in trivium.evaluate(task, lambda _: "x", items=1, name="<script>")._repr_html_()
    )


def test_saving_charts_says_which_files_hold_them(tmp_path: Path) -> None:
    charts = trivium.sweep("nhop_implicit", hops=[4, 5], solvers=["oracle"], items=1).plot()
    paths = charts.save(tmp_path / "charts")
    assert {path.stem: path.read_text() for path in paths} == dict(charts) != {}
    assert {*paths} == {*(tmp_path / "charts").glob("*.svg")}


def test_settings_are_named_by_the_fields_of_spec_and_view_that_vary() -> None:
    found = trivium.sweep(
        "nhop_implicit", hops=[4, 5], mode=["direct", "steps"], solvers=["oracle"], items=1
    )
    assert [line.partition(":")[0] for line in repr(found).split("\n")[1:]] == [
        "hops=4 mode=direct",
        "hops=4 mode=steps",
        "hops=5 mode=direct",
        "hops=5 mode=steps",
    ]


def test_nothing_shows_itself_in_more_than_twenty_lines() -> None:
    run = trivium.run("nhop_explicit", "nhop_implicit", items=2)
    varied = {"hops": [3, 4], "m": [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]}
    found: list[object] = [run, run.failures(), trivium.compare(run), run[:1]]
    found.append(
        trivium.threshold("nhop_implicit", "oracle", "last_line", vary=varied, max_items=25)
    )
    for name in trivium.list_benchmarks():
        task = trivium.load(name)
        found += [task, task[0], task.start(task[0]), task.benchmark, task.floor, task.ceiling]
    for one in found:
        assert repr(one).count("\n") < 20, repr(one)
        assert len(repr(one)) < 5000
