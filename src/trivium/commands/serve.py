"""trivium serve EXPERIMENT.toml"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from trivium.benchmarks import EXTENSIONS
from trivium.commands.flags import read_flags
from trivium.commands.parser import REQUIRED, argument
from trivium.core.errors import import_extra, require
from trivium.core.files import atomic_write, locked
from trivium.core.text import csv_text

ABOUT = """An experiment with people on a web page, on the same items and scored by the same code.
The study is kept in a folder beside the file, EXPERIMENT.study; the same command resumes it.
Example: trivium serve experiment.toml --port 8000
Example: trivium serve --demo
Example: trivium serve experiment.toml --preview
Example: trivium serve experiment.toml --screens pictures
Example: trivium serve experiment.toml --simulate 20 --solver information_gain
Example: trivium serve preregister experiment.toml --out preregistration.md
Example: trivium serve sentences experiment.toml --out sentences.csv
Example: trivium serve links experiment.study --url https://lab.example.org/ --count 20
Example: trivium serve payments experiment.study --out payments.csv
Example: trivium serve export experiment.study --out data
Example: trivium serve delete experiment.study CODE
Example: trivium serve forget experiment.study
Example: trivium serve release experiment.study PARTICIPANT"""
ADMIN_TOKEN = "admin-token"
FOLDERS = {"person": ".study", "simulated": ".simulated", "pilot": ".pilot"}  # beside the file
DEMO = resources.files(f"{EXTENSIONS[0]}.people").joinpath("paper.toml")


@dataclass(frozen=True)
class Flags:
    """What is served, and where."""

    experiment: Path | None = argument("EXPERIMENT.toml", None)  # the experiment file
    # the folder of the study (default: beside the experiment file; .simulated or .pilot for those)
    study: Path | None = None
    host: str = "127.0.0.1"  # the address to listen on; 0.0.0.0 is all of them
    port: int = 8000  # 0 is any free one
    demo: bool = False  # serve the paper's experiment as a temporary study
    # addresses or networks of proxies whose headers are trusted
    proxy: tuple[str, ...] = ()
    preview: bool = False  # show every screen of every condition; nothing is stored
    screens: Path | None = None  # save a picture of every screen in this folder
    pilot: bool = False  # a pilot: a study of its own, marked as such in all data
    # number of simulated participants in a browser, after which it ends; a study of its own
    simulate: int = 0
    solver: str = "information_gain"  # what the simulated participants reply


@dataclass(frozen=True)
class ExportFlags:
    """Which study's data is written."""

    study: Path = argument("STUDY")  # the folder of a study
    out: Path = REQUIRED  # the folder of the data
    minari: str | None = None  # also write games as a Minari dataset of this name


@dataclass(frozen=True)
class DeleteFlags:
    """Whose data is deleted."""

    study: Path = argument("STUDY")  # the folder of a study
    code: str = argument("CODE")  # the participant's code, or the name in the link


@dataclass(frozen=True)
class ReleaseFlags:
    """Who may change browsers."""

    study: Path = argument("STUDY")  # the folder of a study
    participant: str = argument("PARTICIPANT")  # as in the link, such as PROLIFIC_PID


@dataclass(frozen=True)
class StudyFlags:
    """Which study."""

    study: Path = argument("STUDY")  # the folder of a study


@dataclass(frozen=True)
class LinksFlags:
    """For whom links are made."""

    study: Path = argument("STUDY")  # the folder of a study
    url: str = REQUIRED  # the address of the study
    count: int = 1  # the number of participants
    prefix: str = "child-"  # the names are child-01, child-02, ...


@dataclass(frozen=True)
class PaymentsFlags:
    """Which study's payments are listed."""

    study: Path = argument("STUDY")  # the folder of a study
    out: Path = REQUIRED  # the CSV file


@dataclass(frozen=True)
class PreregisterFlags:
    """Which experiment is described, and where."""

    experiment: Path = argument("EXPERIMENT.toml")  # the experiment file
    out: Path = REQUIRED  # the file to write


def main(args: Sequence[str]) -> int:
    """Serve a study, or do what one of the words of OTHERS says."""
    if args and args[0] in OTHERS:
        kind, work = OTHERS[args[0]]
        return work(read_flags(f"serve {args[0]}", kind(), args[1:], ABOUT))
    flags = read_flags("serve", Flags(), args, ABOUT)
    for package in ("starlette", "uvicorn"):
        import_extra(package, "serve")
    require(
        flags.demo != (flags.experiment is not None), "name one experiment file, or give --demo"
    )
    require(0 <= flags.port < 2**16, f"port must be in 0..65535, got {flags.port}")
    require(0 <= flags.simulate <= 10_000, f"simulate must be in 0..10000, got {flags.simulate}")
    with ExitStack() as stack:
        experiment = flags.experiment
        if experiment is None:
            require(flags.study is None, "--study goes with an experiment file, not with --demo")
            experiment = Path(stack.enter_context(TemporaryDirectory())) / "demo.toml"
            experiment.write_bytes(DEMO.read_bytes())
        if flags.preview or flags.screens:
            return _preview(flags, experiment)
        of = "simulated" if flags.simulate else "pilot" if flags.pilot else "person"
        folder = flags.study or experiment.with_suffix(FOLDERS[of])
        stack.enter_context(locked(folder, "--study"))
        return _serve(flags, experiment, folder, of)


