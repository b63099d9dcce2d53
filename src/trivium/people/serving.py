"""Serving a study, a preview of one, or simulated participants."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module, resources
from pathlib import Path
from tempfile import TemporaryDirectory

from trivium.benchmarks import EXTENSIONS
from trivium.core.errors import import_extra, require
from trivium.core.files import locked
from trivium.people.experiment import read_experiment
from trivium.people.store import kept_secret
from trivium.people.study import open_study

ADMIN_TOKEN = "admin-token"
FOLDERS = {"person": ".study", "simulated": ".simulated", "pilot": ".pilot"}  # beside the file


@dataclass(frozen=True)
class Serving:
    """Where a study is served, and to whom."""

    host: str = "127.0.0.1"  # the address to listen on; 0.0.0.0 is all of them
    port: int = 8000  # 0 is any free one
    # addresses or networks of proxies whose headers are trusted
    proxy: tuple[str, ...] = ()
    preview: bool = False  # show every screen of every condition; nothing is stored
    screens: Path | None = None  # save a picture of every screen in this folder
    pilot: bool = False  # a pilot: a study of its own, marked as such in all data
    # number of simulated participants in a browser, after which it ends; a study of its own
    simulate: int = 0
    solver: str = "information_gain"  # what the simulated participants reply

    def __post_init__(self) -> None:
        require(0 <= self.port < 2**16, f"port must be in 0..65535, got {self.port}")
        require(0 <= self.simulate <= 10_000, f"simulate must be in 0..10000, got {self.simulate}")

    def serve(self, experiment: Path | None, study: Path | None) -> None:
        """Serve an experiment (None: the paper's, for a try) until it is interrupted."""
        for package in ("starlette", "uvicorn"):
            import_extra(package, "serve")
        with ExitStack() as stack:
            if experiment is None:
                require(study is None, "--study goes with an experiment file, not with --demo")
                experiment = Path(stack.enter_context(TemporaryDirectory())) / "demo.toml"
                demo = resources.files(f"{EXTENSIONS[0]}.people").joinpath("paper.toml")
                experiment.write_bytes(demo.read_bytes())
            if self.preview or self.screens:
                self._preview(experiment)
                return
            of = "simulated" if self.simulate else "pilot" if self.pilot else "person"
            folder = study or experiment.with_suffix(FOLDERS[of])
            stack.enter_context(locked(folder, "--study"))
            self._serve(experiment, folder, of)

    def _preview(self, experiment: Path) -> None:
        preview, server_module = (
            import_module(f"trivium.people.{name}") for name in ("preview", "server")
        )
        found = read_experiment(experiment)
        app = preview.make_preview(found)
        server = server_module.Server(app, self.host, 0 if self.screens else self.port)
        if self.screens is None:
            print(f"preview: {server.url}  every press shows the next screen, ?screen=N the Nth")
            print("nothing is stored", flush=True)
            server.run()
            return
        import_extra("playwright", "simulate")
        with server.in_background():
            count = preview.save_screens(found, server.url, self.screens)
        print(f"{count} screens in three sizes in {self.screens}; index.html shows them all")

    def _serve(self, experiment: Path, folder: Path, of: str) -> None:
        study = open_study(experiment, folder, of)
        token = kept_secret(folder / ADMIN_TOKEN, secrets.token_urlsafe(18).encode()).decode()
        app, server_module = (import_module(f"trivium.people.{name}") for name in ("app", "server"))
        server = server_module.Server(
            app.make_app(study, token), self.host, self.port, proxies=self.proxy
        )
        print(f"study in {folder}")
        print(f"participants: {server.url}")
        print(f"admin page:   {server.url}admin  token: {token}", flush=True)
        if not self.simulate:
            server.run()
            return
        import_extra("playwright", "simulate")
        with server.in_background():
            play = import_module("trivium.people.simulate").simulate
            ends = play(study, server.url, self.solver, self.simulate)
        full = f", {ends['full']} found no place left" if ends["full"] else ""
        print(
            f"{ends['done']} of {self.simulate} simulated participants have completed{full}; ",
            end="",
        )
        print(f"trivium serve export {folder}")
