"""Starts the server: of a study, of a preview, or with simulated participants."""

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
# of a study beside its experiment file, by the kind of its participants
FOLDER_SUFFIXES = {"person": ".study", "simulated": ".simulated", "pilot": ".pilot"}


@dataclass(frozen=True)
class ServeOptions:
    """How to serve an experiment: the address, and who takes part."""

    host: str = "127.0.0.1"  # the address to listen on; 0.0.0.0 is all of them
    port: int = 8000  # 0 is any free one
    # addresses or networks of proxies whose headers are trusted
    proxy: tuple[str, ...] = ()
    preview: bool = False  # show every screen of every condition; nothing is stored
    screens: Path | None = None  # save a picture of every screen in this folder
    pilot: bool = False  # a pilot: a study of its own, marked as such in all data
    # end after this number of simulated participants in a browser; a study of its own
    simulate: int = 0
    solver: str = "information_gain"  # what the simulated participants reply

    def __post_init__(self) -> None:
        require(0 <= self.port < 2**16, f"port must be in 0..65535, got {self.port}")
        require(0 <= self.simulate <= 10_000, f"simulate must be in 0..10000, got {self.simulate}")

    def serve(self, experiment: Path | None, study: Path | None) -> None:
        """Serve an experiment until it is interrupted.

        None serves the paper's experiment as a demo.
        """
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
            kind = "simulated" if self.simulate else "pilot" if self.pilot else "person"
            folder = study or experiment.with_suffix(FOLDER_SUFFIXES[kind])
            stack.enter_context(locked(folder, "--study"))
            self._serve(experiment, folder, kind)

    def _preview(self, path: Path) -> None:
        preview, server_module = (
            import_module(f"trivium.people.{name}") for name in ("preview", "server")
        )
        experiment = read_experiment(path)
        app = preview.make_preview(experiment)
        server = server_module.Server(app, self.host, 0 if self.screens else self.port)
        if self.screens is None:
            print(f"preview: {server.url}  any button goes to the next screen, ?screen=N to one")
            print("nothing is stored", flush=True)
            server.run()
            return
        import_extra("playwright", "simulate")
        with server.in_background():
            count = preview.save_screens(experiment, server.url, self.screens)
        print(f"{count} screens in three sizes in {self.screens}; index.html shows them all")

    def _serve(self, experiment: Path, folder: Path, kind: str) -> None:
        study = open_study(experiment, folder, kind)
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
            simulate = import_module("trivium.people.simulate").simulate
            ends = simulate(study, server.url, self.solver, self.simulate)
        full = f", {ends['full']} found no place left" if ends["full"] else ""
        print(
            f"{ends['done']} of {self.simulate} simulated participants have completed{full}; ",
            end="",
        )
        print(f"trivium serve export {folder}")