def _preview(flags: Flags, experiment: Path) -> int:
    from trivium.people.experiment import read_experiment  # noqa: PLC0415
    from trivium.people.preview import make_preview, save_screens  # noqa: PLC0415
    from trivium.people.server import Server  # noqa: PLC0415

    found = read_experiment(experiment)
    server = Server(make_preview(found), flags.host, 0 if flags.screens else flags.port)
    if flags.screens is None:
        print(f"preview: {server.url}  every press shows the next screen, ?screen=N the Nth")
        print("nothing is stored", flush=True)
        server.run()
        return 0
    import_extra("playwright", "simulate")
    with server.in_background():
        count = save_screens(found, server.url, flags.screens)
    print(f"{count} screens in three sizes in {flags.screens}; index.html shows them all")
    return 0


def _serve(flags: Flags, experiment: Path, folder: Path, of: str) -> int:
    from trivium.people.app import make_app  # noqa: PLC0415 - it needs an extra
    from trivium.people.server import Server  # noqa: PLC0415
    from trivium.people.store import kept_secret  # noqa: PLC0415
    from trivium.people.study import open_study  # noqa: PLC0415

    study = open_study(experiment, folder, of)
    token = kept_secret(folder / ADMIN_TOKEN, secrets.token_urlsafe(18).encode()).decode()
    server = Server(make_app(study, token), flags.host, flags.port, proxies=flags.proxy)
    print(f"study in {folder}")
    print(f"participants: {server.url}")
    print(f"admin page:   {server.url}admin  token: {token}", flush=True)
    if not flags.simulate:
        server.run()
        return 0
    import_extra("playwright", "simulate")
    from trivium.people.simulate import simulate  # noqa: PLC0415

    with server.in_background():
        ends = simulate(study, server.url, flags.solver, flags.simulate)
    print(f"{ends['done']} of {flags.simulate} simulated participants have completed", end="")
    print(f", {ends['full']} found no place left" if ends["full"] else "", end="; ")
    print(f"trivium serve export {folder}")
    return 0


def _export(flags: ExportFlags) -> int:
    from trivium.people.export import export_episodes, export_study  # noqa: PLC0415
    from trivium.people.study import reopen_study  # noqa: PLC0415

    study, out = reopen_study(flags.study), flags.out
    records = export_study(study, out)
    print(f"{records} records and the tables of dictionary.csv in {out}")
    if flags.minari is not None:
        for name, episodes in export_episodes(study, flags.minari, out).items():
            print(f"{episodes} episodes in {out / name}")
    return 0


def _delete(flags: DeleteFlags) -> int:
    from trivium.people.study import reopen_study  # noqa: PLC0415

    reopen_study(flags.study).delete(flags.code)
    print(f"everything of {flags.code} is deleted from {flags.study}")
    return 0


def _release(flags: ReleaseFlags) -> int:
    from trivium.people.study import reopen_study  # noqa: PLC0415

    reopen_study(flags.study).release(flags.participant)
    print(f"{flags.participant} can now open the link in another browser and resumes there")
    return 0


def _sentences(flags: PreregisterFlags) -> int:
    from trivium.people.experiment import read_experiment  # noqa: PLC0415
    from trivium.people.walk import all_views  # noqa: PLC0415

    views = all_views(read_experiment(flags.experiment))
    said = {one["text"]: one["file"] for view in views for one in view.get("speak", ())}
    require(bool(said), "sentences are read aloud to audience 'children' only")
    with atomic_write(flags.out) as file:
        file.write(csv_text([("file", "text"), *((name, text) for text, name in said.items())]))
    print(
        f"{len(said)} sentences in {flags.out}; record each under its name, in the folder of audio"
    )
    return 0


def _forget(flags: StudyFlags) -> int:
    from trivium.people.study import reopen_study  # noqa: PLC0415

    reopen_study(flags.study).store.delete_contacts()
    print(f"all names in links are deleted from {flags.study}; the answers stay")
    return 0


def _links(flags: LinksFlags) -> int:
    from trivium.people.study import reopen_study  # noqa: PLC0415

    study = reopen_study(flags.study)
    require(1 <= flags.count <= 10_000, f"count must be in 1..10000, got {flags.count}")
    for number in range(1, flags.count + 1):
        name = f"{flags.prefix}{number:0{len(str(flags.count))}d}"
        query = urlencode({"participant": name, "signature": study.signature(name)})
        print(f"{flags.url}?{query}")
    return 0


def _payments(flags: PaymentsFlags) -> int:
    from trivium.people.payments import COLUMNS, payments  # noqa: PLC0415
    from trivium.people.study import reopen_study  # noqa: PLC0415

    rows = payments(reopen_study(flags.study))
    with atomic_write(flags.out) as file:
        file.write(csv_text([COLUMNS, *([row.get(name) for name in COLUMNS] for row in rows)]))
    total = sum(row["pay"] + row["bonus"] for row in rows)
    print(f"{len(rows)} participants, {total:.2f} in all, in {flags.out}")
    return 0


def _preregister(flags: PreregisterFlags) -> int:
    from trivium.people.preregistration import preregistration  # noqa: PLC0415

    with atomic_write(flags.out) as file:
        file.write(preregistration(flags.experiment).encode())
    print(f"preregistration in {flags.out}")
    return 0


OTHERS: dict[str, tuple[type[Any], Callable[[Any], int]]] = {
    "export": (ExportFlags, _export),
    "delete": (DeleteFlags, _delete),
    "forget": (StudyFlags, _forget),
    "links": (LinksFlags, _links),
    "payments": (PaymentsFlags, _payments),
    "preregister": (PreregisterFlags, _preregister),
    "sentences": (PreregisterFlags, _sentences),
    "release": (ReleaseFlags, _release),
}
