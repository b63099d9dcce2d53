"""The parameters of n-hop items, and how they are presented."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import ClassVar, Literal, NamedTuple

from trivium.benchmarks.nhop.item import Candidates, NhopItem, layer_letters
from trivium.benchmarks.nhop.render import render
from trivium.core.benchmark import Diagnostic
from trivium.core.errors import require, require_range
from trivium.core.text import approximate_tokens

MAX_HOPS = 200
MAX_CHAINS = 1000
CONTEXT_CHAINS = 6


@dataclass(frozen=True)
class ImplicitSpec:
    """A bag of facts: the first n-1 hops of m chains, shuffled."""

    hops: int = 5  # n: functions are f1..fn, the question asks for n-1 of them
    m: int = 8  # chains in the bag, the target's included
    M: int = 512  # tokens in each layer
    id_width: int = 4  # digits of a token's number
    ablate_inner: bool = False  # leave out every line of one relation: nothing can be derived
    ablate_hop: int | None = None  # which relation is left out, 2..n-2 (default: the middle one)
    # mixed: one chain ends early, in half of the items the target's: then the right answer is
    # "unknown"
    answerable: Literal["always", "mixed"] = "always"

    # The switches of ExplicitSpec that change how items are drawn, off for a bag.
    alias_heads_per_block: ClassVar[bool] = False
    alias_prefix: ClassVar[str] = ""
    chain_only_ordered: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_tokens(self)
        require_range(self, 4, MAX_CHAINS, "m")
        require(self.m <= self.M, f"M must be at least m={self.m}, got {self.M}")
        if self.answerable == "mixed":
            require(not self.ablate_inner, "answerable mixed does not go with ablate_inner")
        if self.ablate_hop is not None:
            require(self.ablate_inner, "ablate_hop needs ablate_inner")
        if self.ablate_inner:
            require(self.hops >= 4, f"ablate_inner needs hops of at least 4, got {self.hops}")
            allowed = 2 <= self.ablated <= self.hops - 2
            require(allowed, f"ablate_hop must be in 2..{self.hops - 2}, got {self.ablate_hop}")

    @property
    def alternatives(self) -> int:
        """The number of possible answers."""
        return self.m

    @property
    def ablated(self) -> int:
        """The relation that is left out, or 0."""
        if not self.ablate_inner:
            return 0
        return self.hops // 2 if self.ablate_hop is None else self.ablate_hop

    @property
    def relations(self) -> tuple[int, ...]:
        """The functions that have printed lines."""
        return tuple(hop for hop in range(1, self.hops) if hop != self.ablated)


@dataclass(frozen=True)
class ExplicitSpec:
    """Candidate ladders: blocks of k candidates for each of the last L functions."""

    hops: int = 4  # n: functions are f1..fn, the question asks for all of them
    L: int = 3  # functions with a block of candidates: f_{n-L+1} .. f_n
    k: int = 6  # candidates in each block
    k0: int | None = None  # candidates for f_{n-2}, where different
    k1: int | None = None  # candidates for f_{n-1}, where different
    k2: int | None = None  # candidates for f_n and for blocks before f_{n-2}, where different
    context_chains: int = CONTEXT_CHAINS  # distractor chains mixed into the facts
    budget_lines: int | None = None  # lines of the prompt; determines the context chains
    budget_tokens: int | None = None  # the same in tokens, approximately
    # where the facts end: at f_{n-2}, as in the original, so that earlier blocks only repeat
    # them; or where the ladder of blocks begins, so that every block is needed
    facts_until: Literal["n-2", "ladder"] = "n-2"
    M: int = 512  # tokens in each layer
    id_width: int = 4  # digits of a token's number
    path_collision_stress: bool = False  # every wrong candidate starts a coherent wrong path
    block_head_balance: bool = False  # all heads of a block are printed equally often above it
    alias_heads_per_block: bool = False  # heads in a block are printed as aliases of that block
    alias_prefix: str = "H"  # an alias is this and a number
    chain_only_ordered: bool = False  # only the target's facts, in order: a sanity check
    # mixed: one candidate's chain ends early, in half of the items the target's: then the right
    # answer is "unknown"
    answerable: Literal["always", "mixed"] = "always"

    def __post_init__(self) -> None:
        _check_tokens(self)
        require_range(self, 1, self.hops, "L")
        require_range(self, 2, MAX_CHAINS, "k", "k0", "k1", "k2")
        require_range(self, 0, MAX_CHAINS, "context_chains")
        require(
            self.alias_prefix.isascii() and self.alias_prefix.isalpha(),
            f"alias_prefix must be letters A-Z, got {self.alias_prefix!r}",
        )
        self._check_budget()
        self._check_controls()
        require(
            self.tokens_needed <= self.M,
            f"M must be at least {self.tokens_needed} for these chains and blocks, got {self.M}",
        )

    def _check_budget(self) -> None:
        require(
            self.facts_until == "n-2" or self.hops > self.L,
            f"facts_until ladder needs L below hops={self.hops}, got {self.L}",
        )
        require(
            self.budget_lines is None or self.budget_tokens is None,
            "give budget_lines or budget_tokens, not both",
        )
        require(
            self._budget is None
            or (self.context_chains == CONTEXT_CHAINS and not self.chain_only_ordered),
            f"{self._budget} picks the context chains itself: give neither context_chains "
            "nor chain_only_ordered with it",
        )

    def _check_controls(self) -> None:
        for control in ("path_collision_stress", "block_head_balance"):
            require(
                not getattr(self, control) or len(set(self.block_sizes)) == 1,
                f"{control} needs blocks of one size, got {self.block_sizes}",
            )
        whole = self.path_collision_stress and self.block_head_balance
        require(
            self.answerable == "always" or (whole and not self.chain_only_ordered),
            "answerable mixed needs path_collision_stress and block_head_balance, so that all "
            "candidates have a chain that may end early, and no chain_only_ordered",
        )
        require(
            self.contexts >= self.min_contexts or self.chain_only_ordered,
            f"block_head_balance needs context_chains of at least {self.min_contexts} "
            f"(one for each wrong candidate), got {self.contexts}",
        )

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """The functions that have candidate blocks."""
        return tuple(range(self.hops - self.L + 1, self.hops + 1))

    @cached_property
    def block_sizes(self) -> tuple[int, ...]:
        """The number of candidates in each block."""
        by_block = {self.hops - 2: self.k0, self.hops - 1: self.k1}
        return tuple(by_block.get(block, self.k2) or self.k for block in self.blocks)

    @property
    def alternatives(self) -> int:
        """The number of possible answers."""
        return self.block_sizes[-1]

    @cached_property
    def fact_hops(self) -> int:
        """The last hop of the facts, from which the blocks lead on."""
        ladder = self.hops - self.L
        return ladder if self.facts_until == "ladder" else max(self.hops - 2, ladder)

    @property
    def _budget(self) -> str | None:
        """The field of the given budget."""
        names = ("budget_lines", "budget_tokens")
        return next((name for name in names if getattr(self, name) is not None), None)

    @cached_property
    def filling(self) -> Filling:
        """The context chains that are printed."""
        if self.chain_only_ordered:
            return Filling(0, 0)
        if self._budget is None:
            return Filling(self.context_chains, 0)
        return fill(self, self._budget)

    @property
    def contexts(self) -> int:
        """The number of whole context chains."""
        return self.filling.chains

    @property
    def min_contexts(self) -> int:
        """The number of context chains that the head balance takes wrong candidates from."""
        return max(self.block_sizes) - 1 if self.block_head_balance else 0

    @property
    def decoys(self) -> int:
        """The number of extra facts of f_{n-1}, which print the last block's wrong heads.

        The head balance needs them unless path collision prints these heads in the block above.
        """
        needs = self.block_head_balance and not self.path_collision_stress and self.L >= 2
        return self.block_sizes[-1] - 1 if needs else 0

    @property
    def tokens_needed(self) -> int:
        """The number of tokens that a layer needs for every possible draw."""
        # Every chain needs one, the decoys of the head balance included. A layer between two blocks
        # also holds the wrong tails of the one and the wrong heads of the next, unless path
        # collision makes them the same, or head balance takes them from the context chains.
        # `generate.layout` counts the tokens.
        wrong = max(self.block_sizes) - 1
        chains = 1 + max(self.contexts, self.min_contexts) + (self.filling.rest > 0)
        if self.block_head_balance:
            return chains + self.decoys
        return chains + (wrong if self.path_collision_stress else 2 * wrong)


Spec = ImplicitSpec | ExplicitSpec


def _check_tokens(spec: Spec) -> None:
    require_range(spec, 3, MAX_HOPS, "hops")
    require_range(spec, 1, 9, "id_width")
    fits = 1 <= spec.M <= 10**spec.id_width
    limit = f"1..{10**spec.id_width} to fit id_width {spec.id_width}"
    require(fits, f"M must be in {limit}, got {spec.M}")


@dataclass(frozen=True)
class NhopView:
    """How an n-hop item is presented and answered."""

    # direct: one token; steps: a slot for every hop; free: think, then a last line
    mode: Literal["direct", "steps", "free"] = "direct"
    # symbols: A_0047 ->f1-> B_0132; relations: the same in plain English about invented people
    surface: Literal["symbols", "relations"] = "symbols"


class Filling(NamedTuple):
    """The context chains of a prompt: whole ones, and the first `rest` hops of one more."""

    chains: int
    rest: int


def fill(spec: ExplicitSpec, name: str) -> Filling:
    """The context chains that fill the budget in the spec's field of this name."""
    budget: int = getattr(spec, name)
    base, hops = _sizes(spec, approximate_tokens if name == "budget_tokens" else _lines)
    low, high = (base + chains * sum(hops) for chains in (spec.min_contexts, MAX_CHAINS))
    bound = f"at least {low}" if budget < low else f"at most {high}"
    require(low <= budget <= high, f"{name} must be {bound} for these blocks, got {budget}")
    chains, left = divmod(budget - base, sum(hops))
    return Filling(chains, sum(total <= left for total in accumulate(hops)))


