"""The server: pages, steps and events of participants; every answer is worked out here."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib import resources
from typing import Any, NamedTuple

import orjson
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from trivium.people import security
from trivium.people.admin import Admin
from trivium.people.pages import RefusedError, View
from trivium.people.screens import ending_screen, screen
from trivium.people.security import equal, json_response
from trivium.people.session import ENDED, Session
from trivium.people.study import StoppedError, Study, events_from, step_from

COOKIE = "trivium_session"
# What recruiting services put into the address; kept only as a keyed hash.
OUTSIDE = ("PROLIFIC_PID", "participant", "workerId", "SESSION_ID")
STATIC = resources.files(__package__).joinpath("static")
Endpoint = Callable[[Request], Awaitable[Response]]


class Who(NamedTuple):
    """What a cookie says: the participant, and in which browser that one takes part."""

    key: str
    browser: str


class People:
    """The endpoints for participants."""

    def __init__(self, study: Study) -> None:
        self.study = study
        rate = study.experiment.requests_per_second
        self._by_address = security.Rates(rate, 5 * rate)
        self._by_session = security.Rates(20, 100)
        self._page = STATIC.joinpath("index.html").read_bytes()

    async def page(self, request: Request) -> Response:
        """The page, which asks for everything else; a link's parameters leave the address."""
        given = next((name for key in OUTSIDE if (name := request.query_params.get(key))), None)
        who = self._who(request) or Who(secrets.token_hex(20), secrets.token_hex(10))
        if given is not None:
            key = self.study.outside_key(given)
            if key != who.key.partition("_")[0]:  # a browser keeps its place for the same link
                who = Who(key, secrets.token_hex(10))
        if request.query_params:
            response: Response = RedirectResponse("/", 303)
        else:
            response = Response(self._page, media_type="text/html; charset=utf-8")
        self._remember(response, request, who)
        return response

    async def state(self, request: Request) -> Response:
        """Where the participant is, and the token that later requests have to carry."""
        who = self._who(request)
        if who is None:
            return json_response({"error": "no session"}, 403)
        view = await run_in_threadpool(self._view, who)
        return json_response({"token": self._token(who), "view": view})

    async def step(self, request: Request) -> Response:
        """Take a step; the response is the next screen."""
        who, body = await self._read(request)
        return await run_in_threadpool(self._take_step, who, body)

    def _take_step(self, who: Who, body: dict[str, Any]) -> Response:
        if self.study.paused:
            return json_response({"view": self._view(who)}, 423)
        try:
            number, step = step_from(body)
            session, in_time = self.study.take_step(who.key, number, step, who.browser)
            self.study.add_events(who.key, events_from(body.get("events")), who.browser)
        except RefusedError as problem:
            return json_response({"error": str(problem), "view": self._view(who)}, 422)
        except StoppedError:
            return json_response({"view": self._view(who)}, 409)
        if session.stage in ("done", "failed"):  # there is a code to show
            return json_response({"view": self._view(who)}, 200 if in_time else 409)
        return json_response({"view": screen(session, None)}, 200 if in_time else 409)

    async def events(self, request: Request) -> Response:
        """Store events that wait for no step."""
        who, body = await self._read(request)
        found = events_from(body.get("events"))
        with suppress(StoppedError):
            await run_in_threadpool(self.study.add_events, who.key, found, who.browser)
        return Response(status_code=204)

    async def again(self, request: Request) -> Response:
        """Begin once more, where the experiment allows it."""
        who, _ = await self._read(request)
        following = await run_in_threadpool(self._next_attempt, who)
        if following is None:
            return json_response({"error": "no more attempts"}, 403)
        response = json_response({})
        self._remember(response, request, Who(following, who.browser))
        return response

    def _view(self, who: Who) -> View:
        """The screen of a participant."""
        try:
            participant = self.study.participant(who.key, who.browser)
        except StoppedError as problem:
            return self._stopped(who, str(problem))
        session = self.study.session(participant)
        if self.study.paused and session.stage not in ENDED:
            return ending_screen(session, "paused")
        view = screen(session, None if participant is None else participant.code)
        if session.stage == "done" and self._next_attempt(who) is None:
            del view["again"]
        return view

    def _stopped(self, who: Who, why: str) -> View:
        """The screen of somebody who cannot go on; only the one who began sees the code."""
        found = self.study.store.find("key", who.key) if why == "expired" else None
        session = Session(self.study.experiment)
        return ending_screen(session, why, None if found is None else found.code)

    def _next_attempt(self, who: Who) -> str | None:
        """The key of the participant's next attempt; None where this was the last one."""
        base, _, number = who.key.partition("_")
        attempt = int(number or 1)
        try:
            participant = self.study.participant(who.key, who.browser)
        except StoppedError:
            return None
        done = participant is not None and participant.stage == "done"
        return (
            f"{base}_{attempt + 1}" if done and attempt < self.study.experiment.attempts else None
        )

    def _who(self, request: Request) -> Who | None:
        """Whose cookie it is, as far as this server has signed it."""
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
        """The sender and the JSON body of a request that comes from our own page."""
        who = self._who(request)
        token = request.headers.get("x-token", "")
        if who is None or not equal(token, self._token(who)) or not security.same_origin(request):
            raise _AnswerError(403, "not from this page")
        if not self._by_session.allow(who.key):
            raise _AnswerError(429, "too many requests")
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            raise _AnswerError(415, "JSON is needed")
        body = await security.read_body(request)
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise _AnswerError(400, "not JSON") from None
        if not isinstance(value, dict):
            raise _AnswerError(400, "an object is needed")
        return who, value

    def guarded(self, endpoint: Endpoint) -> Endpoint:
        """An endpoint behind the limits of rate and size, whose refusals are short."""

        async def handle(request: Request) -> Response:
            address = request.client.host if request.client else ""
            try:
                if not self._by_address.allow(address):
                    raise _AnswerError(429, "too many requests")
                return await endpoint(request)
            except security.TooLargeError:
                return json_response({"error": "too large"}, 413)
            except _AnswerError as problem:
                return json_response({"error": problem.text}, problem.status)
            except ClientDisconnect:
                return Response(status_code=400)

        return handle


class _AnswerError(Exception):
    """A refusal with its status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


def make_app(study: Study, admin_token: str) -> Starlette:
    """The application of a study."""
    people, admin = People(study), Admin(study, admin_token)

    def route(path: str, endpoint: Endpoint, method: str) -> Route:
        return Route(path, people.guarded(endpoint), methods=[method])

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
            Mount("/static", StaticFiles(packages=[(__package__ or "", "static")])),
        ],
        middleware=[Middleware(security.SafeHeaders)],
    )
