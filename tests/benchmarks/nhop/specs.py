"""Legal n-hop specs, drawn by hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec


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
    ordered = not balance and draw(st.booleans())
    sizes: dict[str, Any] = {}
    if not path and not balance:
        sizes = {name: draw(st.none() | st.integers(2, 12)) for name in ("k0", "k1", "k2")}
    return ExplicitSpec(
        hops=hops,
        L=draw(st.integers(1, hops)),
        k=k,
        context_chains=draw(st.integers(k - 1 if balance else 0, 14)),
        M=draw(st.sampled_from([64, 100, 512, 10**4])),
        path_collision_stress=path,
        block_head_balance=balance,
        alias_heads_per_block=alias,
        chain_only_ordered=ordered,
        **sizes,
    )
