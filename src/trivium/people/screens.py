"""The screens of a session, which say nothing about answers that are still to be given."""

from __future__ import annotations

import hashlib

from trivium.people.pages import ScreenData, button
from trivium.people.session import ENDED, Session
from trivium.people.texts import Texts


def screen(session: Session, code: str | None) -> ScreenData:
    """The current screen of a session; `code` is the participant's, shown at the end."""
    texts = session.experiment.texts
    if session.activity is None:
        own = _SCREENS[session.stage](session, texts, code)
    else:
        number, count = len(session.rounds), session.count
        title = texts["text.title"].format(number=number, count=count)
        own = {"title": title} | session.activity.view(texts)
    return _read_aloud(session, _base(session) | own)


def ending_screen(session: Session, key: str, code: str | None = None) -> ScreenData:
    """The screen of a participant who cannot continue: paused, elsewhere, expired, uninvited."""
    texts = session.experiment.texts
    view = _base(session) | {"screen": key} | _page(texts, key) | _own_code(texts, code)
    if key == "expired":
        view["paragraphs"].append(texts["page.close"])
    return _read_aloud(session, view)


def recording(sentence: str) -> str:
    """The name of the file with the recording of a sentence."""
    return f"{hashlib.blake2b(sentence.encode(), digest_size=6).hexdigest()}.mp3"


def _read_aloud(session: Session, view: ScreenData) -> ScreenData:
    """The screen with the sentences that are read to children."""
    if session.experiment.audience != "children":
        return view
    asked = [text for one in view.get("questions", ()) for text in (one["text"], *one["options"])]
    labels = [one["label"] for one in view.get("buttons", ()) if one.get("choice")]
    read = [view["title"], *view.get("paragraphs", ()), *view.get("rules", ()), *asked, *labels]
    shown = view.get("machine") or view.get("picture") or {}
    if shown.get("words"):
        read.append(shown["words"])  # what the light says: the last, and the first after a press
    ended = session.experiment.links == "open" and view["screen"] in (*ENDED, "expired")
    others = ["next_child"] if ended else []
    names = {key: session.experiment.texts[f"button.{key}"] for key in ("listen", *others)}
    return view | {
        "speak": [{"text": text, "file": recording(text)} for text in dict.fromkeys(read)],
        "recorded": bool(session.experiment.audio),
        "text": view["text"] | names,
    }


def _base(session: Session) -> ScreenData:
    """The parts of every screen."""
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
    own = session.experiment.consent
    return _page(texts, "consent", own) | {"eyebrow": session.experiment.title, "buttons": buttons}


def _questions(session: Session, texts: Texts, code: str | None) -> ScreenData:
    optional = texts["questions.optional"]
    asked = [
        {key: getattr(one, key) for key in ("id", "kind", "options", "optional")}
        | {"text": optional.format(question=one.text) if one.optional else one.text}
        for one in session.asked
    ]
    title = texts[f"questions.{session.part}"]
    return {"title": title, "questions": asked, "missing": texts["questions.missing"]}


def _instructions(session: Session, texts: Texts, code: str | None) -> ScreenData:
    pages, number = session.instructions, session.instruction
    again = [texts["check.wrong"]] if session.failed_checks and number == 0 else []
    return {
        "title": texts["instructions.title"],
        "paragraphs": [*again, pages[number]],
        "page": [number + 1, len(pages)],
        "buttons": [button(texts, "next", "next", main=True)],
        **session.page.picture(number, texts),
    }


def _check(session: Session, texts: Texts, code: str | None) -> ScreenData:
    asked = [
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
    return {"title": texts["check.title"], "questions": asked, "missing": missing}


def _end(session: Session, texts: Texts, code: str | None) -> ScreenData:
    """The screen of a final stage: codes of stored answers, a way back, an address to return to."""
    experiment, stage = session.experiment, session.stage
    done, url = stage == "done", getattr(experiment.completion, stage)
    view = _page(texts, stage, experiment.debriefing if done else "")
    more = texts.get(f"done.more.{session.page.kind}")
    if done and more is not None and not experiment.debriefing:
        view["paragraphs"].append(more)
    if stage in ("done", "failed"):
        view |= _own_code(texts, code)
    else:
        view["buttons"] = [button(texts, "retry", f"retry_{stage}")]
    if done and experiment.completion_code:
        shown = {"label": texts["code.study"], "code": experiment.completion_code, "note": ""}
        view["codes"] = [shown, *view.get("codes", ())]
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
