"""The admin page behind a token: progress, pause and export."""

from __future__ import annotations

import tempfile
from pathlib import Path
from urllib.parse import parse_qs

from jinja2 import Environment, PackageLoader
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from trivium.people import security
from trivium.people.export import export_files, export_study
from trivium.people.security import equal
from trivium.people.study import Study

COOKIE = "trivium_admin"
PATH = "/admin"
TEMPLATES = Environment(loader=PackageLoader("trivium.people", "static"), autoescape=True)


class Admin:
    """The endpoints of the admin page."""

    def __init__(self, study: Study, token: str) -> None:
        self._study, self._token = study, token
        self._logins = security.Rates(0.2, 5)  # guesses of the token

    @property
    def _proof(self) -> str:
        """What the cookie of somebody who knew the token holds."""
        return self._study.store.keyed_hash("admin", self._token)

    def _known(self, request: Request) -> bool:
        return equal(request.cookies.get(COOKIE, ""), self._proof)

    async def page(self, request: Request) -> Response:
        """The login form, or how the study goes."""
        text = await run_in_threadpool(self._render, self._known(request))
        return Response(text, media_type="text/html; charset=utf-8")

    def _render(self, known: bool, wrong: bool = False) -> str:
        study = self._study
        return TEMPLATES.get_template("admin.html.j2").render(
            known=known,
            wrong=wrong,
            title=study.experiment.title,
            paused=study.paused,
            token=study.store.keyed_hash("form", self._token) if known else "",
            progress=study.progress() if known else [],
            total=len(study.store.participants()) if known else 0,
            answers=self._answers() if known else [],
            exports=export_files(study.experiment),
        )

    def _answers(self) -> list[tuple[str, dict[str, str]]]:
        """What the last participants said about themselves."""
        last = self._study.store.participants()[-20:]
        return [(self._study.person(one), self._study.session(one).answers) for one in last]

    async def login(self, request: Request) -> Response:
        """Check the token; a guess costs time."""
        address = request.client.host if request.client else ""
        if not security.same_origin(request):
            return Response("not allowed", 403, media_type="text/plain")
        if not self._logins.allow(address):
            return Response("too many attempts", 429, media_type="text/plain")
        if not equal((await _form(request)).get("token", ""), self._token):
            text = await run_in_threadpool(self._render, False, True)
            return Response(text, 401, media_type="text/html; charset=utf-8")
        response = RedirectResponse(PATH, 303)
        security.set_cookie(response, request, COOKIE, self._proof, PATH)
        return response

    async def pause(self, request: Request) -> Response:
        """Pause the study or go on."""
        form = await _form(request)
        expected = self._study.store.keyed_hash("form", self._token)
        valid = self._known(request) and equal(form.get("form", ""), expected)
        if not valid or not security.same_origin(request):
            return Response("not allowed", 403, media_type="text/plain")
        await run_in_threadpool(self._study.pause, form.get("paused") == "yes")
        return RedirectResponse(PATH, 303)

    async def export(self, request: Request) -> Response:
        """One file of the data."""
        name = request.path_params["name"]
        if not self._known(request):
            return Response("not allowed", 403, media_type="text/plain")
        if name not in export_files(self._study.experiment):
            return Response("no such file", 404, media_type="text/plain")
        content = await run_in_threadpool(self._exported, name)
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, headers=headers, media_type="application/octet-stream")

    def _exported(self, name: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            export_study(self._study, Path(folder))
            return (Path(folder) / name).read_bytes()


async def _form(request: Request) -> dict[str, str]:
    body = await security.read_body(request)
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=10)
    except ValueError:  # more fields than any form has
        return {}
    return {key: values[0] for key, values in fields.items()}
