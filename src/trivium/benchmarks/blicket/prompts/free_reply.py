"""Reading replies to prompts that request no form, such as the paper's.

The reader knows sentences and rows as in the replies that the paper prints: "The blickets are the
brown torus and the teal prism.", "The brown torus is a blicket, and the pink frustum is maybe a
blicket.", "This machine behaves like the dotted machine.". Sentences about the evidence are
skipped. A reply with any other sentence, or with a contradiction, has no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trivium.benchmarks.blicket.names import MENTION, mentioned
from trivium.benchmarks.blicket.prompts.evidence import UNSURE, PromptAnswer
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.core.reading import own_part, plain, raises_doubt

# Objects are rewritten as <brown torus> first.
_OBJECT = r"(?:the |an? )?<[^<>]+>"
_OBJECTS = rf"(?:both )?{_OBJECT}(?:(?:,? and |, ){_OBJECT})*"
_BLICKET = r"(?:an? )?blickets?"
_LISTED = re.compile(
    rf"(?:the )?(?:only )?(?:blickets?|objects? that (?:is|are) {_BLICKET})"
    rf"(?::| is:?| are:?) {_OBJECTS}|{_OBJECTS} (?:is|are) the (?:only )?blickets?"
    rf"|only {_OBJECTS} (?:is|are) {_BLICKET}"
)
_MAYBE = r"(?:may|might|could)(?: or (?:may|might) not)? be"
_CLAUSE = (
    rf"{_OBJECTS} (?:(?:is|are) (?:(?:not |maybe )?(?:both |all )?{_BLICKET}|not)"
    rf"|(?:must be|{_MAYBE}) {_BLICKET}(?: or not)?)"
)
_CLAUSES = re.compile(
    rf"{_CLAUSE}(?:(?:,? (?:and|but|while|whereas)|[,;]) {_CLAUSE})*"
    r"(?:,? (?:since|because) [^<]*|: (?P<remark>[^<]*))?"
)
_KIND_LISTED = re.compile(
    rf"(must be|may be|not|maybe|possible)(?: an?)?(?: blickets?)?(?: or not)?: ?{_OBJECTS}"
)
_KINDS = {"must be": "yes", "not": "no"}  # maybe otherwise
_ROW = re.compile(rf"{_OBJECT} ?(?::|=|-|\||->) ?(?:not |maybe )?{_BLICKET}")
_NONE = re.compile(
    rf"(?:none of the (?:\w+ )?objects|no (?:\w+ )?objects?) (?:is|are) {_BLICKET}"
    r"|there are no blickets"
)
_LIKE = (
    r"(?:it|this one|(?:(?:this|the) )?(?:{new} )?(?:pattern(?:ed)? )?(?:blicket )?"
    r"(?:machine|detector)) (?:behaves|works|acts|is) like:? (?:the )?({known})(?: pattern(?:ed)?)?"
    r"(?: blicket)?(?: machine| detector| one)?(?:,? (?:since|because|as|which) .*)?"
)
_OPEN = re.compile(r"it (?:cannot|can't) be known which machine .*like")
_OPENING = re.compile(r"\A(?:(?:so|therefore|thus|output|answer|the answer is that)[,:]? )+")
_AROUND = " \"'()[].!"  # a sentence
_PHRASE = re.compile(r"[^<,:]{3,60}, (?=(?:the |an? |both )?<)")  # "from these tests, "
_EVIDENCE = re.compile(r"\b(?:light\w*|lit|dark|turn\w* on|activat\w*)\b")
_OPINION = re.compile(
    r"\bblickets?\b(?! (?:machine|detector))"
    r"|\b(?:may|might|could|can|cannot|must|maybe|likely|one|like|same|so)\b|n't tell|\?"
)
_STATUS = re.compile(rf"({_OBJECTS})[^<]*")
Claim = tuple[str, str]  # an object, and yes, no or maybe


def read_sentences(item: PromptItem, reply: str, limit: int | None) -> PromptAnswer | None:
    """The answer in the first `limit` sentences of a reply; None if there is none."""
    like = re.compile(_LIKE.format(new=item.new.pattern, known="|".join(item.known)))
    lists: list[set[Claim]] = []  # of all blickets
    others: list[set[Claim]] = []
    machines: set[str] = set()
    none = False
    for sentence in [*_sentences(item, reply)][:limit]:
        heading = sentence.endswith(":")
        if not _names(sentence) <= set(item.objects):
            return None
        if _LISTED.fullmatch(sentence):
            lists.append({(name, "yes") for name in _names(sentence)})
        elif listed := _KIND_LISTED.fullmatch(sentence):
            status = _KINDS.get(listed[1], "maybe")
            others.append({(name, status) for name in _names(sentence)})
        elif _ROW.fullmatch(sentence) or _states(sentence):
            others.append(set(_claims(sentence)))
        elif found := like.fullmatch(sentence):
            machines.add(found[1])
        elif _OPEN.fullmatch(sentence):
            machines.add(UNSURE)
        elif _NONE.fullmatch(sentence):
            none = True
        elif not (_EVIDENCE.search(sentence) or heading) or _OPINION.search(sentence):
            return None
    lists, others = _about_new_machine(item, lists, others)
    claims = set().union(*lists, *others)
    said = dict(claims)
    contradicts = len(said) < len(claims) or (none and "yes" in said.values())
    if contradicts or any(each != lists[0] for each in lists) or len(machines) > 1:
        return None
    if not said and not none:
        return None
    sure, maybe = (
        tuple(sorted(name for name, status in claims if status == word))
        for word in ("yes", "maybe")
    )
    return PromptAnswer(sure, maybe, next(iter(machines), None))


def _states(sentence: str) -> bool:
    """Whether a sentence says only what objects are, with no doubt in a remark after a colon."""
    found = _CLAUSES.fullmatch(sentence)
    return found is not None and not raises_doubt(found["remark"] or "")


def _about_new_machine(item: PromptItem, *kinds: list[set[Claim]]) -> list[list[set[Claim]]]:
    """The claims of sentences about the new machine, or all claims if there are none."""
    new = set(item.new.objects)
    about = [[claims for claims in kind if new & {name for name, _ in claims}] for kind in kinds]
    return about if any(about) else list(kinds)


def _sentences(item: PromptItem, reply: str) -> Iterator[str]:
    """The sentences and rows of a reply in lower case, without opening words such as "so"."""

    def marked(found: re.Match[str]) -> str:
        name = mentioned(found)
        return f"<{name}>" if " " in name or name in item.objects else found[0]

    text = plain(reply)
    text = MENTION.sub(marked, own_part(text, 1)).casefold()
    text = re.sub(r"\b(is|are)n't\b", r"\1 not", text)
    text = re.sub(r"(?<!not )\b(?:therefore|thus|also|definitely|certainly|clearly) ", "", text)
    # A list below its label, with an object on each line, is one sentence.
    text = re.sub(r"\b((?:blickets?|is|are):)[ \t]*\n\s*(?=(?:the )?<)", r"\1 ", text)
    text = re.sub(r"(?<=>),?[ \t]*\n[ \t]*(?=(?:the )?<[^<>\n]*>,?[ \t]*(?:\n|$))", ", ", text)
    for sentence in re.split(r"(?<=[.!?])[\"')]*\s|\n", text):
        words = _OPENING.sub("", sentence.strip(_AROUND)).strip(_AROUND)
        phrase = _PHRASE.match(words)
        if phrase and not (raises_doubt(phrase[0]) or "not" in phrase[0]):
            words = words[phrase.end() :]
        if words:
            yield words


def _names(text: str) -> set[str]:
    return set(re.findall(r"<([^<>]+)>", text))


def _claims(sentence: str) -> Iterator[Claim]:
    """The claim about each object of a sentence."""
    for clause in _STATUS.finditer(sentence):
        words = set(re.findall(r"\w+", clause[0]))
        maybe = words & {"maybe", "may", "might", "could"}
        status = "maybe" if maybe else "no" if "not" in words else "yes"
        yield from ((name, status) for name in _names(clause[1]))
