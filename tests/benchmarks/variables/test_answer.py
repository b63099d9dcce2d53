"""Reading answers: the contract, the original's brackets, and writing as the inverse of parsing."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.answer import INVALID, VariablesAnswer, parse_as_original
from trivium.benchmarks.variables.spec import VariablesView
from trivium.core.reading import split_reasoning

VIEW, ORIGINAL = VariablesView(), VariablesView(wording="original")
ITEM = SimpleNamespace(names=tuple(f"x_{number}" for number in range(1, 10)))
TWO = VariablesAnswer(True, "x_1", "x_2", ("x_3", "x_4"))
NONE = VariablesAnswer(True, "x_1", "x_2", ())
PLAIN = "valid; independent: x_1; dependent: x_2; control: x_3, x_4"
BRACKETS = "[@ANSWER valid_hyp: true; independent: x_1; dependent: x_2; control: x_3, x_4]"
OBJECT = {"valid": True, "independent": "x_1", "dependent": "x_2", "control": ["x_3", "x_4"]}


def parse(reply: str) -> VariablesAnswer | None:
    return VARIABLES.parse(ITEM, [reply], VIEW)


@pytest.mark.parametrize(
    "reply",
    [
        f"ANSWER: {PLAIN}",
        f"**ANSWER: {PLAIN}**",
        f"x_3 and x_4 go with x_2.\n\n### ANSWER\n{PLAIN}\n\nI left x_5 out.",
        f"ANSWER: {PLAIN}. The others are not correlated.",
        PLAIN,
        f"ANSWER: {PLAIN.upper()}",
        "ANSWER: valid; control: [x_4, x_3]; dependent = x_2; independent = x_1".replace(
            "x_4, x_3", "x_3, x_4"
        ),
        "ANSWER: valid, independent variable: x_1, dependent variable: x_2, control: x_3 and x_4",
        "ANSWER:\n- hypothesis: valid\n- independent: x_1\n- dependent: x_2\n- controls: x3, x4",
        r"\boxed{\text{ANSWER: valid; independent: x\_1; dependent: x\_2; control: x\_3, x\_4}}",
        "ANSWER: valid; independent: $x_{1}$; dependent: $x_{2}$; control: $x_{3}$, $x_{4}$",
        "| ANSWER | valid; independent: x_1; dependent: x_2; control: x_3 x_4 |",
        json.dumps(OBJECT),
        f"ANSWER: {json.dumps(OBJECT)}",
        f"```json\n{json.dumps({'answer': OBJECT}, indent=2)}\n```",
        f"ANSWER: invalid\nWait.\nANSWER: {PLAIN}",
    ],
)
def test_a_design_in_the_asked_form_is_read(reply: str) -> None:
    assert parse(reply) == TWO


@pytest.mark.parametrize(
    "reply",
    [
        "ANSWER: invalid",
        "**Answer:** Invalid.",
        "invalid",
        "ANSWER: invalid (x_1 and x_2 are not correlated)",
        "ANSWER: invalid; independent: none; dependent: none; control: none",
        '{"valid": false, "independent": null, "dependent": null, "control": []}',
    ],
)
def test_an_invalid_hypothesis_needs_no_fields(reply: str) -> None:
    assert parse(reply) == INVALID


@pytest.mark.parametrize("none", ["none", "None.", "[]", "{}", "-", "N/A"])
def test_nothing_to_control(none: str) -> None:
    assert parse(f"ANSWER: valid; independent: x_1; dependent: x_2; control: {none}") == NONE


@pytest.mark.parametrize(
    "control",
    [
        "",
        "...",
        "x_3, ...",
        "x_3, x_4\u2026",
        "x_3; and so on",
        "x_3 (as x_4 is), x_5",
        "x_3 - seen, x_4 - unseen",
        "x_3 because unseen, x_4",
        "x_3. Also x_4.",
    ],
)
def test_an_unfinished_list_is_no_answer(control: str) -> None:
    assert parse(f"ANSWER: valid; independent: x_1; dependent: x_2; control: {control}") is None


def test_a_list_may_have_semicolons_or_lines() -> None:
    for control in ("x_3; x_4", "x_3\nx_4", "\n- x_3\n- x_4", "x_3 (seen), x_4 (unseen)"):
        answer = parse(f"ANSWER: valid; independent: x_1; dependent: x_2; control: {control}")
        assert answer == VariablesAnswer(True, "x_1", "x_2", ("x_3", "x_4"))


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "true",
        "valid",
        "ANSWER: valid",
        "ANSWER: valid or invalid",
        "ANSWER: possibly invalid",
        "ANSWER: valid; independent: x_1; dependent: x_2",
        "ANSWER: valid; independent: x_1 or x_3; dependent: x_2; control: none",
        "ANSWER: valid; independent: x_1; dependent: x_77; control: none",
        "ANSWER: valid; independent: x_1; dependent: x_2; control: x_3, temperature",
        "ANSWER: valid; independent: x_1; independent: x_3; dependent: x_2; control: none",
        f"ANSWER: {PLAIN}. Sorry, I swapped them: independent: x_2; dependent: x_1.",
        "The hypothesis is invalid.",
        "I'd control x_3 and x_4, with x_1 independent and x_2 dependent.",
        BRACKETS,
    ],
)
def test_anything_else_is_no_answer(reply: str) -> None:
    assert parse(reply) is None


variables = st.sampled_from(ITEM.names)
answers = st.just(INVALID) | st.builds(
    VariablesAnswer,
    st.just(True),
    variables,
    variables,
    st.lists(variables, max_size=8, unique=True).map(tuple),
)


@given(
    answers, st.sampled_from(["{}", "So.\n\n{}", "<think>{}</think>\n{}", "> **{}**", "{}\n\nOK"])
)
def test_writing_then_parsing_is_the_identity(answer: VariablesAnswer, frame: str) -> None:
    written = VARIABLES.write(ITEM, answer, VIEW)
    assert parse(split_reasoning(frame.replace("{}", written)).visible) == answer
    bracketed = VARIABLES.write(ITEM, answer, ORIGINAL)
    assert VARIABLES.parse(ITEM, [bracketed], ORIGINAL) == answer


def test_strict_is_the_asked_line_at_the_end() -> None:
    for reply, exact in [
        (f"ANSWER: {PLAIN}", True),
        (f"So\nANSWER: {PLAIN}", True),
        (PLAIN, False),
    ]:
        assert VARIABLES.strict(ITEM, [reply], VIEW) == exact  # type: ignore[arg-type]


@given(
    valid=st.sampled_from(["true", "false", "True", "FALSE"]),
    independent=st.none() | variables,
    dependent=st.none() | variables,
    control=st.none() | st.just([]) | st.lists(variables, min_size=1, max_size=5),
    before=st.text(alphabet=st.characters(exclude_characters="[]"), max_size=20),
)
def test_the_original_form_is_read_as_the_original_does(
    valid: str,
    independent: str | None,
    dependent: str | None,
    control: list[str] | None,
    before: str,
) -> None:
    parts = [f"valid_hyp: {valid}"]
    parts += [] if independent is None else [f"independent: {independent}"]
    parts += [] if dependent is None else [f"dependent: {dependent}"]
    parts += [] if control is None else [f"control: {', '.join(control) or 'none'}"]
    expected = INVALID
    if valid.lower() == "true":
        read = None if control is None else tuple(control)
        expected = VariablesAnswer(True, independent, dependent, read)
    assert parse_as_original(f"{before}[@ANSWER {'; '.join(parts)}]") == expected


def test_the_original_reads_the_first_answer_and_leaves_values_unchanged() -> None:
    assert parse_as_original(f"{BRACKETS} Wait: {BRACKETS.replace('x_1', 'x_7')}") == TWO
    odd = BRACKETS.replace("x_3, x_4", "x_3 and x_4")
    assert parse_as_original(odd) == VariablesAnswer(True, "x_1", "x_2", ("x_3 and x_4",))
    assert parse_as_original(BRACKETS.replace("; ", ";")) is None
    assert parse_as_original(BRACKETS.replace("x_3, x_4", "`none`")) == NONE


@given(st.text(max_size=200))
def test_no_text_makes_the_parser_crash(reply: str) -> None:
    parse(reply)
    parse_as_original(reply)
