"""The text of a reply as sentences of words, each of one of the kinds in words.txt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trivium.core import reading
from trivium.core.files import packaged_pairs
from trivium.core.reading import Found

VARIABLE = r"(?<![A-Za-z0-9])x[\s_-]{0,2}[0-9]{1,9}(?![A-Za-z0-9_])"
_BETWEEN = (
    r"[\"'\])}>]{0,3}\s?(?:[,/&+|>-]\s?)?(?:(?:and|or|plus|then|as well as)\s)?"
    r"(?:(?:also|maybe|possibly|perhaps|the|either|both|finally)\s)?[\"'\[({<]{0,3}"
)
LIST = rf"{VARIABLE}(?:{_BETWEEN}{VARIABLE}){{0,40}}"
ROLES = ("independent", "dependent", "control")
_SHORT = {
    "~": "(?:e|s|es|d|ed|ing)?",
    "{variable}": r"(?:[\s_-]?var(?:iable)?s?)?(?: ?#?\d{1,2})?",
    "{list}": f"(?:both |either )?{LIST}",
    "{alone}": r"(?! (?:together|in\b|with|along|jointly))",
    "{we}": "(?:to|what|(?:what )?(?:we|you|i|one)(?: should| will| would)?)",
    "{not}": r"(?:not|\w{2,6}n't)",
}
_SIGNS = {  # what is no word
    "field": r"\x02(?:true|false)",  # a verdict with a label, as `sentences` writes it
    "no": r"\[\s?\]|\{\s?\}|(?<=[:=|] )[-0]{1,3}(?=\s{0,3}(?:[;|,\]]|$))",
    "sign": r":{1,2}|=|->|\||\?",
    "dash": r"\s-\s",
    "break": r";|\s(?://|#)\s",
    "clause": ",",
}


def _lexer() -> reading.Lexer:
    """The lexer for the words of words.txt, and for signs."""
    patterns: dict[str, str] = {}
    for kind, words in packaged_pairs(__package__, "words.txt"):
        for short, meaning in _SHORT.items():
            words = words.replace(short, meaning)  # noqa: PLW2901
        patterns[kind] = rf"(?<!\w)(?:{words})(?!\w)"
    both = {kind: f"{patterns[kind]}|{_SIGNS[kind]}" for kind in patterns.keys() & _SIGNS.keys()}
    return reading.Lexer(_SIGNS | patterns | both)


LEXER = _lexer()
NONE = ("no", "nothing")
_TELLING = {*ROLES, *NONE, "constant", "good", "bad", "field"}
_TRUE = r"true|yes|valid|y|t|1(?![.)])|plausible|supported|correct|\u2713|worth testing"
_FALSE = r"false|no|invalid|n|f|0|implausible|rejected|refuted|unsupported|incorrect|\u2717"
_VALIDITY = (
    r"valid[\s_-]?hyp(?:othesis)?|(?:is[\s_-]?)?(?:the )?(?:target )?hypothesis[\s_-]{0,2}"
    r"(?:is[\s_-]?)?(?:valid(?:ity)?|status|plausible|worth testing)|hyp[\s_-]?valid(?:ity)?"
    r"|(?:is[\s_-]?)?(?:it )?valid(?:ity)?|answer|verdict|hypothesis(?=[\"']?\s?(?:[:=|]|->))"
)
_VALIDITY_NAME = re.compile(_VALIDITY, re.IGNORECASE)
_FIELD = re.compile(  # "Valid hypothesis: no"
    rf"(?<![A-Za-z0-9_-])(?<!\bnot )(?<!\bnon-)[\"']?(?:{_VALIDITY})[\"']?"
    r"(?:\s?\([^()\n]{0,40}\))?\)?[ \t]{0,5}"
    r"(?:[:=|]{1,2}|\?\s{0,3}\|?|->|-(?=\s)|(?:is|(?:should|must|will) be)\b:?|(?<=_hyp ))"
    rf"[\s\"'`<>()\[\]{{}},]{{0,5}}(?P<not>not\b.{{0,20}}?)?"
    rf"(?:(?P<true>{_TRUE})|(?:{_FALSE}))(?!\w)"
    rf"(?!\s{{0,3}}[:=]|\s{{0,3}}(?:/|\||or\b)\s{{0,3}}(?:not|{_TRUE}|{_FALSE})\b)",
    re.IGNORECASE,
)
_EITHER = re.compile(r"\x02\w{4,5}\W{1,9}or\W{1,9}\x02\w{4,5}", re.IGNORECASE)
_REMARK = re.compile(r"\(([^()]{0,300})\)")
_LISTED = re.compile(  # before a list in parentheses
    r"(?:\b(?:variables|members|ones|others|two|three|four|rest|factors)\s|[:=]\s?)$", re.IGNORECASE
)
_NUMBER = re.compile(  # of a line, or before a variable
    rf"^[ \t]{{0,9}}(?:(?:\d{{1,2}}|[a-h])[.)]|[qa]:)\s|(?<=\s)\d{{1,2}}[.)]\s(?={VARIABLE})",
    re.MULTILINE | re.IGNORECASE,
)
_CORRECTION = re.compile(rf"(?={reading.CORRECTION_WORDS})", re.IGNORECASE)
_IN_ORDER = re.compile(  # bare values
    rf"(?:^\W{{0,5}}|\b(?=\w{{3,5}}[\"']?\s?[;|]))(true|yes|valid)[\"']?\s?[;|,]\s?({VARIABLE})\s?[;|,]"
    rf"\s?({VARIABLE})\s?[;|,]",
    re.IGNORECASE | re.MULTILINE,
)
_VALUE = re.compile(r"([\"']?,\s{0,3})?[\"'](?:value|name)[\"']\s?:", re.IGNORECASE)
_VARIABLE = re.compile(VARIABLE, re.IGNORECASE)

Sentence = tuple[str, list[Found]]  # its text and its words


def fields_as_lines(text: str) -> str:
    """A plain text with the fields of JSON, tables, CSV and bare values as "name: value"."""
    text = reading.chosen_option(text)
    if '":' in text or "':" in text:
        text = reading.json_as_lines(_VALUE.sub(lambda key: ": " if key[1] else " ", text))
    text = reading.tables_as_lines(_csv_as_table(text), _is_field)
    text = _IN_ORDER.sub(r"valid_hyp: \1; independent: \2; dependent: \3; control: ", text)
    text = re.sub(r"_(?=var)", " ", re.sub(r"\s\.{3,80}\s", ": ", text))
    return re.sub(r"\bi\.e\.,?", "namely", text)


def _csv_as_table(text: str) -> str:
    """The text with rows of cells below a row of field names written as a table."""
    lines: list[str] = []
    columns, mark, header = 0, ",", -2  # of the table that we are in
    for line in text.split("\n"):
        for each in ",;\t|":
            if line.count(each) > 1 and all(_is_field(cell.strip()) for cell in line.split(each)):
                columns, mark, header = line.count(each) + 1, each, len(lines)
        if not line.strip() and header == len(lines) - 1:
            continue  # a rule below the names
        columns = columns if line.count(mark) >= columns - 1 else 0
        lines.append(f"| {' | '.join(line.split(mark, columns - 1))} |" if columns else line)
    return "\n".join(lines)


def _is_field(cell: str) -> bool:
    """Whether a cell of a table is the name of a field."""
    kinds = {word.kind for word in LEXER.found(cell)}
    return len(kinds) == len(kinds & set(ROLES)) == 1 or bool(_VALIDITY_NAME.fullmatch(cell))


def sentences(text: str) -> Iterator[list[Sentence]]:
    """Yields the sentences and lines of a text, those between two corrections together."""
    text = _EITHER.sub(" ", _FIELD.sub(_field, _NUMBER.sub("- ", text)))
    for part in _CORRECTION.split(_REMARK.sub(_remark, text)):
        found = ((sentence, list(LEXER.found(sentence))) for sentence in reading.sentences(part))
        yield [(sentence, words) for sentence, words in found if words]


def variables(text: str) -> list[str]:
    """The variables of a text, each in its one spelling."""
    return ["x_" + re.sub(r"\D", "", word) for word in _VARIABLE.findall(text)]


def _field(found: re.Match[str]) -> str:
    """A verdict with a label as one word."""
    true = (found["true"] is not None) != (found["not"] is not None)
    return f" \x02{str(true).lower()} "


def _remark(remark: re.Match[str]) -> str:
    """A remark in parentheses as far as it is read."""
    kinds = [word.kind for word in LEXER.found(remark[1])]
    if "list" not in kinds and "compared" not in kinds:
        return remark[0] if {*kinds[:1], *kinds[-1:]} & _TELLING else " "
    before = remark.string[max(0, remark.start() - 20) : remark.start()]
    if kinds == ["list"] and _LISTED.search(before):
        return f" {remark[1]} "  # "the other variables (x_1 and x_2) are kept constant"
    return f"; {remark[1]} ;" if {*ROLES, "field"} & set(kinds) else " "
