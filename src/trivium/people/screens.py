"""What the page shows of a session: texts and shapes, and nothing about answers not given yet."""

from __future__ import annotations

from typing import Any

from trivium.benchmarks.blicket.game.demonstrations import EXAMPLE_OBJECTS
from trivium.benchmarks.blicket.game.spec import EXAMPLES, UNSURE, GameSpec
from trivium.benchmarks.blicket.inference.hypotheses import INHIBITOR
from trivium.people.drawing import (
    PRACTICE_THINGS,
    THINGS,
    history_view,
    machine_view,
    rule_text,
    rule_texts,
    things_of,
)
from trivium.people.session import MAX_REPLY, PRACTICE, Session
from trivium.people.texts import Texts

ALWAYS = ("button.next", "button.sound_on", "button.sound_off", "light.on", "light.off")
View = dict[str, Any]


def screen(session: Session, code: str | None) -> View:
    """The screen of a session; `code` is the participant's own, shown at the end."""
    return _base(session) | _SCREENS[session.stage](session, session.experiment.texts, code)


def ending_screen(session: Session, key: str, code: str | None = None) -> View:
    """What those see who cannot go on: paused, elsewhere (another browser) or expired."""
    texts = session.experiment.texts
    return _base(session) | {"screen": key} | _page(texts, key) | _own_code(texts, code)


def _base(session: Session) -> View:
    """What every screen has."""
    texts = session.experiment.texts
    return {
        "number": session.steps,
        "screen": session.stage,
        "language": texts["page.language"],
        "text": {key.rpartition(".")[2]: texts[key] for key in ALWAYS},
        "errors": {key: texts[f"error.{key}"] for key in ("connection", "other")},
    }


def _page(texts: Texts, key: str, body: str = "") -> View:
    paragraphs = (body or texts[f"{key}.text"]).strip().split("\n")
    return {"title": texts[f"{key}.title"], "paragraphs": paragraphs}


def _consent(session: Session, texts: Texts, code: str | None) -> View:
    buttons = [
        {"kind": "consent", "value": True, "label": texts["button.agree"], "main": True},
        {"kind": "consent", "value": False, "label": texts["button.decline"]},
    ]
    own = session.experiment.consent
    return _page(texts, "consent", own) | {"eyebrow": session.experiment.title, "buttons": buttons}


def _questions(session: Session, texts: Texts, code: str | None) -> View:
    asked = [
        {
            "id": one.id,
            "text": one.text,
            "kind": one.kind,
            "options": list(one.options),
            "optional": one.optional,
        }
        for one in session.experiment.questions
    ]
    return {
        "title": texts["questions.title"],
        "questions": asked,
        "missing": texts["questions.missing"],
    }


def _instructions(session: Session, texts: Texts, code: str | None) -> View:
    pages = session.instructions
    wrong = [texts["check.wrong"]] if session.failed_checks else []
    view: View = {
        "title": texts["instructions.title"],
        "paragraphs": [*(wrong if session.page == 0 else []), pages[session.page]],
        "page": [session.page + 1, len(pages)],
        "buttons": [_next(texts)],
    }
    if session.drawn:
        placed = PRACTICE[0] if session.page >= 2 else ""
        lit = True if session.page == 3 else None
        view["picture"] = machine_view(texts, "practice", PRACTICE_THINGS, placed, lit)
    return view


def _practice(session: Session, texts: Texts, code: str | None) -> View:
    key = "practice.done" if session.practised else "practice.text"
    placed, lit = session.placed, session.lit
    view: View = {
        "title": texts["practice.title"],
        "paragraphs": [texts[key]],
        "machine": machine_view(texts, "practice", PRACTICE_THINGS, placed, lit),
    }
    buttons = [{"kind": "press", "label": texts["button.check"], "main": not session.practised}]
    if session.practised:
        buttons.append(_next(texts))
    return view | {"movable": True, "buttons": buttons}


def _check(session: Session, texts: Texts, code: str | None) -> View:
    asked = [
        {"id": str(number), "text": text, "kind": "choice", "options": options, "optional": False}
        for number, (text, options, _) in enumerate(session.check_questions)
    ]
    return {
        "title": texts["check.title"],
        "questions": asked,
        "missing": texts["questions.missing"],
    }


def _example(session: Session, texts: Texts, code: str | None) -> View:
    slides, slide = session.now.slides, session.now.slide
    name, test = slides[slide]
    shapes = [thing.split()[-1] for thing in EXAMPLE_OBJECTS[name]]
    on = [] if test is None else [thing.split()[-1] for thing in test[0]]
    words = texts["example.first" if name == EXAMPLES[0] else "example.new"]
    if on:
        words = texts["example.placed"].format(objects=_and(texts, on))
    tests = len(slides) // len(EXAMPLES) - 1
    number = slide % (tests + 1)
    lit = None if test is None else test[1]
    picture = machine_view(texts, name, dict(zip(shapes, shapes, strict=True)), on, lit)
    label = texts["button.more" if number < tests else "button.next"]
    return {
        "title": texts["example.title"].format(machine=texts[f"machine.{name}"]),
        "paragraphs": [words],
        "page": [number, tests],
        "picture": picture,
        "buttons": [{"kind": "next", "label": label, "main": True}],
    }


def _and(texts: Texts, shapes: list[str]) -> str:
    return " + ".join(texts[f"thing.{shape}"] for shape in shapes)