def _lines(prompt: str) -> int:
    return prompt.count("\n") + 1


def _sizes(spec: ExplicitSpec, length: Callable[[str], int]) -> tuple[int, list[int]]:
    """The length of a prompt without context chains, and what each hop of a chain adds."""

    def token(layer: int) -> str:
        return f"{layer_letters(layer)}_{'0' * spec.id_width}"

    def line(hop: int) -> list[str]:
        return [token(hop - 1), f"f{hop}", token(hop)]

    blocks = []
    for block, size in zip(spec.blocks, spec.block_sizes, strict=True):
        head, function, tail = line(block)
        names = {}
        if spec.alias_heads_per_block:
            names = {f"{spec.alias_prefix}{number}": head for number in range(size)}
        lines = [[printed, function, tail] for printed in names or [head] * size]
        blocks.append(Candidates(function, lines, names))

    def size_of(lines: Sequence[Sequence[str]]) -> int:
        item = NhopItem("", lines, blocks, token(0), spec.hops, "", (), None)
        return length(render(item, NhopView()))

    chain = [line(hop) for hop in range(1, spec.fact_hops + 1)]
    facts = [*chain, *[line(spec.hops - 1)] * spec.decoys]
    base = size_of(facts)
    return base, [size_of([*facts, one]) - base for one in chain]


