"""An experiment with people on a web page, on the same items and scored by the same code.
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
Example: trivium serve release experiment.study PARTICIPANT
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from trivium.commands.flags import REQUIRED, argument, read_flags
from trivium.core.errors import require
from trivium.core.files import write_file
from trivium.core.text import csv_text
from trivium.people.experiment import read_experiment
from trivium.people.export import export_episodes, export_payments, export_study
from trivium.people.launch import ServeOptions
from trivium.people.preregistration import preregistration
from trivium.people.study import reopen_study
from trivium.people.walkthrough import sentences


@dataclass(frozen=True)
class Flags:
    """What is served, and where."""

    experiment: Path | None = argument("EXPERIMENT.toml", None)  # the experiment file
    # the folder of the study (default: beside the experiment file; .simulated or .pilot for those)
    study: Path | None = None
    demo: bool = False  # serve the paper's experiment as a temporary study
    serving: ServeOptions = field(default_factory=ServeOptions)

    def run(self) -> None:
        """Serve the study."""
        named = self.experiment is not None
        require(self.demo != named, "name one experiment file, or give --demo")
        self.serving.serve(self.experiment, self.study)


@dataclass(frozen=True)
class OfStudy:
    """Which study."""

    study: Path = argument("STUDY")  # the folder of a study


@dataclass(frozen=True)
class Export(OfStudy):
    """Which study's data is written."""

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
class Delete(OfStudy):
    """Whose data is deleted."""

    code: str = argument("CODE")  # the participant's code, or the name in the link

    def run(self) -> None:
        """Delete everything of a participant."""
        reopen_study(self.study).delete(self.code)
        print(f"everything of {self.code} is deleted from {self.study}")


@dataclass(frozen=True)
class Release(OfStudy):
    """Who may change browsers."""

    participant: str = argument("PARTICIPANT")  # as in the link, such as PROLIFIC_PID

    def run(self) -> None:
        """Let a participant change browsers."""
        reopen_study(self.study).release(self.participant)
        print(f"{self.participant} can now open the link in another browser and resumes there")


@dataclass(frozen=True)
class Forget(OfStudy):
    """Which study's names in links are deleted."""

    def run(self) -> None:
        """Delete the names of all participants."""
        reopen_study(self.study).store.delete_contacts()
        print(f"all names in links are deleted from {self.study}; the answers stay")


@dataclass(frozen=True)
class Links(OfStudy):
    """For whom links are made."""

    url: str = REQUIRED  # the address of the study
    count: int = 1  # the number of participants
    prefix: str = "child-"  # the names are child-01, child-02, ...

    def run(self) -> None:
        """Print a signed link for each participant."""
        study = reopen_study(self.study)
        require(1 <= self.count <= 10_000, f"count must be in 1..10000, got {self.count}")
        for number in range(1, self.count + 1):
            name = f"{self.prefix}{number:0{len(str(self.count))}d}"
            query = urlencode({"participant": name, "signature": study.signature(name)})
            print(f"{self.url}?{query}")


@dataclass(frozen=True)
class Payments(OfStudy):
    """Which study's payments are listed."""

    out: Path = REQUIRED  # the CSV file

    def run(self) -> None:
        """Write who is to be paid, and how much."""
        paid = export_payments(reopen_study(self.study), self.out)
        print(f"{len(paid)} participants, {sum(paid):.2f} in all, in {self.out}")


@dataclass(frozen=True)
class Preregister:
    """Which experiment is described."""

    experiment: Path = argument("EXPERIMENT.toml")  # the experiment file
    out: Path = REQUIRED  # the Markdown file

    def run(self) -> None:
        """Write the preregistration."""
        write_file(self.out, preregistration(self.experiment))
        print(f"preregistration in {self.out}")


@dataclass(frozen=True)
class Sentences:
    """Which experiment's sentences are listed."""

    experiment: Path = argument("EXPERIMENT.toml")  # the experiment file
    out: Path = REQUIRED  # the CSV file

    def run(self) -> None:
        """Write the sentences that children hear, with the names of their recordings."""
        names = sentences(read_experiment(self.experiment))
        require(bool(names), "sentences are read aloud to audience 'children' only")
        write_file(self.out, csv_text([("file", "text"), *zip(names.values(), names, strict=True)]))
        print(f"{len(names)} sentences in {self.out}; record each under its name, for `audio`")


KINDS = (Export, Delete, Forget, Links, Payments, Preregister, Release, Sentences)
OTHERS: dict[str, type[Any]] = {kind.__name__.lower(): kind for kind in KINDS}


def main(args: Sequence[str]) -> int:
    """Serve a study, or do what one of the words of OTHERS says."""
    count = 1 if args and args[0] in OTHERS else 0
    kind = OTHERS[args[0]] if count else Flags
    command = " ".join(["trivium", "serve", *args[:count]])
    read_flags(command, kind(), args[count:], __doc__).flags.run()
    return 0
