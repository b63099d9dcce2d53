"""Starts the server: of a study, of a preview, or with simulated participants."""

from __future__ import annotations

import secrets
import shlex
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from trivium.benchmarks import EXTENSIONS
from trivium.core.errors import import_extra, require, require_range
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
        require_range(self, 0, 65_535, "port")
        require_range(self, 0, 10_000, "simulate")

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
        from trivium.people.preview import make_preview, save_screens  # noqa: PLC0415
        from trivium.people.server import Server  # noqa: PLC0415

        experiment = read_experiment(path)
        server = Server(make_preview(experiment), self.host, 0 if self.screens else self.port)
        if self.screens is None:
            print(f"preview: {server.url}  any button goes to the next screen, ?screen=N to one")
            print("nothing is stored", flush=True)
            server.run()
            return
        import_extra("playwright", "simulate")
        with server.in_background():
            count = save_screens(experiment, server.url, self.screens)
        print(f"{count} screens in three sizes in {self.screens}; index.html shows them all")

    def _serve(self, experiment: Path, folder: Path, kind: str) -> None:
        from trivium.people.app import make_app  # noqa: PLC0415 - it needs an extra
        from trivium.people.server import Server  # noqa: PLC0415

        study = open_study(experiment, folder, kind)
        token = kept_secret(folder / ADMIN_TOKEN, secrets.token_urlsafe(18).encode()).decode()
        server = Server(make_app(study, token), self.host, self.port, proxies=self.proxy)
        print(f"study in {folder}")
        print(f"participants: {server.url}")
        print(f"admin page:   {server.url}admin  token: {token}", flush=True)
        if not self.simulate:
            server.run()
            return
        import_extra("playwright", "simulate")
        from trivium.people.simulate import simulate  # noqa: PLC0415 - it needs another

        with server.in_background():
            ends = simulate(study, server.url, self.solver, self.simulate)
        full = f", {ends['full']} found no place left" if ends["full"] else ""
        done = f"{ends['done']} of {self.simulate} simulated participants have completed{full}"
        print(f"{done}; trivium serve export {shlex.quote(str(folder))}")
