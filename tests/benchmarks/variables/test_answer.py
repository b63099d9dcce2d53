"""Reading answers: hand-made variants, fuzzing, and writing as the inverse of parsing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.answer import INVALID, VariablesAnswer
from trivium.benchmarks.variables.spec import VariablesView
from trivium.core import reading

LAST, FIRST = VariablesView(), VariablesView(answer_rule="first")
ORIGINAL_RULE = VariablesView(answer_rule="original")


def parse(reply: str, view: VariablesView) -> VariablesAnswer | None:
    return VARIABLES.parse(None, [reply], view)


def write(answer: VariablesAnswer) -> str:
    return VARIABLES.write(None, answer, LAST)


names = st.integers(0, 9999).map(lambda number: f"x_{number}")
TWO = VariablesAnswer(True, "x_1", "x_2", ("x_3", "x_4"))
NONE = VariablesAnswer(True, "x_1", "x_2", ())
PLAIN = "[@ANSWER valid_hyp: true; independent: x_1; dependent: x_2; control: x_3, x_4]"

# How the parts of an answer may be written without changing what it says.
FRAMES = {
    "bare": "{}",
    "sentence": "So I conclude: {}. That is all.",
    "lines": "Let me think.\n\n{}\n",
    "fence": "```\n{}\n```",
    "bold": "**{}**",
    "brackets around": "[see above] {} [done]",
    "unclosed bracket before": "a [list of x_9 {}",
    "an earlier answer": "[@ANSWER valid_hyp: false] No, wait: {}",
    "an earlier half": "[@ANSWER valid_hyp: true; independent: {}",
    "unicode": "\u2192 \u00ab{}\u00bb \U0001f642",
    "surrogate": "\ud800 {} \udfff",
    "null byte": "\x00{}\x00",
}
SPACING = {
    "usual": PLAIN,
    "none": "[@ANSWER valid_hyp:true;independent:x_1;dependent:x_2;control:x_3,x_4]",
    "wide": re.sub(r"([;:,\]])", r" \1  ", PLAIN).replace("[", "[  "),
    "lines": re.sub(r"([;,])", r"\1\n", PLAIN).replace("]", "\n]"),
    "tabs": PLAIN.replace(" ", "\t"),
    "carriage returns": PLAIN.replace("; ", ";\r\n").replace("]", "\r\n]"),
}
CASES: dict[str, Callable[[str], str]] = {
    "as is": str,
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
}
VARIANTS = [
    pytest.param(FRAMES[frame].format(CASES[case](SPACING[space])), id=f"{frame}, {space}, {case}")
    for frame, space, case in product(FRAMES, SPACING, CASES)
]


@pytest.mark.parametrize("reply", VARIANTS)
def test_frames_spacing_and_case_do_not_matter(reply: str) -> None:
    """12 frames, 6 spacings and 4 cases: 288 hand-made variants of one answer."""
    assert parse(reply, LAST) == TWO


@pytest.mark.parametrize(
    ("control", "read"),
    [
        ("none", ()),
        ("None", ()),
        ("NONE", ()),
        ("none.", ()),
        (" none . ", ()),
        ("'none'", ()),
        ('"none"', ()),
        ("`none`", ()),
        ("**none**", ()),
        ("<none>", ()),
        ("(none)", ()),
        ("[none]", ()),
        ("\u201cnone\u201d", ()),
        ("\u00abnone\u00bb", ()),
        ("none, x_3", ("x_3",)),
        ("x\\_3, x\\_4", ("x_3", "x_4")),
        ("[]", ()),
        ("-", ()),
        ("no control variables", ()),
        ("", ()),
        (" ", ()),
        (",", ()),
        ("x_3", ("x_3",)),
        ("x_3.", ("x_3",)),
        ("x_3,", ("x_3",)),
        (",x_3", ("x_3",)),
        ("X_3", ("x_3",)),
        ("'x_3'", ("x_3",)),
        ("`x_3`, `x_4`", ("x_3", "x_4")),
        ('"x_3", "x_4"', ("x_3", "x_4")),
        ("**x_3**, *x_4*", ("x_3", "x_4")),
        ("<x_3>, <x_4>", ("x_3", "x_4")),
        ("[x_3, x_4]", ("x_3", "x_4")),
        ("{x_3, x_4}", ("x_3", "x_4")),
        ("(x_3, x_4)", ("x_3", "x_4")),
        ("x_3; x_4", ("x_3", "x_4")),
        ("x_3,x_4,x_5", ("x_3", "x_4", "x_5")),
        ("x_4, x_3", ("x_4", "x_3")),
        ("x_3, x_3", ("x_3", "x_3")),
        ("temperature", ("temperature",)),
        ("x_3 and x_4", ("x_3", "x_4")),
        ("x_3 or x_4", None),
    ],
)
def test_control_variables(control: str, read: tuple[str, ...] | None) -> None:
    reply = f"[@ANSWER valid_hyp: true; independent: x_1; dependent: x_2; control: {control}]"
    assert parse(reply, LAST) == VariablesAnswer(True, "x_1", "x_2", read)


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ("valid_hyp: false", INVALID),
        ("valid_hyp: False", INVALID),
        ("valid_hyp: 'false'", INVALID),
        ("valid_hyp: false.", INVALID),
        ("valid_hyp = false", INVALID),
        ("valid_hyp: false;", INVALID),
        ("valid_hyp: false; independent: NA; dependent: NA; control: NA", INVALID),
        ("valid_hyp: false; independent: x_1; dependent: x_2; control: none", INVALID),
        ("valid_hyp: false; control: x_3", INVALID),
        ("valid_hyp: true", VariablesAnswer(True)),
        ("valid_hyp: true; independent: x_1", VariablesAnswer(True, "x_1")),
        ("valid_hyp: true; dependent: x_2", VariablesAnswer(True, None, "x_2")),
        ("valid_hyp: true; control: none", VariablesAnswer(True, None, None, ())),
        ("valid_hyp: true; control: x_3", VariablesAnswer(True, None, None, ("x_3",))),
        (
            "valid_hyp: true; independent: `x_1`; dependent: 'x_2'; control: none.",
            NONE,
        ),
        ("valid_hyp: `true`; independent: x_1.; dependent: x_2.; control: none", NONE),
        ("dependent: x_2; independent: x_1; control: none; valid_hyp: true", NONE),
        ("valid_hyp: true;; independent: x_1; dependent: x_2; control: none;", NONE),
        (": valid_hyp: true; independent: x_1; dependent: x_2; control: none", NONE),
        ("valid_hyp: maybe", None),
        ("valid_hyp: <true/false>", None),
        ("valid_hyp: <true/false>; independent: <var>; dependent: <var>; control: <vars>", None),
        ("valid_hyp:", None),
        ("valid_hyp true", VariablesAnswer(True)),
        ("true; x_1; x_2; none", NONE),
        ("independent: x_1; dependent: x_2; control: none", None),
        ("valid_hyp: true; valid_hyp: false", None),
        ("valid_hyp: true; independent: x_1; independent: x_2", None),
        ("valid_hyp: true; hello", VariablesAnswer(True)),
        ("valid_hyp: true; why: because", VariablesAnswer(True)),
        ("", None),
    ],
)
def test_fields(body: str, read: VariablesAnswer | None) -> None:
    assert parse(f"[@ANSWER {body}]", LAST) == read


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "true",
        "x_1 and x_2",
        "[@ANSWER independent: x_1",
        "[[[[@ANSWER",
    ],
)
def test_replies_without_an_answer(reply: str) -> None:
    assert parse(reply, LAST) is None
    assert parse(reply, FIRST) is None


@pytest.mark.parametrize(
    "reply",
    [
        "@ANSWER valid_hyp: true",
        "[ANSWER valid_hyp: true]",
        "[@ANSWER valid_hyp: true",
        "(@ANSWER valid_hyp: true)",
        "valid_hyp: true",
    ],
)
def test_brackets_may_be_missing(reply: str) -> None:
    assert parse(reply, LAST) == VariablesAnswer(True)
    assert parse(reply, ORIGINAL_RULE) is None


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("The hypothesis is valid. Vary x_1, measure x_2 and hold x_3 and x_4 constant.", TWO),
        ("Valid. x_1 is independent, x_2 dependent; x_3 and x_4 should be controlled.", TWO),
        ("Valid. Vary x_1, measure x_2, control x_3. Also control x_4. No other controls.", TWO),
        ("Valid. Vary x_1, measure x_2, control x_3 and x_4 but not x_5.", TWO),
        ("| x_1 | independent |\n| x_2 | dependent |\n| x_3 | control |\n| x_4 | control |", TWO),
        ("The hypothesis is valid: x_1 (independent), x_2 (dependent), no controls.", NONE),
        ("Vary x_1, measure x_2, and nothing needs to be controlled.", NONE),
        ("If it were valid, we would vary x_1, measure x_2 and control nothing.", None),
        (
            "Vary x_1 or x_9, measure x_2. Valid, no controls.",
            VariablesAnswer(True, None, "x_2", ()),
        ),
        ("Either [@ANSWER valid_hyp: false] or [@ANSWER valid_hyp: true].", None),
        (f"{PLAIN} Wait. No, no other controls are needed.", TWO),
        # A reason holds names that say nothing, and a name is taken back or added.
        ("Valid. Vary x_1, measure x_2, hold x_3 and x_4 fixed, as they move with x_5.", TWO),
        ("Valid. Vary x_1, measure x_2, do not hold x_5 constant, but hold x_3 and x_4.", TWO),
        (f"{PLAIN.replace('x_4', 'x_4, x_5')} Actually, x_5 should not be controlled.", TWO),
        (f"{PLAIN.replace(', x_4', '')} Wait, x_4 should be controlled, too.", TWO),
        ("Valid. Independent: x_5. Hmm, no: x_1. Dependent: x_2. Control: x_3, x_4.", TWO),
        # A heading takes the list that follows, and nothing after that.
        ("Valid.\nIV\nx_1\nDV\nx_2\nControls, in order:\n1. x_3: a\n2. x_4: b\nLeft: x_5", TWO),
        ("Valid? Yes. Which one do we vary? x_1. And measure? x_2. Controls? None.", NONE),
        # What is said under a condition is no claim, with a label or without one.
        ("If it is noise: valid_hyp: false. If not: valid_hyp: true. I can't decide.", None),
    ],
)
def test_designs_in_sentences(reply: str, read: VariablesAnswer | None) -> None:
    assert parse(reply, LAST) == read


@pytest.mark.parametrize(
    ("reply", "valid"),
    [
        ("The hypothesis isn't worth testing: what was observed speaks against it.", False),
        ("The data do not contradict the hypothesis.", True),
        ("The hypothesis has been looked at. It is not valid.", False),
        ("Hypothesis: Invalid", False),
        ("Invalid.", False),
        ("The hypothesis is not invalid.", True),
        ("The other hypothesis is invalid.", None),
        ("An invalid hypothesis is not worth an experiment.", None),
        ("Is the hypothesis invalid?", None),
        ("The hypothesis may be invalid.", None),
        ("The hypothesis is valid or invalid.", None),
        ("L'hypoth\u00e8se n'est pas valide.", False),
        ("\u76ee\u6807\u5047\u8bbe\u65e0\u6548\u3002", False),
    ],
)
def test_verdicts_in_sentences(reply: str, valid: bool | None) -> None:
    read = parse(reply, LAST)
    assert (read.valid if read else None) == valid


SYNTAXES: dict[str, Callable[[dict[str, str]], str]] = {
    "brackets": lambda fields: f"[@ANSWER {'; '.join(f'{k}: {v}' for k, v in fields.items())}]",
    "lines": lambda fields: "\n".join(f"{k}: {v}" for k, v in fields.items()),
    "bullets": lambda fields: "\n".join(f"- **{k}** = `{v}`" for k, v in fields.items()),
    "json": json.dumps,
    "json with lists": lambda fields: json.dumps({k: v.split(", ") for k, v in fields.items()}),
    "rows": lambda fields: "\n".join(f"| {k} | {v} |" for k, v in fields.items()),
    "table": lambda fields: f"| {' | '.join(fields)} |\n|---|\n| {' | '.join(fields.values())} |",
    "csv": lambda fields: f"{';'.join(fields)}\n{';'.join(fields.values())}",
    "tags": lambda fields: "".join(f"<{k}>{v}</{k}>" for k, v in fields.items()),
    "one sentence": lambda fields: ", ".join(f"{k} is {v}" for k, v in fields.items()),
    "headings": lambda fields: "\n\n".join(f"{k}:\n{v}" for k, v in fields.items()),
}


@given(
    st.sampled_from(sorted(SYNTAXES)),
    st.lists(names, min_size=2, max_size=6, unique=True),
    st.permutations(["valid_hyp", "independent", "dependent", "control"]),
)
def test_every_syntax_is_read_alike(syntax: str, used: list[str], order: list[str]) -> None:
    independent, dependent, *control = used
    values = {
        "valid_hyp": "true",
        "independent": independent,
        "dependent": dependent,
        "control": ", ".join(control) or "none",
    }
    reply = SYNTAXES[syntax]({name: values[name] for name in order})
    assert parse(reply, LAST) == VariablesAnswer(True, independent, dependent, tuple(control))


@given(
    st.sampled_from(["", "So: ", "[@ANSWER valid_hyp: false] ", "Either [@ANSWER ", "@answer x "]),
    st.sampled_from([PLAIN, PLAIN.replace("; c", ";  c"), PLAIN.lower(), f"{PLAIN}.", "None"]),
    st.sampled_from(["", " \n", " or", "\n[@ANSWER valid_hyp: false]"]),
    st.sampled_from([LAST, FIRST, ORIGINAL_RULE]),
)
def test_strict_replies_end_with_their_answer(
    before: str, form: str, after: str, view: VariablesView
) -> None:
    reply = before + form + after
    read = parse(reply, view)
    ends = read is not None and reply.rstrip().endswith(write(read))
    assert VARIABLES.strict(None, [reply], view) == ends


def test_the_form_that_was_asked_for_is_checked_without_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "plain", None)
    assert VARIABLES.strict(None, [f"Let me see. {PLAIN}"], LAST)
    assert not VARIABLES.strict(None, [f"[@ANSWER valid_hyp: false] {PLAIN}!"], LAST)


def test_the_last_or_the_first_answer_counts() -> None:
    other = PLAIN.replace("x_1", "x_7")
    assert parse(f"{other} ... {PLAIN}", LAST) == TWO
    assert parse(f"{PLAIN} ... {other}", FIRST) == TWO
    # An answer that cannot be read is none: a form that is quoted does not undo an answer.
    form = "[@ANSWER valid_hyp: <true/false>; independent: <var>]"
    assert parse(f"{PLAIN} as in {form}", LAST) == TWO
    assert parse(f"As in {form}: {PLAIN}", FIRST) == TWO


# The replies that the original accepts, by its description: this order, one space after each
# sign, any case, any field after the first left out.
ORIGINAL = re.compile(
    r"\[@answer valid_hyp: (true|false)(?:; independent: (x_\d+))?(?:; dependent: (x_\d+))?"
    r"(?:; control: (none|x_\d+(?:, x_\d+)*))?\]"
)


@given(
    valid=st.sampled_from(["true", "false", "True", "FALSE"]),
    independent=st.none() | names,
    dependent=st.none() | names,
    control=st.none() | st.just([]) | st.lists(names, min_size=1, max_size=5),
    before=st.text(alphabet=st.characters(exclude_characters="[]"), max_size=20),
)
def test_replies_that_the_original_accepts_are_read_the_same(
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
    reply = f"[@ANSWER {'; '.join(parts)}]"
    assert ORIGINAL.fullmatch(reply.lower())
    expected = INVALID
    if valid.lower() == "true":
        read = None if control is None else tuple(control)
        expected = VariablesAnswer(True, independent, dependent, read)
    for view in (LAST, FIRST, ORIGINAL_RULE):
        assert parse(before + reply, view) == expected


def test_the_original_reads_the_first_answer_and_values_as_they_stand() -> None:
    other = PLAIN.replace("x_1", "x_7")
    assert parse(f"{PLAIN} Wait: {other}", ORIGINAL_RULE) == TWO
    odd = PLAIN.replace("x_3, x_4", "x_3 and x_4")
    assert parse(odd, ORIGINAL_RULE) == VariablesAnswer(True, "x_1", "x_2", ("x_3 and x_4",))
    assert parse(PLAIN.replace("; ", ";"), ORIGINAL_RULE) is None
    none = PLAIN.replace("x_3, x_4", "`none`")
    assert parse(none, ORIGINAL_RULE) == NONE


answers = st.just(INVALID) | st.builds(
    VariablesAnswer,
    st.just(True),
    st.none() | names,
    st.none() | names,
    st.none() | st.lists(names, max_size=8).map(tuple),
)


@given(answers, st.text(max_size=30), st.text(max_size=30))
def test_writing_then_parsing_is_the_identity(
    answer: VariablesAnswer, before: str, after: str
) -> None:
    assert parse(write(answer), LAST) == answer
    assert parse(f"{before}\n{write(answer)}", LAST) == answer
    assert parse(f"{write(answer)}\n{after}", FIRST) == answer


PIECES = (
    "[ ] @ @ANSWER [@ANSWER ; : , = valid_hyp true false independent dependent control none x_1"
)
pieces = st.sampled_from([*PIECES.split(), " ", "\n", "'", "`", "\x00", "\ud800"])


@given(st.lists(pieces, max_size=60).map("".join) | st.text(max_size=200))
def test_no_text_makes_the_parser_crash(reply: str) -> None:
    for view in (LAST, FIRST):
        read = parse(reply, view)
        assert read is None or parse(write(read), view) == read


UNITS = ["[", "]", "[]", "[@ANSWER", "[@ANSWER ", "[ ", "[@", "[@ANSWER [", "[@ANSWER ;", "[\n@ "]
FIELDS = ["[@ANSWER valid_hyp: true; control: ", "[@ANSWER valid_hyp: true; control: x_1,"]


@pytest.mark.parametrize("unit", UNITS + FIELDS)
def test_a_hundred_kilobytes_of_brackets_are_read_once(unit: str) -> None:
    """Anything slower than linear would take minutes here; the benchmark says how long it takes."""
    reply = unit * (100_000 // len(unit))
    assert parse(reply, ORIGINAL_RULE) is None
    assert parse(reply + "\n" + PLAIN, LAST) == TWO
    assert parse(PLAIN + reply, FIRST) == TWO
