"""Every screen of an experiment, without participants: as a preview, or as pictures."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from trivium.people.app import index_page, read_json, static_files
from trivium.people.experiment import Condition, Experiment
from trivium.people.pages import Step, View
from trivium.people.screens import ending_screen, screen
from trivium.people.session import ENDED, Session

COOKIE = "trivium_preview"
CODE = "EXAMPLE234"  # instead of a participant's code
STOPPED = ("paused", "elsewhere", "uninvited")
SIZES = {"desk": (1280, 800), "tablet": (820, 1180), "phone": (390, 844)}


def all_views(experiment: Experiment) -> list[View]:
    """Every screen of every condition, each different one once, then all endings."""
    found = [
        (view, condition.name)
        for condition in experiment.conditions
        for view in _walk(experiment, condition)
    ]
    session = Session(experiment)
    session.condition = experiment.conditions[0]
    for session.stage in ENDED[:-1]:
        found.append((screen(session, CODE), "endings"))
    found.append((ending_screen(session, "expired", CODE), "endings"))
    found += [(ending_screen(session, key), "endings") for key in STOPPED]
    distinct: dict[bytes, tuple[View, str]] = {}
    for view, name in found:
        distinct.setdefault(orjson.dumps(view | {"number": 0}), (view, name))
    for number, (view, name) in enumerate(distinct.values()):
        about = f"{number + 1} of {len(distinct)}, {name}: {view['screen']}"
        view.update(number=number, preview=about, guard=0)
    return [view for view, _ in distinct.values()]


def _walk(experiment: Experiment, condition: Condition) -> list[View]:
    """The screens of a participant who presses the main button and answers as needed."""
    place: dict[str, Any] = {"condition": condition.name, "slot": 0}
    if condition.arm != "active":
        place["shown"] = experiment.moves_shown(condition, 0)
    session, views = Session(experiment), list[View]()
    while True:
        views.append(screen(session, CODE))
        if session.stage in ENDED:
            return views
        step = _next_step(session, views[-1])
        asks = session.answers_to_assign(step) is not None
        session.take(Step(step.kind, step.value, place if asks else {}))


def _next_step(session: Session, view: View) -> Step:
    """The step that leads to a new screen."""
    if view["screen"] == "check":
        return Step("check", [right for _, _, right in session.check_questions])
    if "questions" in view:
        asked = view["questions"]
        answers = {one["id"]: one["options"][0] if one["options"] else "..." for one in asked}
        return Step("questions", answers)
    if "messages" in view:
        return Step("reply", session.now.item.gold)
    if view.get("movable") and view["machine"]["lit"] is None:
        things = view["machine"]["things"]
        placed = any(one["on"] for one in things)
        return Step("press", None) if placed else Step("toggle", things[0]["id"])
    main = [one for one in view["buttons"] if one.get("main") and one["kind"] != "press"]
    chosen = (main or [one for one in view["buttons"] if one["kind"] != "press"])[0]
    return Step(chosen["kind"], chosen.get("value"))


def make_preview(experiment: Experiment) -> Starlette:
    """The application that shows one screen after the other, whatever is pressed."""
    views, page = all_views(experiment), index_page(experiment)

    def number_in(text: str) -> int:
        return min(int(text) if text.isdecimal() else 0, len(views) - 1)

    async def index(request: Request) -> Response:
        response = HTMLResponse(page)
        if "screen" in request.query_params:
            response.set_cookie(COOKIE, str(number_in(request.query_params["screen"])))
        return response

    async def state(request: Request) -> Response:
        number = number_in(request.cookies.get(COOKIE, ""))
        return JSONResponse({"token": "", "view": views[number]})

    async def step(request: Request) -> Response:
        number = number_in(str((await read_json(request)).get("number", 0) + 1))
        response = JSONResponse({"view": views[number]})
        response.set_cookie(COOKIE, str(number))
        return response

    async def events(request: Request) -> Response:
        return Response(status_code=204)

    return Starlette(
        routes=[
            Route("/", index),
            Route("/api/state", state),
            Route("/api/step", step, methods=["POST"]),
            Route("/api/events", events, methods=["POST"]),
            static_files(experiment),
        ]
    )


def save_screens(experiment: Experiment, url: str, out: Path) -> int:
    """Save a picture of every screen in every size, and a page that shows them all."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - it needs an extra

    from trivium.people.simulate import open_browser  # noqa: PLC0415

    views, rows = all_views(experiment), list[str]()
    with sync_playwright() as playwright:
        browser = open_browser(playwright)
        for size, (width, height) in SIZES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            for view in views:
                page.goto(f"{url}?screen={view['number']}")
                page.wait_for_function("() => view")
                path = Path(size) / f"{view['number'] + 1:03d}-{view['screen']}.png"
                page.screenshot(path=str(out / path), full_page=True)
                rows.append(
                    f"<figure><figcaption>{escape(view['preview'])}, {size}</figcaption>"
                    f'<img src="{path.as_posix()}" width="{width // 2}" alt=""></figure>'
                )
        browser.close()
    head = f"<!doctype html><meta charset='utf-8'><title>{escape(experiment.title)}</title>"
    (out / "index.html").write_text(f"{head}\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return len(views)