def _new(session: Session, texts: Texts, code: str | None) -> View:
    spec: GameSpec = session.now.item.content.spec
    picture = {"picture": machine_view(texts, "new", things_of(session.now), "", None)}
    buttons = {"buttons": [{"kind": "next", "label": texts["button.start"], "main": True}]}
    if spec.demonstrations != "none":
        return _page(texts, "new", _like(texts, "new.text")) | picture | buttons
    view = _page(texts, "rules") | {"rules": rule_texts(spec, texts)}
    if spec.noise:
        view["paragraphs"].append(texts["rules.noise"])
    return view | picture | buttons


def _explore(session: Session, texts: Texts, code: str | None) -> View:
    now = session.now
    left, spec = now.game.left, now.item.content.spec
    words = [texts["explore.text"]]
    if left <= 5 or spec.tests <= 10:
        key = "left_none" if left == 0 else "left_one" if left == 1 else "left"
        words.append(texts[f"explore.{key}"].format(count=left))
    buttons = [{"kind": "press", "label": texts["button.check"], "main": True}] if left else []
    buttons.append({"kind": "finish", "label": texts["button.finish"]})
    return {
        "title": texts["explore.title"],
        "paragraphs": words,
        "machine": machine_view(texts, "new", things_of(now), now.placed, now.lit),
        "movable": left > 0,
        "buttons": buttons,
        **history_view(now, texts),
        "rules": [] if spec.demonstrations != "none" else rule_texts(spec, texts),
    }


def _watch(session: Session, texts: Texts, code: str | None) -> View:
    now = session.now
    left = len(now.shown or ()) - len(now.game.tests)
    label = texts["button.more" if left else "button.next"]
    return {
        "title": texts["watch.title"],
        "paragraphs": [texts["watch.text"]],
        "machine": machine_view(texts, "new", things_of(now), now.placed, now.lit),
        "buttons": [{"kind": "next", "label": label, "main": True}],
        **history_view(now, texts),
    }


def _object(session: Session, texts: Texts, code: str | None) -> View:
    letter = session.now.asked
    assert letter is not None
    roles = INHIBITOR in session.now.options
    labels = {"yes": "button.yes", "no": "button.no", UNSURE: "button.unsure"}
    if roles:
        labels = {"yes": "object.is_blicket", "no": "object.is_neither"}
        labels[INHIBITOR] = "object.is_inhibitor"
    thing = texts[f"thing.{THINGS[letter]}"]
    words = texts["object.inhibitor" if roles else "object.question"].format(object=thing)
    return {
        "title": texts["object.title"],
        "paragraphs": [words],
        "thing": {"shape": THINGS[letter], "label": thing},
        "buttons": [
            {"kind": "object", "value": option, "label": texts[labels[option]], "choice": True}
            for option in session.now.options
        ],
        **history_view(session.now, texts),
    }


def _form(session: Session, texts: Texts, code: str | None) -> View:
    spec: GameSpec = session.now.item.content.spec
    labels = {name: texts[f"machine.{name}"] for name in EXAMPLES} | {
        UNSURE: texts["button.unsure"]
    }
    if spec.demonstrations == "none":
        labels = {rule: rule_text(rule, texts) for rule in spec.possible_rules}
    words = _like(texts, "form.like") if spec.demonstrations != "none" else texts["form.rule"]
    return {
        "title": texts["form.title"],
        "paragraphs": [words],
        "buttons": [
            {"kind": "form", "value": option, "label": labels[option], "choice": True}
            | ({"pattern": option} if option in EXAMPLES else {})
            for option in spec.form_answers
        ],
        **history_view(session.now, texts),
    }


def _text(session: Session, texts: Texts, code: str | None) -> View:
    assert session.condition is not None
    count, number = session.condition.items, len(session.rounds)
    return {
        "title": texts["text.title"].format(number=number, count=count),
        # What a model reads as its system message, people must read too.
        "messages": [session.now.item.system or "", *session.now.dialogue.messages],
        "label": texts["text.label"],
        "missing": texts["text.empty"],
        "send": texts["button.send"],
        "limit": MAX_REPLY,
    }


def _done(session: Session, texts: Texts, code: str | None) -> View:
    own = session.experiment.debriefing
    if not own and not session.drawn:
        own = texts["debrief.text"].strip().split("\n")[0]  # the others are about machines
    view = _page(texts, "debrief", own) | _own_code(texts, code)
    if session.experiment.completion_code:
        own = session.experiment.completion_code
        view["codes"].insert(0, {"label": texts["debrief.study"], "code": own, "note": ""})
    return view | {"again": texts["button.again"]}


def _end(session: Session, texts: Texts, code: str | None) -> View:
    failed = session.stage == "failed"  # of others nothing is stored that they have said
    return _page(texts, session.stage) | _own_code(texts, code if failed else None)


def _own_code(texts: Texts, code: str | None) -> View:
    """The code with which somebody can ask for deletion, where anything is stored."""
    if code is None:
        return {}
    label, note = texts["debrief.code"], texts["debrief.keep"]
    return {"codes": [{"label": label, "code": code, "note": note}]}


def _next(texts: Texts) -> dict[str, Any]:
    return {"kind": "next", "label": texts["button.next"], "main": True}


def _like(texts: Texts, key: str) -> str:
    first, second = (texts[f"machine.{name}"] for name in EXAMPLES)
    return texts[key].format(first=first, second=second)


_SCREENS = {
    "consent": _consent,
    "questions": _questions,
    "instructions": _instructions,
    "practice": _practice,
    "check": _check,
    "example": _example,
    "new": _new,
    "explore": _explore,
    "watch": _watch,
    "object": _object,
    "form": _form,
    "text": _text,
    "done": _done,
    "declined": _end,
    "full": _end,
    "failed": _end,
}
