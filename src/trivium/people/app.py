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
NAMES = ("PROLIFIC_PID", "participant", "workerId", "SESSION_ID")  # the first present is used
STUDIES, SESSIONS = ("STUDY_ID", "hitId"), ("SESSION_ID", "assignmentId")
SIGNATURE = "signature"
MAX_NAME = 100  # characters
Endpoint = Callable[[Request], Awaitable[Response]]


class Identity(NamedTuple):
    """A participant, their browser and the parameters of their link, as in the signed cookie."""

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
        """The page, after a redirect that removes the parameters of a link from the address."""
        identity = self._identity(request) or self._new(secrets.token_hex(10))
        contact = self._contact(request)
        if contact.name:
            # Participants who share a browser keep its name.
            identity = Identity(self.study.outside_key(contact.name), identity.browser, contact)
        response: Response = HTMLResponse(self._page)
        if request.query_params:
            response = RedirectResponse("./", 303)  # relative: a proxy may serve a sub-path
        self._remember(response, request, identity)
        return response

    def _new(self, browser: str) -> Identity:
        """A new participant without a link."""
        return Identity(secrets.token_hex(20), browser, Contact())

    def _contact(self, request: Request) -> Contact:
        """The parameters of a link; empty ones if its signature is required and wrong."""

        def first(keys: Sequence[str]) -> str:
            given = (request.query_params.get(key, "") for key in keys)
            return next((text[:MAX_NAME] for text in given if text), "")

        contact = Contact(first(NAMES), first(STUDIES), first(SESSIONS))
        signed = request.query_params.get(SIGNATURE, "")
        valid = equal(signed, self.study.signature(contact.name))
        return contact if valid or self.study.experiment.links != "signed" else Contact()

    async def state(self, request: Request) -> Response:
        """The current screen, and the token that later requests need."""
        identity = self._identity(request)
        if identity is None:
            raise HTTPException(403, "no session")
        view = await run_in_threadpool(self._view, identity)
        return JSONResponse({"token": self._token(identity), "view": view})

    async def step(self, request: Request) -> Response:
        """Take a step; the response is the next screen."""
        identity, body = await self._read(request)
        return await run_in_threadpool(self._take_step, identity, body)

    def _take_step(self, identity: Identity, body: dict[str, Any]) -> Response:
        if self.study.paused:
            return JSONResponse({"view": self._view(identity)}, 423)
        try:
            number, step = step_from(body)
            self._check_invited(identity)
            session, fits = self.study.take_step(
                identity.key, number, step, identity.browser, identity.contact
            )
            self.study.add_events(identity.key, events_from(body.get("events")), identity.browser)
        except RefusedError as problem:
            return JSONResponse({"error": str(problem), "view": self._view(identity)}, 422)
        except StoppedError:
            return JSONResponse({"view": self._view(identity)}, 409)
        has_code = session.stage in ("done", "failed")
        view = self._view(identity) if has_code else screen(session, None)
        return JSONResponse({"view": view}, 200 if fits else 409)

    async def next_child(self, request: Request) -> Response:
        """Let another child start in the same browser, after the last one has finished."""
        identity, _ = await self._read(request)
        view = await run_in_threadpool(self._view, identity)
        if "next_child" not in view["text"]:
            raise HTTPException(403, "not now")
        response = JSONResponse({})
        self._remember(response, request, self._new(identity.browser))
        return response

    async def events(self, request: Request) -> Response:
        """Store events."""
        identity, body = await self._read(request)
        events = events_from(body.get("events"))
        with suppress(StoppedError):
            await run_in_threadpool(self.study.add_events, identity.key, events, identity.browser)
        return Response(status_code=204)

    def _check_invited(self, identity: Identity) -> None:
        if self.study.experiment.links != "open" and not identity.contact.name:
            raise StoppedError("uninvited")

    def _view(self, identity: Identity) -> ScreenData:
        """The current screen of a participant."""
        try:
            self._check_invited(identity)
            participant = self.study.participant(identity.key, identity.browser)
        except StoppedError as problem:
            return ending_screen(Session(self.study.experiment), *problem.args)
        session = self.study.session(participant)
        if self.study.paused and session.stage not in ENDED:
            return ending_screen(session, "paused")
        return screen(session, None if participant is None else participant.code)

    def _identity(self, request: Request) -> Identity | None:
        """The participant in a validly signed cookie."""
        value, _, signature = request.cookies.get(COOKIE, "").rpartition(".")
        if not equal(signature, self.study.store.keyed_hash("cookie", value)):
            return None
        key, browser, contact = value.split("~")
        return Identity(key, browser, Contact(*orjson.loads(bytes.fromhex(contact))))

    def _token(self, identity: Identity) -> str:
        return self.study.store.keyed_hash("request", identity.key, identity.browser)

    def _remember(self, response: Response, request: Request, identity: Identity) -> None:
        contact = orjson.dumps(astuple(identity.contact)).hex()
        value = "~".join((identity.key, identity.browser, contact))
        signature = self.study.store.keyed_hash("cookie", value)
        security.set_cookie(response, request, COOKIE, f"{value}.{signature}", "lax")

    async def _read(self, request: Request) -> tuple[Identity, dict[str, Any]]:
        """The participant and the JSON body of a request; refuses those from other pages."""
        identity = self._identity(request)
        token = request.headers.get("x-token", "")
        if (
            identity is None
            or not equal(token, self._token(identity))
            or not security.same_origin(request)
        ):
            raise HTTPException(403, "not from this page")
        self._by_session.check(identity.key)
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            raise HTTPException(415, "JSON is needed")
        return identity, await read_json(request)


def index_page(experiment: Experiment) -> str:
    """The page, with the scripts and styles of drawn pages."""
    head = "".join(page.head for page in experiment.pages)
    page = resources.files(__package__).joinpath("static", "index.html").read_text("utf-8")
    return page.replace("<script", f"{head}<script", 1)


def static_files(experiment: Experiment) -> Mount:
    """The route of the scripts, styles and pictures."""
    packages = dict.fromkeys(("trivium.people", *(page.package for page in experiment.pages)))
    return Mount("/static", StaticFiles(packages=[(package, "static") for package in packages]))


async def read_json(request: Request) -> dict[str, Any]:
    """The JSON object in the body of a request."""
    try:
        value = orjson.loads(await request.body())
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

        return Route(path, limited, methods=[method], max_body_size=security.MAX_BODY)

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
