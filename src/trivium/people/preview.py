"""Every screen of an experiment, without participants: as a preview, or as pictures."""

from __future__ import annotations

from html import escape
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from trivium.people.app import index_page, read_json, static_files
from trivium.people.experiment import Experiment
from trivium.people.walk import all_views

COOKIE = "trivium_preview"
SIZES = {"desk": (1440, 900), "tablet": (768, 1024), "phone": (390, 844)}


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
