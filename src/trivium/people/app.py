"""The application: endpoints for the page, steps and events of participants."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import astuple
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
from trivium.people.experiment import Experiment
from trivium.people.pages import ScreenData
from trivium.people.screens import ending_screen, screen
from trivium.people.security import equal
from trivium.people.session import ENDED, Session
from trivium.people.steps import RefusedError
from trivium.people.store import Contact
from trivium.people.study import AUDIO, StoppedError, Study, events_from, step_from

COOKIE = "trivium_session"
# Parameters with which recruiting services name participants, studies and sessions.
NAMES = ("PROLIFIC_PID", "participant", "workerId", "SESSION_ID")
STUDIES, SESSIONS = ("STUDY_ID", "hitId"), ("SESSION_ID", "assignmentId")
SIGNATURE = "signature"
MAX_NAME = 100  # characters
Endpoint = Callable[[Request], Awaitable[Response]]


class Who(NamedTuple):
    """The participant and the browser that a cookie names, and the parameters of the link."""

    key: str
    browser: str
    contact: Contact


class People:
    """The endpoints for participants."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._by_session = security.Rates(20, 100)
        self._page = index_page(study.experiment)

    async def page(self, request: Request) -> Response:
        """The page; parameters of a link are removed from the address by a redirect."""
        who = self._who(request) or self._new(secrets.token_hex(10))
        given = self._contact(request)
        if given.name:
            # A browser stays the same for all participants who share it.
            who = Who(self.study.outside_key(given.name), who.browser, given)
        response: Response = HTMLResponse(self._page)
        if request.query_params:
            response = RedirectResponse("./", 303)  # relative: a proxy may serve a sub-path
        self._remember(response, request, who)
        return response

    def _new(self, browser: str) -> Who:
        """A participant without a name."""
        return Who(secrets.token_hex(20), browser, Contact())

    def _contact(self, request: Request) -> Contact:
        """The parameters of a link; without a name if its signature is needed and wrong."""

        def first(keys: Sequence[str]) -> str:
            given = (request.query_params.get(key, "") for key in keys)
            return next((text[:MAX_NAME] for text in given if text), "")

        found = Contact(first(NAMES), first(STUDIES), first(SESSIONS))
        signed = request.query_params.get(SIGNATURE, "")
        valid = equal(signed, self.study.signature(found.name))
        return found if valid or self.study.experiment.links != "signed" else Contact()

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
            self._check_invited(who)
            session, in_time = self.study.take_step(who.key, number, step, who.browser, who.contact)
            self.study.add_events(who.key, events_from(body.get("events")), who.browser)
        except RefusedError as problem:
            return JSONResponse({"error": str(problem), "view": self._view(who)}, 422)
        except StoppedError:
            return JSONResponse({"view": self._view(who)}, 409)
        has_code = session.stage in ("done", "failed")
        view = self._view(who) if has_code else screen(session, None)
        return JSONResponse({"view": view}, 200 if in_time else 409)

    async def next_child(self, request: Request) -> Response:
        """Let another child begin in the same browser, after the last one has ended."""
        who, _ = await self._read(request)
        view = await run_in_threadpool(self._view, who)
        if "next_child" not in view["text"]:
            raise HTTPException(403, "not now")
        response = JSONResponse({})
        self._remember(response, request, self._new(who.browser))
        return response

    async def events(self, request: Request) -> Response:
        """Store events."""
        who, body = await self._read(request)
        found = events_from(body.get("events"))
        with suppress(StoppedError):
            await run_in_threadpool(self.study.add_events, who.key, found, who.browser)
        return Response(status_code=204)

    def _check_invited(self, who: Who) -> None:
        if self.study.experiment.links != "open" and not who.contact.name:
            raise StoppedError("uninvited")

    def _view(self, who: Who) -> ScreenData:
        """The current screen of a participant."""
        try:
            self._check_invited(who)
            participant = self.study.participant(who.key, who.browser)
        except StoppedError as problem:
            return ending_screen(Session(self.study.experiment), *problem.args)
        session = self.study.session(participant)
        if self.study.paused and session.stage not in ENDED:
            return ending_screen(session, "paused")
        return screen(session, None if participant is None else participant.code)

    def _who(self, request: Request) -> Who | None:
        """The participant in a validly signed cookie."""
        value, _, signature = request.cookies.get(COOKIE, "").rpartition(".")
        if not equal(signature, self.study.store.keyed_hash("cookie", value)):
            return None
        key, browser, contact = value.split("~")
        return Who(key, browser, Contact(*orjson.loads(bytes.fromhex(contact))))

    def _token(self, who: Who) -> str:
        return self.study.store.keyed_hash("request", who.key, who.browser)

    def _remember(self, response: Response, request: Request, who: Who) -> None:
        contact = orjson.dumps(astuple(who.contact)).hex()
        value = "~".join((who.key, who.browser, contact))
        signature = self.study.store.keyed_hash("cookie", value)
        security.set_cookie(response, request, COOKIE, f"{value}.{signature}", "lax")

    async def _read(self, request: Request) -> tuple[Who, dict[str, Any]]:
        """The participant and the JSON body of a request from our own page."""
        who = self._who(request)
        token = request.headers.get("x-token", "")
        if who is None or not equal(token, self._token(who)) or not security.same_origin(request):
            raise HTTPException(403, "not from this page")
        self._by_session.check(who.key)
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            raise HTTPException(415, "JSON is needed")
        return who, await read_json(request)


def index_page(experiment: Experiment) -> str:
    """The page, with the scripts and styles of drawn pages."""
    head = "".join(page.head for page in experiment.pages)
    page = resources.files(__package__).joinpath("static", "index.html").read_text("utf-8")
    return page.replace("<script", f"{head}<script", 1)


def static_files(experiment: Experiment) -> Mount:
    """The route of the scripts, styles and pictures."""
    packages = dict.fromkeys(("trivium.people", *(one.package for one in experiment.pages)))
    return Mount("/static", StaticFiles(packages=[(one, "static") for one in packages]))


async def read_json(request: Request) -> dict[str, Any]:
    """The JSON object in the body of a request."""
    body = await security.read_body(request)
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise HTTPException(400, "not JSON") from None
    if not isinstance(value, dict):
        raise HTTPException(400, "an object is needed")
    return value


async def _refused(request: Request, problem: Exception) -> Response:
    """The response to a refused request."""
    status = problem.status_code if isinstance(problem, HTTPException) else 400
    return JSONResponse({"error": getattr(problem, "detail", "")}, status)


def make_app(study: Study, admin_token: str) -> Starlette:
    """The application of a study."""
    people, admin = People(study), Admin(study, admin_token)
    folder, rate = study.store.folder / AUDIO, study.experiment.requests_per_second
    recordings = [Mount("/audio", StaticFiles(directory=folder))] if folder.is_dir() else []
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
            route("/api/next-child", people.next_child, "POST"),
            route("/admin", admin.page, "GET"),
            route("/admin/login", admin.login, "POST"),
            route("/admin/pause", admin.pause, "POST"),
            route("/admin/export/{name}", admin.export, "GET"),
            static_files(study.experiment),
            *recordings,
        ],
        middleware=[Middleware(security.SafeHeaders)],
        exception_handlers={HTTPException: _refused, ClientDisconnect: _refused},
    )
