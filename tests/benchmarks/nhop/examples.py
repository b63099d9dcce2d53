"""Hand-made rows of n-hop items, and legal specs drawn by hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec


def ladder() -> dict[str, Any]:
    """A ladder as another generator writes it: the original's names only, no spec."""
    return {
        "id": "SYN-000123",
        "type": "synthetic",
        "n": 4,
        "facts_chain": [
            ["A_0047", "f1", "B_0132"],
            ["B_0132", "f2", "C_0220"],
            ["A_0234", "f1", "B_0789"],
            ["B_0789", "f2", "C_0456"],
        ],
        "candidates_fn_2": [["C_0220", "f3", "D_0901"], ["C_0420", "f3", "D_0199"]],
        "candidates_fn_1": [["D_0901", "f4", "E_0073"], ["D_0420", "f4", "E_0199"]],
        "candidates_fn": [["E_0420", "f5", "F_0199"], ["E_0073", "f5", "F_0824"]],
        "question": "What is f5 of f4 of f3 of f2 of f1 of A_0047?",
        "answer_id": "F_0824",
        "answer_aliases": ["F_0824", "f 0824"],
    }


def bag() -> dict[str, Any]:
    """A bag of two chains."""
    return {
        "id": "IMP-000001",
        "type": "implicit",
        "n": 3,
        "m": 2,
        "facts_bag": [
            ["A_01", "f1", "B_02"],
            ["B_02", "f2", "C_03"],
            ["A_04", "f1", "B_05"],
            ["B_05", "f2", "C_06"],
        ],
        "question": "What is f2 of f1 of A_04?",
        "answer_id": "C_06",
        "answer_aliases": ["C_06"],
    }


@st.composite
def implicit_specs(draw: st.DrawFn) -> ImplicitSpec:
    hops = draw(st.integers(3, 12))
    m = draw(st.integers(4, 32))
    ablate = hops >= 4 and draw(st.booleans())
    return ImplicitSpec(
        hops=hops,
        m=m,
        M=draw(st.integers(m, 10**4)),
        ablate_inner=ablate,
        ablate_hop=draw(st.integers(2, hops - 2)) if ablate else None,
    )


@st.composite
def explicit_specs(draw: st.DrawFn) -> ExplicitSpec:
    hops = draw(st.integers(3, 12))
    k = draw(st.integers(2, 12))
    path, balance, alias = (draw(st.booleans()) for _ in range(3))
    ordered = draw(st.booleans())
    sizes: dict[str, Any] = {}
    if not path and not balance:
        sizes = {name: draw(st.none() | st.integers(2, 12)) for name in ("k0", "k1", "k2")}
    L = draw(st.integers(1, hops))
    return ExplicitSpec(
        hops=hops,
        L=L,
        facts_until="ladder" if hops > L and draw(st.booleans()) else "n-2",
        k=k,
        context_chains=draw(st.integers(k - 1 if balance else 0, 14)),
        M=draw(st.sampled_from([64, 100, 512, 10**4])),
        path_collision_stress=path,
        block_head_balance=balance,
        alias_heads_per_block=alias,
        chain_only_ordered=ordered,
        **sizes,
    )
