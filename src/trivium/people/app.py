"""The server: pages, steps and events of participants; every answer is worked out here."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any

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
from trivium.people.rounds import RefusedError
from trivium.people.screens import View, paused_screen, screen
from trivium.people.security import equal, json_response
from trivium.people.session import ENDED
from trivium.people.study import Study, events_from, step_from

COOKIE = "trivium_session"
# What recruiting services put into the address; kept only as a keyed hash.
OUTSIDE = ("PROLIFIC_PID", "participant", "workerId", "SESSION_ID")
STATIC = resources.files(__package__).joinpath("static")
Endpoint = Callable[[Request], Awaitable[Response]]


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
        given = security.first_given(request.query_params, OUTSIDE)
        key = self._key(request)
        if given is not None:
            key = self.study.store.keyed_hash("outside", given)[:40]
        if given is not None or request.query_params:
            response: Response = RedirectResponse("/", 303)
        else:
            response = Response(self._page, media_type="text/html; charset=utf-8")
        self._remember(response, request, key or secrets.token_hex(20))
        return response

    async def state(self, request: Request) -> Response:
        """Where the participant is, and the token that later requests have to carry."""
        key = self._key(request)
        if key is None:
            return json_response({"error": "no session"}, 403)
        view = await run_in_threadpool(self._view, key)
        return json_response({"token": self._token(key), "view": view})

    async def step(self, request: Request) -> Response:
        """Take a step; the response is the next screen."""
        key, body = await self._read(request)
        return await run_in_threadpool(self._take_step, key, body)

    def _take_step(self, key: str, body: dict[str, Any]) -> Response:
        if self.study.paused:
            return json_response({"view": self._view(key)}, 423)
        try:
            number, step = step_from(body)
            session, in_time = self.study.take_step(key, number, step)
        except RefusedError as problem:
            return json_response({"error": str(problem), "view": self._view(key)}, 422)
        self.study.add_events(key, events_from(body.get("events")))
        if session.stage == "done":  # there is more to say at the end
            return json_response({"view": self._view(key)}, 200 if in_time else 409)
        return json_response({"view": screen(session, None)}, 200 if in_time else 409)

    async def events(self, request: Request) -> Response:
        """Store events that wait for no step."""
        key, body = await self._read(request)
        await run_in_threadpool(self.study.add_events, key, events_from(body.get("events")))
        return Response(status_code=204)

    async def again(self, request: Request) -> Response:
        """Begin once more, where the experiment allows it."""
        key, _ = await self._read(request)
        following = await run_in_threadpool(self._next_attempt, key)
        if following is None:
            return json_response({"error": "no more attempts"}, 403)
        response = json_response({})
        self._remember(response, request, following)
        return response

    def _view(self, key: str) -> View:
        """The screen of a participant."""
        participant = self.study.store.find("key", key)
        session = self.study.session(participant)
        if self.study.paused and session.stage not in ENDED:
            return paused_screen(session)
        view = screen(session, None if participant is None else participant.code)
        if session.stage == "done" and self._next_attempt(key) is None:
            del view["again"]
        return view

    def _next_attempt(self, key: str) -> str | None:
        """The key of the participant's next attempt; None where this was the last one."""
        base, _, number = key.partition("_")
        attempt = int(number or 1)
        participant = self.study.store.find("key", key)
        done = participant is not None and participant.stage == "done"
        return (
            f"{base}_{attempt + 1}" if done and attempt < self.study.experiment.attempts else None
        )

    def _key(self, request: Request) -> str | None:
        """The key in a cookie that this server has signed."""
        value, _, signature = request.cookies.get(COOKIE, "").rpartition(".")
        valid = value and equal(signature, self.study.store.keyed_hash("cookie", value))
        return value if valid else None

    def _token(self, key: str) -> str:
        return self.study.store.keyed_hash("request", key)

    def _remember(self, response: Response, request: Request, key: str) -> None:
        value = security.signed(key, self.study.store.keyed_hash("cookie", key))
        security.set_cookie(response, request, COOKIE, value, "/")

    async def _read(self, request: Request) -> tuple[str, dict[str, Any]]:
        """The key and the JSON body of a request that comes from our own page."""
        key = self._key(request)
        token = request.headers.get("x-token", "")
        if key is None or not equal(token, self._token(key)) or not security.same_origin(request):
            raise _AnswerError(403, "not from this page")
        if not self._by_session.allow(key):
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
        return key, value

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
