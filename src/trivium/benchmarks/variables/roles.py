"""Which variables have which role in a sentence.

A role takes the variables before it that have none yet ("x_1 is varied"), else those after it;
right before a list ("vary x_1"), or with a sign between them (":", "=", "is"), it takes only those
after it. "Because" and the like end a list, "not" and "except" turn it round, "or" makes it no
value.
"""

from __future__ import annotations

import dataclasses
import re

from trivium.benchmarks.variables.words import NONE, ROLES, variables
from trivium.core import reading
from trivium.core.reading import Found


@dataclasses.dataclass
class Claim:
    """A field and what is said about it."""

    field: str  # "valid" or a role
    # variables, or what stands in their place
    names: list[str] = dataclasses.field(default_factory=list)
    valid: bool | None = None
    labelled: bool = False  # the name of the field and a sign stand before the value
    none: bool = False  # "none" was said
    either: bool = False  # "or" stands between names
    rest: bool = False  # all variables but those named
    denied: bool = False  # the names do not have this role
    doubted: bool = False
    adds: bool = False  # to whatever was named before: "x_1, too"
    row: bool = False  # adds to what was named since the last correction
    start: int = 0  # where the text after its label begins

    def says_something(self) -> bool:
        """Whether there is a value."""
        return bool(self.names or self.none or self.rest or self.valid is not None)


class RoleReader:
    """Reads the fields and roles of one sentence, word by word."""

    def __init__(self, text: str, words: list[Found], *, bracketed: bool) -> None:
        self._text, self._words, self._bracketed = text, words, bracketed
        self._kinds = [*(word.kind for word in words), *[""] * 6]
        self._found: list[Claim] = []
        self._latest: dict[str, Claim] = {}  # of each role
        self._claim: Claim | None = None  # the role that variables to come have
        self._waiting: list[str] = []  # variables that have no role yet
        self._spilled: Claim | None = None  # the role beside whose one variable they stand
        self._others = "others" in self._kinds
        self._either = self._denied = self._no = self._all = self._doubted = False

    def claims(self) -> list[Claim]:
        """The claims, in their order."""
        for place, word in enumerate(self._words):
            if word.kind in (*ROLES, "constant"):
                self._role(place, word)
            elif word.kind == "list":
                self._list(word)
            else:
                self._value(word)
                self._boundary(place, word)
        self._reset(len(self._text))
        return self._found

    def _value(self, word: Found) -> None:
        """Take in a word that is a value, or changes one."""
        claim = self._claim
        match word.kind:
            case "field":
                self._reset(word.start)
                self._found.append(Claim("valid", valid=word.text.endswith("true"), labelled=True))
            case "uncontrolled":
                self._found.append(Claim("control", none=True))
            case "no" | "nothing":
                self._no = claim is None or bool(claim.names) or not claim.labelled
                if claim and claim.field == "control" and not claim.names:
                    claim.none = True
                    self._claim = claim if self._bracketed else None
            case "all":
                self._all = self._others
                if claim and claim.field == "control" and not claim.names:
                    claim.rest = True
            case "or" if claim:
                claim.either = True
            case "or":
                self._either = bool(self._waiting)
            case "except" if not claim and self._found and self._found[-1].none:
                self._claim = self._found[-1]  # "no controls except x_1"
            case "not" | "except":
                self._denied = True

    def _boundary(self, place: int, word: Found) -> None:
        """Take in a word between clauses."""
        claim, after = self._claim, self._kinds[place + 1 : place + 3]
        match word.kind:
            case "doubt":
                self._doubted = True
            case "clause":
                self._doubted = False
            case "namely":
                self._waiting = []
            case "but":
                self._denied = claim is not None and claim.rest
            case "dash" if claim and claim.says_something():
                self._close(word.start)
            case "reason":
                self._close(word.start)
            case "break" if (
                claim and word.text == ";" and after in (["list", ""], ["list", "break"])
            ):
                return  # "x_1; x_2; x_3"
            case "break":
                self._reset(word.start)

    def _reset(self, end: int) -> None:
        """End a clause."""
        self._close(end)
        if self._spilled:  # two variables where one is asked for are no value
            self._spilled.names += self._waiting
        self._spilled, self._waiting = None, []
        self._either = self._denied = self._no = self._all = self._doubted = False

    def _close(self, end: int) -> None:
        """End the value of the role."""
        claim, self._claim = self._claim, None
        if claim and self._bracketed and 0 < claim.start <= end and not claim.says_something():
            said = self._text[claim.start : end]  # kept, so that it counts as a wrong name
            claim.names = [key for part in said.split(",") if (key := _key(part))]
            if not claim.names or reading.is_none(_key(said)):
                claim.names, claim.none = [], True

    def _list(self, word: Found) -> None:
        """Take in variables."""
        names, claim = variables(word.text), self._claim
        either = re.search(r"\bor\b", word.text, re.IGNORECASE) is not None
        if claim is None:
            self._waiting += names
            self._either = self._either or either
        elif claim.rest and self._denied:
            claim.names += names  # "all except x_1"
        elif self._denied:
            return  # "control x_1 but not x_2"
        elif claim.field == "control" or either:
            claim.names += names
            claim.rest = False
            claim.either = claim.either or either
        elif not claim.names:
            claim.names, self._waiting = names[:1], names[1:]
            self._spilled = claim if len(names) > 1 else None
        else:
            self._waiting += names

    def _role(self, place: int, word: Found) -> None:
        """Take in a role: it has the variables before it, or those to come."""
        role = "control" if word.kind == "constant" else word.kind
        start, has_value = self._label(place)
        claim = Claim(role, [] if has_value else self._waiting, either=self._either, start=start)
        claim.labelled = start > 0 and not claim.names
        claim.doubted, claim.row = self._doubted, word.text[-1].isdigit()
        no, denied = self._no and role == "control", self._denied
        self._denied = self._no = False
        if not claim.names and not no and not has_value:
            claim.rest = self._all and role == "control" and not denied
            named = role in self._latest and role != "control" and self._latest[role].names
            if not claim.labelled and (named or (word.kind == "constant" and not claim.rest)):
                return  # "vary x_1 (independent)", "hold x_3 constant"
        doubted = self._doubted
        if claim.names:
            self._spilled = None
        self._reset(word.start)
        self._doubted = doubted
        if no and not claim.names:
            self._found.append(Claim(role, none=True, doubted=doubted))
        claim.denied = denied or no
        self._found.append(claim)
        self._latest[role] = claim
        self._claim = claim if not claim.names and (has_value or not no) else None

    def _label(self, place: int) -> tuple[int, bool]:
        """Where the value of a role begins if it is a label, else 0; and if it follows at once."""
        if self._waiting and self._text[(at := self._words[place].start) - 1 : at] == "(":
            return 0, False  # "x_1 (independent)"
        sign = place + 1
        if self._kinds[sign] == "list":
            return 0, True
        while sign < place + 4 and self._kinds[sign] in (*ROLES, "constant", "word"):
            sign += 1
        if self._kinds[sign] not in ("sign", "be", "dash"):
            return 0, False
        has_value = self._kinds[sign + 1] in ("list", "all", *NONE)
        is_label = has_value or self._kinds[sign] == "sign"
        return self._words[sign].end if is_label else 0, has_value


def _key(value: str) -> str:
    """A value without decoration and without a full stop, in lower case."""
    around = " \t\r\n\"'`*<>()[]{},;"
    return value.strip(around).rstrip(".").strip(around).lower()
