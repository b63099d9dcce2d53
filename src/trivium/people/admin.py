"""The admin page, protected by a token: progress, pause and export."""

from __future__ import annotations

import tempfile
from pathlib import Path
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from trivium.core.text import clean
from trivium.people import security
from trivium.people.export import export_files, export_study
from trivium.people.security import equal
from trivium.people.study import KINDS, Study

COOKIE = "trivium_admin"
ADMIN_PAGE = "../admin"  # relative: a proxy may serve a sub-path
TEMPLATES = Environment(loader=PackageLoader("trivium.people"), autoescape=True)


class Admin:
    """The endpoints for the researcher."""

    def __init__(self, study: Study, token: str) -> None:
        self._study, self._token = study, token
        self._logins = security.Rates(0.2, 5)  # slow enough that the token cannot be guessed

    def _proof(self, kind: str) -> str:
        """What proves that a browser has sent the token: in its cookie ("admin") or in a "form"."""
        return self._study.store.keyed_hash(kind, self._token)

    def _logged_in(self, request: Request) -> bool:
        return equal(request.cookies.get(COOKIE, ""), self._proof("admin"))

    async def page(self, request: Request) -> Response:
        """The login form, or the progress of the study."""
        return HTMLResponse(await run_in_threadpool(self._render, self._logged_in(request)))

    def _render(self, logged_in: bool, wrong: bool = False) -> str:
        study, template = self._study, TEMPLATES.get_template("admin.html.j2")
        title = study.experiment.title
        if not logged_in:
            return template.render(title=title, wrong=wrong)
        people = study.store.participants()
        return template.render(
            known=True,
            title=title,
            paused=study.paused,
            token=self._proof("form"),
            progress=study.progress(),
            total=len(people),
            who=KINDS[study.kind],
            answers=[
                (
                    study.person(one),
                    {k: clean(str(v)) for k, v in study.session(one).answers.items()},
                )
                for one in people[-20:]
            ],
            exports=export_files(study.experiment),
        )

    async def login(self, request: Request) -> Response:
        """Check the token, at a limited rate."""
        _require(security.same_origin(request))
        self._logins.check(security.address_of(request))
        if not equal((await _form(request)).get("token", ""), self._token):
            return HTMLResponse(await run_in_threadpool(self._render, False, True), 401)
        response = RedirectResponse(ADMIN_PAGE, 303)
        security.set_cookie(response, request, COOKIE, self._proof("admin"), "strict")
        return response

    async def pause(self, request: Request) -> Response:
        """Pause or resume the study."""
        form = await _form(request)
        _require(self._logged_in(request) and equal(form.get("form", ""), self._proof("form")))
        _require(security.same_origin(request))
        await run_in_threadpool(self._study.set_paused, form.get("paused") == "yes")
        return RedirectResponse(ADMIN_PAGE, 303)

    async def export(self, request: Request) -> Response:
        """One file of the exported data."""
        name = request.path_params["name"]
        _require(self._logged_in(request))
        if name not in export_files(self._study.experiment):
            raise HTTPException(404, "no such file")
        content = await run_in_threadpool(self._export, name)
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, headers=headers, media_type="application/octet-stream")

    def _export(self, name: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            export_study(self._study, Path(folder))
            return (Path(folder) / name).read_bytes()


def _require(allowed: bool) -> None:
    if not allowed:
        raise HTTPException(403, "not allowed")


async def _form(request: Request) -> dict[str, str]:
    return dict(parse_qsl((await request.body()).decode("utf-8", "replace")))
