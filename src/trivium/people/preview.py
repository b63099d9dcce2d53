"""A preview of an experiment: a page that steps through its screens, or pictures of them."""

from __future__ import annotations

from html import escape
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from trivium.people.app import index_page, read_json, static_files
from trivium.people.experiment import Experiment
from trivium.people.security import MAX_BODY
from trivium.people.walkthrough import all_screens

COOKIE = "trivium_preview"
SIZES = {"desk": (1440, 900), "tablet": (768, 1024), "phone": (390, 844)}


def make_preview(experiment: Experiment) -> Starlette:
    """The application that shows all screens in order, whichever button is pressed."""
    screens, page = all_screens(experiment), index_page(experiment)

    def number_in(text: str) -> int:
        return min(int(text) if text.isdecimal() else 0, len(screens) - 1)

    async def index(request: Request) -> Response:
        response = HTMLResponse(page)
        if "screen" in request.query_params:
            response.set_cookie(COOKIE, str(number_in(request.query_params["screen"])))
        return response

    async def state(request: Request) -> Response:
        number = number_in(request.cookies.get(COOKIE, ""))
        return JSONResponse({"token": "", "view": screens[number]})

    async def step(request: Request) -> Response:
        number = number_in(str((await read_json(request)).get("number", 0) + 1))
        response = JSONResponse({"view": screens[number]})
        response.set_cookie(COOKIE, str(number))
        return response

    async def events(request: Request) -> Response:
        return Response(status_code=204)

    return Starlette(
        routes=[
            Route("/", index),
            Route("/api/state", state),
            Route("/api/step", step, methods=["POST"], max_body_size=MAX_BODY),
            Route("/api/events", events, methods=["POST"]),
            static_files(experiment),
        ]
    )


def save_screens(experiment: Experiment, url: str, out: Path) -> int:
    """Save a picture of every screen in every size and a page that shows them all.

    `url` is the address of a running preview. Returns the number of screens.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - it needs an extra

    from trivium.people.simulate import open_browser  # noqa: PLC0415

    screens, figures = all_screens(experiment), list[str]()
    with sync_playwright() as playwright:
        browser = open_browser(playwright)
        for size, (width, height) in SIZES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            for data in screens:
                page.goto(f"{url}?screen={data['number']}")
                page.wait_for_function("() => view")
                path = Path(size) / f"{data['number'] + 1:03d}-{data['screen']}.png"
                page.screenshot(path=str(out / path), full_page=True)
                figures.append(
                    f"<figure><figcaption>{escape(data['preview'])}, {size}</figcaption>"
                    f'<img src="{path.as_posix()}" width="{width // 2}" alt=""></figure>'
                )
        browser.close()
    head = f"<!doctype html><meta charset='utf-8'><title>{escape(experiment.title)}</title>"
    (out / "index.html").write_text(f"{head}\n" + "\n".join(figures) + "\n", encoding="utf-8")
    return len(screens)