IMPLICIT_PRESETS = {"implicit": ImplicitSpec()}
EXPLICIT_PRESETS = {
    "explicit-easy": ExplicitSpec(),
    "explicit-hard": ExplicitSpec(
        path_collision_stress=True, block_head_balance=True, alias_heads_per_block=True
    ),
    "explicit-ladder": ExplicitSpec(
        path_collision_stress=True,
        block_head_balance=True,
        alias_heads_per_block=True,
        facts_until="ladder",
    ),
}

_CONTROLS = {
    "path": "path_collision_stress",
    "bal": "block_head_balance",
    "alias": "alias_heads_per_block",
}
_OFF = {**dict.fromkeys(_CONTROLS.values(), False), "answerable": "always"}
_ALL = {**dict.fromkeys(_CONTROLS.values(), True), "answerable": "always"}
_UNANSWERABLE = "half of the items lack a needed line: the answer is unknown"
_PLAIN_ENGLISH = "the control's items in plain English about invented people"
EXPLICIT_DIAGNOSTICS = {
    "control": Diagnostic("no cue control", spec=_OFF),
    **{
        name: Diagnostic(f"{control} only", spec={**_OFF, control: True})
        for name, control in _CONTROLS.items()
    },
    "all": Diagnostic("all three cue controls", spec=_ALL),
    "unanswerable": Diagnostic(_UNANSWERABLE, spec={**_ALL, "answerable": "mixed"}),
    "relations": Diagnostic(_PLAIN_ENGLISH, spec=_OFF, view={"surface": "relations"}),
}
_WHOLE = {"ablate_inner": False, "ablate_hop": None, "answerable": "always"}
IMPLICIT_DIAGNOSTICS = {
    "control": Diagnostic("every relation printed", spec=_WHOLE),
    "ablate": Diagnostic(
        "one relation left out: nothing above chance",
        spec={"ablate_inner": True, "answerable": "always"},
    ),
    "unanswerable": Diagnostic(_UNANSWERABLE, spec={**_WHOLE, "answerable": "mixed"}),
    "relations": Diagnostic(_PLAIN_ENGLISH, spec=_WHOLE, view={"surface": "relations"}),
    "baseline": Diagnostic("the pointer baseline, expected at chance", solver="pointer_f_n1"),
}
