"""An experiment with people on a web page, on the same items and scored by the same code.
The study is kept in a folder beside the file, EXPERIMENT.study; the same command resumes it.
Example: trivium serve experiment.toml --port 8000
Example: trivium serve --demo
Example: trivium serve experiment.toml --simulate 20 --solver information_gain
Example: trivium serve export experiment.study --out data
Example: trivium serve delete experiment.study CODE
Example: trivium serve release experiment.study PARTICIPANT
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.api import serve
from trivium.commands.flags import read_flags
from trivium.commands.parser import REQUIRED, argument, leaves
from trivium.core.errors import require
from trivium.people.export import export_episodes, export_study
from trivium.people.study import reopen_study


@dataclass(frozen=True)
class Flags:
    """What is served, and where."""

    experiment: Path | None = argument("EXPERIMENT.toml", None)  # the experiment file
    study: Path | None = None  # the folder of the study (default: beside the experiment file)
    host: str = "127.0.0.1"  # the address to listen on; 0.0.0.0 is all of them
    port: int = 8000  # 0 is any free one
    demo: bool = False  # serve the paper's experiment as a temporary study
    # addresses or networks of proxies whose headers are trusted
    proxy: tuple[str, ...] = ()
    simulate: int = 0  # number of simulated participants in a browser, after which it ends
    solver: str = "information_gain"  # what the simulated participants reply

    def run(self) -> None:
        """Serve the study."""
        named = self.experiment is not None
        require(self.demo != named, "name one experiment file, or give --demo")
        serve(**{name: value for name, value in leaves(self).items() if name != "demo"})


@dataclass(frozen=True)
class Export:
    """Which study's data is written."""

    study: Path = argument("STUDY")  # the folder of a study
    out: Path = REQUIRED  # the folder of the data
    minari: str | None = None  # also write games as a Minari dataset of this name

    def run(self) -> None:
        """Write the data."""
        study = reopen_study(self.study)
        records = export_study(study, self.out)
        print(f"{records} records and the tables of dictionary.csv in {self.out}")
        if self.minari is not None:
            for name, episodes in export_episodes(study, self.minari, self.out).items():
                print(f"{episodes} episodes in {self.out / name}")


@dataclass(frozen=True)
class Delete:
    """Whose data is deleted."""

    study: Path = argument("STUDY")  # the folder of a study
    code: str = argument("CODE")  # the participant's code, or the name in the link

    def run(self) -> None:
        """Delete everything of a participant."""
        reopen_study(self.study).delete(self.code)
        print(f"everything of {self.code} is deleted from {self.study}")


@dataclass(frozen=True)
class Release:
    """Who may change browsers."""

    study: Path = argument("STUDY")  # the folder of a study
    participant: str = argument("PARTICIPANT")  # as in the link, such as PROLIFIC_PID

    def run(self) -> None:
        """Let a participant change browsers."""
        reopen_study(self.study).release(self.participant)
        print(f"{self.participant} can now open the link in another browser and resumes there")


OTHERS: dict[str, type[Any]] = {"export": Export, "delete": Delete, "release": Release}


def main(args: Sequence[str]) -> int:
    """Serve a study, export its data, delete a participant or let one change browsers."""
    count = 1 if args and args[0] in OTHERS else 0
    kind = OTHERS[args[0]] if count else Flags
    read_flags(" ".join(["serve", *args[:count]]), kind(), args[count:], __doc__).run()
    return 0
