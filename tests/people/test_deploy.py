"""The files in deploy/: behind a real nginx, at a sub-path and with TLS; skipped without nginx."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import time
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")
import httpx

from tests.people.client import GAME, Client, make_study
from trivium.people.app import make_app
from trivium.people.server import Server
from trivium.people.store import Contact
from trivium.people.study import Study

DEPLOY = Path(__file__).parents[2] / "deploy"
NGINX = os.environ.get("NGINX") or shutil.which("nginx")
FRAME = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{server}
}}
"""


@pytest.fixture
def behind_nginx(tmp_path: Path) -> Iterator[tuple[Study, str, str, Server]]:
    """A study, its address behind nginx, and the same without TLS."""
    if NGINX is None or shutil.which("openssl") is None:
        pytest.skip("NO NGINX OR OPENSSL: the proxy is not tested")
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run([*words, *files], check=True, capture_output=True)
    study = make_study(tmp_path, f"title = 'x'\npractice = false\ncheck = false\n{GAME}")
    server = Server(make_app(study, "token"), proxies=("127.0.0.1",))
    with socket.socket() as one, socket.socket() as other:
        for free in (one, other):
            free.bind(("127.0.0.1", 0))
        plain, port = one.getsockname()[1], other.getsockname()[1]
    text = (DEPLOY / "nginx.conf").read_text()
    base = "/etc/letsencrypt/live/study.example.org"
    for old, new in {
        "listen 80": f"listen 127.0.0.1:{plain}",
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        f"{base}/fullchain.pem": str(tmp_path / "cert.pem"),
        f"{base}/privkey.pem": str(tmp_path / "key.pem"),
        "http://127.0.0.1:8000/": server.url,
        "/var/log/nginx/error.log": str(tmp_path / "error.log"),
    }.items():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "nginx.conf").write_text(FRAME.format(folder=tmp_path, server=text))
    with server.in_background():
        process = subprocess.Popen([NGINX, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")])
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        url = f"https://127.0.0.1:{port}/machines/"
        yield study, url, f"http://127.0.0.1:{plain}/machines/", server
        process.terminate()
        process.wait(10)


def test_an_experiment_behind_nginx_at_a_sub_path(
    behind_nginx: tuple[Study, str, str, Server], tmp_path: Path
) -> None:
    study, url, plain, server = behind_nginx
    moved = httpx.get(f"{plain}?PROLIFIC_PID=p1").headers["location"]
    assert moved == "https://127.0.0.1/machines/?PROLIFIC_PID=p1"
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with httpx.Client(base_url=url, verify=trusting, follow_redirects=True) as http:
        page = http.get("?PROLIFIC_PID=p1")
        assert str(page.url) == url  # the redirect stays in the sub-path
        assert "secure" in page.history[0].headers["set-cookie"].lower()
        assert http.get("static/app.js").status_code == 200
        client = Client.__new__(Client)
        client.http = _Relative(http)
        client.load()
        client.post("consent", True)
        assert client.view["screen"] == "instructions"
        login = http.post("admin/login", data={"token": "token"})
        assert str(login.url) == f"{url}admin"
        assert "Pause the study" in login.text
    assert study.store.contacts() == {1: Contact("p1")}
    server._server.should_exit = True
    down = httpx.get(f"{url}?PROLIFIC_PID=late-name", verify=trusting)
    for _ in range(100):
        if down.status_code == 502:
            break
        time.sleep(0.05)
        down = httpx.get(f"{url}?PROLIFIC_PID=late-name", verify=trusting)
    assert down.status_code == 502
    assert all(b"late-name" not in one.read_bytes() for one in tmp_path.glob("*.log"))


def test_caddy_passes_requests_on_and_logs_no_names(tmp_path: Path) -> None:
    if shutil.which("caddy") is None:
        pytest.skip("NO CADDY: its file is not tested")
    server = Server(make_app(make_study(tmp_path, f"title = 'x'\n{GAME}"), "token"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        site = f"http://127.0.0.1:{free.getsockname()[1]}"
    text = (DEPLOY / "Caddyfile").read_text()
    text = text.replace("trivium:8000", server.url[7:-1]).replace("log {", "admin off\n\tlog {", 1)
    (tmp_path / "Caddyfile").write_text(text)
    environment = {"SITE": site, "HOME": str(tmp_path)}
    words = ["caddy", "run", "--adapter", "caddyfile", "--config", str(tmp_path / "Caddyfile")]
    with (tmp_path / "log").open("wb") as log, server.in_background():
        path = os.environ["PATH"]
        process = subprocess.Popen(words, stderr=log, env=environment | {"PATH": path})
        for _ in range(100):
            with suppress(httpx.TransportError):
                up = httpx.get(f"{site}/?PROLIFIC_PID=a-name").status_code
                break
            time.sleep(0.1)
    down = httpx.get(f"{site}/?PROLIFIC_PID=a-name").status_code
    process.terminate()
    process.wait(10)
    assert (up, down) == (303, 502)
    assert b"a-name" not in (tmp_path / "log").read_bytes()


class _Relative:
    """A client whose absolute paths are relative to its base."""

    def __init__(self, http: object) -> None:
        self.get = lambda path, **options: http.get(path.lstrip("/"), **options)  # type: ignore[attr-defined]
        self.post = lambda path, **options: http.post(path.lstrip("/"), **options)  # type: ignore[attr-defined]


def _docker(*words: str) -> str:
    """What docker prints."""
    return subprocess.run(
        ["docker", *words], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.mark.slow
def test_the_container_serves_an_experiment(tmp_path: Path) -> None:
    try:
        _docker("info")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("NO DOCKER: the container is neither built nor run")
    tmp_path.chmod(0o777)  # for the user of the container
    (tmp_path / "experiment.toml").write_text(f"title = 'x'\n{GAME}")
    image = _docker("build", "--quiet", "-f", str(DEPLOY / "Dockerfile"), str(DEPLOY.parent))
    options = ("--detach", "--publish", "127.0.0.1::8000", "--volume", f"{tmp_path}:/data")
    name = _docker("run", *options, image, "experiment.toml", "--host", "0.0.0.0")
    try:
        url, status = f"http://{_docker('port', name, '8000')}/", 0
        for _ in range(100):
            with suppress(httpx.TransportError):
                status = httpx.get(url).status_code
                break
            time.sleep(0.2)
        assert status == 200
        assert (tmp_path / "experiment.study").is_dir()
    finally:
        _docker("rm", "--force", name)


def test_the_container_installs_an_extra_that_exists_and_its_files_are_there() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    extras = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())["project"]
    assert '"/source[serve]"' in text
    assert "serve" in extras["optional-dependencies"]
    assert "deploy/Dockerfile" in (DEPLOY / "compose.yaml").read_text()
    assert "trivium:8000" in (DEPLOY / "Caddyfile").read_text()
