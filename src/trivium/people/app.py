"""The application: endpoints for the page, steps and events of participants."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib import resources
from typing import Any, NamedTuple

import orjson
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from trivium.people import security
from trivium.people.admin import Admin
from trivium.people.pages import RefusedError, View
from trivium.people.screens import ending_screen, screen
from trivium.people.security import equal
from trivium.people.session import ENDED, Session
from trivium.people.study import StoppedError, Study, events_from, step_from

COOKIE = "trivium_session"
# Parameters with which recruiting services name participants; kept only as a keyed hash.
OUTSIDE = ("PROLIFIC_PID", "participant", "workerId", "SESSION_ID")
Endpoint = Callable[[Request], Awaitable[Response]]


class Who(NamedTuple):
    """The participant and the browser that a cookie names."""

    key: str
    browser: str


class People:
    """The endpoints for participants."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._by_session = security.Rates(20, 100)
        head = "".join(page.head for page in study.experiment.pages)
        page = resources.files(__package__).joinpath("static", "index.html").read_text("utf-8")
        self._page = page.replace("<script", f"{head}<script", 1)

    async def page(self, request: Request) -> Response:
        """The page; parameters of a link are removed from the address by a redirect."""
        given = next((name for key in OUTSIDE if (name := request.query_params.get(key))), None)
        who = self._who(request) or Who(secrets.token_hex(20), secrets.token_hex(10))
        if given is not None:
            key = self.study.outside_key(given)
            if key != who.key.partition("_")[0]:  # a browser keeps its place for the same link
                who = Who(key, secrets.token_hex(10))
        response: Response = HTMLResponse(self._page)
        if request.query_params:
            response = RedirectResponse("/", 303)
        self._remember(response, request, who)
        return response

    async def state(self, request: Request) -> Response:
        """The current screen, and the token that later requests need."""
        who = self._who(request)
        if who is None:
            raise HTTPException(403, "no session")
        view = await run_in_threadpool(self._view, who)
        return JSONResponse({"token": self._token(who), "view": view})

    async def step(self, request: Request) -> Response:
        """Take a step; responds with the next screen."""
        who, body = await self._read(request)
        return await run_in_threadpool(self._take_step, who, body)

    def _take_step(self, who: Who, body: dict[str, Any]) -> Response:
        if self.study.paused:
            return JSONResponse({"view": self._view(who)}, 423)
        try:
            number, step = step_from(body)
            session, in_time = self.study.take_step(who.key, number, step, who.browser)
            self.study.add_events(who.key, events_from(body.get("events")), who.browser)
        except RefusedError as problem:
            return JSONResponse({"error": str(problem), "view": self._view(who)}, 422)
        except StoppedError:
            return JSONResponse({"view": self._view(who)}, 409)
        has_code = session.stage in ("done", "failed")
        view = self._view(who) if has_code else screen(session, None)
        return JSONResponse({"view": view}, 200 if in_time else 409)

    async def events(self, request: Request) -> Response:
        """Store events."""
        who, body = await self._read(request)
        found = events_from(body.get("events"))
        with suppress(StoppedError):
            await run_in_threadpool(self.study.add_events, who.key, found, who.browser)
        return Response(status_code=204)

    async def again(self, request: Request) -> Response:
        """Start another attempt, if the experiment allows it."""
        who, _ = await self._read(request)
        following = await run_in_threadpool(self._next_attempt, who)
        if following is None:
            raise HTTPException(403, "no more attempts")
        response = JSONResponse({})
        self._remember(response, request, Who(following, who.browser))
        return response

    def _view(self, who: Who) -> View:
        """The current screen of a participant."""
        try:
            participant = self.study.participant(*who)
        except StoppedError as problem:
            return ending_screen(Session(self.study.experiment), *problem.args)
        session = self.study.session(participant)
        if self.study.paused and session.stage not in ENDED:
            return ending_screen(session, "paused")
        view = screen(session, None if participant is None else participant.code)
        if session.stage == "done" and self._next_attempt(who) is None:
            del view["again"]
        return view

    def _next_attempt(self, who: Who) -> str | None:
        """The key of the participant's next attempt; None after the last one."""
        base, _, number = who.key.partition("_")
        attempt = int(number or 1)
        try:
            participant = self.study.participant(*who)
        except StoppedError:
            return None
        done = participant is not None and participant.stage == "done"
        more = done and attempt < self.study.experiment.attempts
        return f"{base}_{attempt + 1}" if more else None

    def _who(self, request: Request) -> Who | None:
        """The participant in a validly signed cookie."""
        value, _, signature = request.cookies.get(COOKIE, "").rpartition(".")
        key, _, browser = value.partition("~")
        valid = browser and equal(signature, self.study.store.keyed_hash("cookie", value))
        return Who(key, browser) if valid else None

    def _token(self, who: Who) -> str:
        return self.study.store.keyed_hash("request", *who)

    def _remember(self, response: Response, request: Request, who: Who) -> None:
        value = "~".join(who)
        signature = self.study.store.keyed_hash("cookie", value)
        security.set_cookie(response, request, COOKIE, f"{value}.{signature}", "/")

    async def _read(self, request: Request) -> tuple[Who, dict[str, Any]]:
        """The participant and the JSON body of a request from our own page."""
        who = self._who(request)
        token = request.headers.get("x-token", "")
        if who is None or not equal(token, self._token(who)) or not security.same_origin(request):
            raise HTTPException(403, "not from this page")
        self._by_session.check(who.key)
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            raise HTTPException(415, "JSON is needed")
        body = await security.read_body(request)
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise HTTPException(400, "not JSON") from None
        if not isinstance(value, dict):
            raise HTTPException(400, "an object is needed")
        return who, value


async def _refused(request: Request, problem: Exception) -> Response:
    """The response to a refused request."""
    status = problem.status_code if isinstance(problem, HTTPException) else 400
    return JSONResponse({"error": getattr(problem, "detail", "")}, status)


def make_app(study: Study, admin_token: str) -> Starlette:
    """The application of a study."""
    people, admin = People(study), Admin(study, admin_token)
    packages = dict.fromkeys(("trivium.people", *(one.package for one in study.experiment.pages)))
    rate = study.experiment.requests_per_second
    by_address = security.Rates(rate, 5 * rate)

    def route(path: str, endpoint: Endpoint, method: str) -> Route:
        async def limited(request: Request) -> Response:
            by_address.check(security.address_of(request))
            return await endpoint(request)

        return Route(path, limited, methods=[method])

    return Starlette(
        routes=[
            route("/", people.page, "GET"),
            route("/api/state", people.state, "GET"),
            route("/api/step", people.step, "POST"),
            route("/api/events", people.events, "POST"),
            route("/api/again", people.again, "POST"),
            route("/admin", admin.page, "GET"),
            route("/admin/login", admin.login, "POST"),
            route("/admin/pause", admin.pause, "POST"),
            route("/admin/export/{name}", admin.export, "GET"),
            Mount("/static", StaticFiles(packages=[(one, "static") for one in packages])),
        ],
        middleware=[Middleware(security.SafeHeaders)],
        exception_handlers={HTTPException: _refused, ClientDisconnect: _refused},
    )
