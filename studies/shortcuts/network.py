"""A small looped transformer over unordered rows, trained on several seeds at once."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax

from studies.shortcuts.items import HOPS, NUMBERS, Arrays

Params = dict[str, Any]
WIDTH, HEADS, LOOPS = 128, 4, 8  # one layer, applied eight times with the same weights
BATCH, RATE, WARMUP = 512, 1e-3, 500
SHAPES = {
    "layer": {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH)}
    | {"down": (4 * WIDTH, WIDTH)},
    "ladders": {"token": ((HOPS + 1) * NUMBERS, WIDTH), "part": (HOPS + 1, WIDTH)}
    | {"function": (HOPS + 1, WIDTH), "depth": (HOPS, WIDTH), "head": (WIDTH, WIDTH)}
    | {"tail": (WIDTH, WIDTH), "query": (WIDTH, WIDTH), "key": (WIDTH, WIDTH)},
    "tables": {"row": (9, WIDTH), "answer": (WIDTH, 2)},
}
EMBEDDINGS = {"token", "part", "function", "depth"}  # of unit size; other weights keep sizes


def init(key: jax.Array, task: str) -> Params:
    """The weights of a new network."""
    shapes = SHAPES["layer"] | SHAPES[task]
    keys = jax.random.split(key, len(shapes))
    return {
        name: jax.random.normal(key, shape) * (1.0 if name in EMBEDDINGS else shape[0] ** -0.5)
        for key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def _normed(x: jax.Array) -> jax.Array:
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)


def transform(params: Params, x: jax.Array) -> jax.Array:
    """The rows of one item after all loops; every row attends to every other."""
    half = {name: params[name].astype(jnp.bfloat16) for name in SHAPES["layer"]}
    size = (2 * LOOPS) ** -0.5  # so that what the loops add stays of the size of a row
    for _ in range(LOOPS):
        qkv = _normed(x).astype(jnp.bfloat16) @ half["qkv"]
        q, k, v = qkv.reshape(len(x), 3, HEADS, -1).swapaxes(0, 1)
        logits = jnp.einsum("qhd,khd->hqk", q, k).astype(jnp.float32) * (HEADS / WIDTH) ** 0.5
        mixed = jnp.einsum("hqk,khd->qhd", jax.nn.softmax(logits).astype(jnp.bfloat16), v)
        x = x + size * (mixed.reshape(len(x), -1) @ half["out"]).astype(jnp.float32)
        hidden = jax.nn.gelu(_normed(x).astype(jnp.bfloat16) @ half["up"])
        x = x + size * (hidden @ half["down"]).astype(jnp.float32)
    return _normed(x)


def _row(table: jax.Array, index: jax.Array) -> jax.Array:
    """Rows of a small table, as a product: on a GPU its gradient is faster than a look-up's."""
    return jax.nn.one_hot(index, len(table)) @ table


def ladders(params: Params, item: jax.Array) -> jax.Array:
    """For each depth, a logit for every line, very low for lines that are no candidates."""
    part, function, head, tail = item.T.astype(jnp.int32)
    rows = _row(params["part"], part) + _row(params["function"], function)
    rows += _row(params["token"], head) @ params["head"]
    rows += _row(params["token"], tail) @ params["tail"]
    questions = params["depth"] + rows[-1]  # one for each depth, all about the same token
    x = transform(params, jnp.concatenate([rows[:-1], questions]))
    lines, asked = x[: len(rows) - 1], x[len(rows) - 1 :]
    logits = (asked @ params["query"]) @ (lines @ params["key"]).T * WIDTH**-0.5
    depth = jnp.arange(1, HOPS + 1)[:, None]
    # Candidates for one hop are the facts of f1; for more hops, the lines of the last block.
    allowed = jnp.where(depth == 1, (part == 0) & (function == 1), part == depth - 1)
    return jnp.where(allowed[:, :-1], logits, -1e9)


def tables(params: Params, item: jax.Array) -> jax.Array:
    """The logits of invalid and valid."""
    x = transform(params, item.astype(jnp.float32) @ params["row"])
    return jnp.stack([x.mean(0) @ params["answer"]])


LOGITS = {"ladders": ladders, "tables": tables}


class Training:
    """Networks of several seeds, trained on the same items, each in an order of its own."""

    def __init__(self, task: str, steps: int, seeds: int, items: Arrays) -> None:
        self.step, self._items = 0, [jnp.asarray(part) for part in items]
        self._logits = jax.vmap(LOGITS[task], in_axes=(None, 0))
        schedule = optax.warmup_cosine_decay_schedule(0.0, RATE, WARMUP, steps + WARMUP, RATE / 20)
        self._optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
        self._keys = jax.vmap(jax.random.key)(jnp.arange(seeds))
        self._params = jax.vmap(partial(init, task=task))(self._keys)
        self._state = jax.vmap(self._optimiser.init)(self._params)
        self._many = jax.jit(self._train, static_argnums=4)
        self._right = jax.jit(
            lambda all_params, inputs, answers: jax.lax.map(
                lambda params: (self._logits(params, inputs).argmax(-1) == answers).mean(0),
                all_params,
            )
        )

    def _loss(self, params: Params, inputs: jax.Array, answers: jax.Array) -> jax.Array:
        logits, wanted = self._logits(params, inputs), answers.astype(jnp.int32)
        return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(logits, wanted))

    def _train(self, params: Any, state: Any, items: Any, first: Any, steps: int) -> Any:
        def update(params: Params, state: Any, key: jax.Array, step: Any) -> Any:
            chosen = jax.random.randint(jax.random.fold_in(key, step), (BATCH,), 0, len(items[0]))
            grads = jax.grad(self._loss)(params, *(part[chosen] for part in items))
            updates, state = self._optimiser.update(grads, state, params)
            return optax.apply_updates(params, updates), state

        def body(carry: Any, step: Any) -> Any:
            params, state = carry
            return jax.vmap(update, in_axes=(0, 0, 0, None))(params, state, self._keys, step), None

        return jax.lax.scan(body, (params, state), first + jnp.arange(steps))[0]

    def advance(self, steps: int) -> None:
        """Train for some steps."""
        self._params, self._state = self._many(
            self._params, self._state, self._items, self.step, steps
        )
        self.step += steps

    def accuracy(self, items: Arrays) -> Any:
        """The share of right answers on other items, by seed and depth."""
        return self._right(self._params, *items)
