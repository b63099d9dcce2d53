"""One blicket machine as a Gymnasium environment: `gymnasium.make("trivium/Blicket-v0")`.

Keyword arguments are the fields of `BlicketSpec`. In `trivium/BlicketChild-v0` an action toggles
one object, presses check, or finishes, like a child. In `trivium/BlicketGiven-v0` and
`trivium/BlicketNotGiven-v0` the tests of two example machines are shown first, one at each step, as
in the experiment with children; actions do nothing meanwhile.
"""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from trivium.benchmarks import register_environments
from trivium.benchmarks.blicket.inference.hypotheses import rules_shown, split
from trivium.benchmarks.blicket.world.dynamics import Lookup, make_tables
from trivium.benchmarks.blicket.world.render import RENDER_MODES, check_render_mode, show
from trivium.benchmarks.blicket.world.spec import BlicketSpec
from trivium.core.errors import UserError, require
from trivium.core.spec import spec_from_dict

Observation = NDArray[np.float32]


def spec_of(options: dict[str, Any]) -> BlicketSpec:
    """The spec of keyword arguments, among them `split` and `split_part` ("train" or "test")."""
    options = dict(options)
    name, part = options.pop("split", None), options.pop("split_part", "train")
    require(part in ("train", "test"), f"split_part must be train or test, got {part!r}")
    if name is not None:
        require("hypotheses" not in options, "split and hypotheses exclude each other")
        options["hypotheses"] = tuple(map(str, split(name)[part == "test"]))
    else:
        require(part == "train", "split_part needs a split")
    return spec_from_dict(BlicketSpec, options, where="Blicket-v0")


def check_options(options: dict[str, Any] | None, *known: str) -> dict[str, Any]:
    """The options of a reset; unknown ones are refused."""
    for name in options or {}:
        require(name in known, f"options may hold {', '.join(known)}, got {name!r}")
    return options or {}


def observation_space(spec: BlicketSpec) -> spaces.Space[Any]:
    """Object bits, the light, which example machine is shown, and in a quiz the quiz flag."""
    return spaces.Box(0.0, 1.0, (spec.width,), np.float32)


def action_space(spec: BlicketSpec) -> spaces.Space[Any]:
    """A bit for each object and one for the quiz, or the number of a child's action."""
    if spec.interface == "child":
        return spaces.Discrete(spec.actions)
    return spaces.MultiDiscrete([2] * spec.action_bits)


def machine_number(spec: BlicketSpec, name: str) -> int:
    """The number of the machine of this name."""
    known = spec.hypotheses
    require(name in known, f"hypothesis must be one of {', '.join(known)}, got {name!r}")
    return known.index(name)


class BlicketEnv(gymnasium.Env[Observation, Any]):
    """Explore a machine, then answer which objects are blickets."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012

    def __init__(self, render_mode: str | None = None, **options: Any) -> None:
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.rules = spec_of(options)
        self.observation_space = observation_space(self.rules)
        self.action_space = action_space(self.rules)
        self._tables = make_tables(self.rules)
        self._lookup = Lookup(self._tables)
        self._noisy = self.rules.space.noisy
        # The numbers of all valid actions.
        self._child = self.rules.interface == "child"
        bits = range(self.rules.action_bits)
        self._codes: dict[Any, int] = {
            code if self._child else tuple(code >> bit & 1 for bit in bits): code
            for code in range(self.rules.actions)
        }
        self._state = self._lookup.over
        self._seen = 0
        self._info: dict[str, Any] = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """A new machine, drawn uniformly, or the machine named `options["hypothesis"]`."""
        super().reset(seed=seed)
        name = check_options(options, "hypothesis").get("hypothesis")
        known, orders = self.rules.hypotheses, self.rules.orders
        if name is None:
            start = int(self.np_random.integers(len(known) * orders))
        else:
            order = int(self.np_random.integers(orders))
            start = machine_number(self.rules, name) * orders + order
        machine, order = divmod(start, orders)
        self._state = self._lookup.starts[start]
        self._seen = 0
        self._info = {"hypothesis": known[machine], "machine": machine}
        if self.rules.has_examples:
            self._info["examples"] = rules_shown(self.rules.demonstrations == "given", order == 1)
        return self._observation(), dict(self._info)

    def step(self, action: Any) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Place a set and see the light, or answer the question that is asked."""
        given = action.tolist() if isinstance(action, np.ndarray) else action
        try:
            code = self._codes[given if self._child else tuple(given)]
        except (KeyError, TypeError):
            raise UserError(f"action must be in {self.action_space}, got {action!r}") from None
        flip = self._noisy and bool(self.np_random.random() < self._tables.noise[self._state])
        self._state, self._seen, reward = self._lookup.step(self._state, code, flip)
        over = self._state == self._lookup.over
        return self._observation(), reward, over, False, dict(self._info)

    def render(self) -> Any:
        """The machine as a picture or as text."""
        return show(self.render_mode, self.rules, self._state, self._seen)

    def _observation(self) -> Observation:
        observation: Observation = self._tables.observations[self._seen].copy()
        return observation


register_environments()
