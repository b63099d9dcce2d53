"""The screens of a session, which reveal nothing about answers that are still to be given."""

from __future__ import annotations

import hashlib

from trivium.people.pages import ScreenData, button
from trivium.people.session import ENDED, Session
from trivium.people.texts import Texts


def screen(session: Session, code: str | None) -> ScreenData:
    """The current screen of a session; `code` is the participant's own, shown at the end."""
    texts = session.experiment.texts
    if session.activity is None:
        content = _SCREENS[session.stage](session, texts, code)
    else:
        number, count = len(session.rounds), session.count
        title = texts["text.title"].format(number=number, count=count)
        content = {"title": title} | session.activity.view(texts)
    return _read_aloud(session, _base(session) | content)


def ending_screen(session: Session, key: str, code: str | None = None) -> ScreenData:
    """The screen of a participant who cannot continue; `key` names its texts, such as "paused"."""
    texts = session.experiment.texts
    view = _base(session) | {"screen": key} | _page(texts, key) | _own_code(texts, code)
    if key == "expired":
        view["paragraphs"].append(texts["page.close"])
    return _read_aloud(session, view)


def recording_name(sentence: str) -> str:
    """The name of the file with the recording of a sentence.

    Researchers name their files by it, so it must not change.
    """
    return f"{hashlib.blake2b(sentence.encode(), digest_size=6).hexdigest()}.mp3"


def _read_aloud(session: Session, view: ScreenData) -> ScreenData:
    """The screen; for children with the sentences that are read aloud."""
    if session.experiment.audience != "children":
        return view
    questions = view.get("questions", ())
    asked = [text for question in questions for text in (question["text"], *question["options"])]
    choices = [choice["label"] for choice in view.get("buttons", ()) if choice.get("choice")]
    paragraphs, rules = view.get("paragraphs", ()), view.get("rules", ())
    sentences = [view["title"], *paragraphs, *rules, *asked, *choices]
    picture = view.get("machine") or view.get("picture") or {}
    if picture.get("words"):
        # What the light says comes last; after a press the browser reads it first.
        sentences.append(picture["words"])
    keys = ["listen"]
    if session.experiment.links == "open" and view["screen"] in (*ENDED, "expired"):
        keys.append("next_child")
    labels = {key: session.experiment.texts[f"button.{key}"] for key in keys}
    return view | {
        "speak": [
            {"text": text, "file": recording_name(text)} for text in dict.fromkeys(sentences)
        ],
        "recorded": bool(session.experiment.audio),
        "text": view["text"] | labels,
    }


def _base(session: Session) -> ScreenData:
    """What every screen has."""
    texts, labels = session.experiment.texts, ("button.next", *session.page.labels)
    return {
        "number": session.steps,
        "screen": session.stage,
        "language": texts["page.language"],
        "audience": session.experiment.audience,
        "guard": session.experiment.tap_guard * (1 + (session.experiment.audience == "children")),
        "text": {key.rpartition(".")[2]: texts[key] for key in labels},
        "errors": {key: texts[f"error.{key}"] for key in ("connection", "other")},
    }


def _page(texts: Texts, key: str, body: str = "") -> ScreenData:
    paragraphs = (body or texts[f"{key}.text"]).strip().split("\n")
    return {"title": texts[f"{key}.title"], "paragraphs": paragraphs}


def _consent(session: Session, texts: Texts, code: str | None) -> ScreenData:
    buttons = [
        button(texts, "consent", "agree", value=True, main=True),
        button(texts, "consent", "decline", value=False),
    ]
    page = _page(texts, "consent", session.experiment.consent)
    return page | {"eyebrow": session.experiment.title, "buttons": buttons}


def _questions(session: Session, texts: Texts, code: str | None) -> ScreenData:
    optional = texts["questions.optional"]
    questions = [
        {key: getattr(question, key) for key in ("id", "kind", "options", "optional")}
        | {"text": optional.format(question=question.text) if question.optional else question.text}
        for question in session.asked
    ]
    title = texts[f"questions.{session.part}"]
    return {"title": title, "questions": questions, "missing": texts["questions.missing"]}


def _instructions(session: Session, texts: Texts, code: str | None) -> ScreenData:
    pages, number = session.instructions, session.instruction
    failed = [texts["check.wrong"]] if session.failed_checks and number == 0 else []
    return {
        "title": texts["instructions.title"],
        "paragraphs": [*failed, pages[number]],
        "page": [number + 1, len(pages)],
        "buttons": [button(texts, "next", "next", main=True)],
        **session.page.picture(number, texts),
    }


def _check(session: Session, texts: Texts, code: str | None) -> ScreenData:
    """The questions about the instructions, each with its options."""
    questions = [
        {
            "id": str(number),
            "text": text,
            "kind": "choice",
            "options": options,
            "optional": False,
            "pictures": session.page.check_pictures(number, right),
        }
        for number, (text, options, right) in enumerate(session.check_questions)
    ]
    missing = texts["questions.missing"]
    return {"title": texts["check.title"], "questions": questions, "missing": missing}


def _end(session: Session, texts: Texts, code: str | None) -> ScreenData:
    """The screen of a final stage, with codes, a button to try again or an address to return to."""
    experiment, stage = session.experiment, session.stage
    done, url = stage == "done", getattr(experiment.completion, stage)
    view = _page(texts, stage, experiment.debriefing if done else "")
    debriefing = texts.get(f"done.more.{session.page.kind}")
    if done and debriefing is not None and not experiment.debriefing:
        view["paragraphs"].append(debriefing)
    if stage in ("done", "failed"):
        view |= _own_code(texts, code)
    else:
        view["buttons"] = [button(texts, "retry", f"retry_{stage}")]
    if done and experiment.completion_code:
        study_code = {"label": texts["code.study"], "code": experiment.completion_code, "note": ""}
        view["codes"] = [study_code, *view.get("codes", ())]
    if url:
        view["link"] = {"url": url, "label": texts["button.return"]}
    elif stage in ("declined", "failed"):
        view["paragraphs"].append(texts["page.close"])
    return view


def _own_code(texts: Texts, code: str | None) -> ScreenData:
    """The code with which participants can ask for deletion."""
    if code is None:
        return {}
    label, note = texts["code.own"], texts["code.keep"]
    return {"codes": [{"label": label, "code": code, "note": note}]}


_SCREENS = {
    "consent": _consent,
    "questions": _questions,
    "instructions": _instructions,
    "check": _check,
    **dict.fromkeys(ENDED, _end),
}
