"""Blicket-v0 and its child interface one slow step at a time, written from the README.

Nothing is shared with the package.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def machine_lights(text: str, placed: set[str]) -> bool:
    """Whether a conjunctive or disjunctive machine lights."""
    form, blickets = text.split(":")
    if form == "conjunctive":
        return set(blickets) <= placed
    return bool(set(blickets) & placed)


@dataclass
class Reference:
    """One episode with one machine."""

    hypothesis: str
    reward_structure: str = "baseline"
    max_steps: int = 20
    quiz_disabled_steps: int = -1
    add_step_reward_penalty: bool = False
    add_detector_state_reward_for_quiz: bool = False
    interface: str = "sets"
    steps: int = 0
    question: int | None = None
    lying: set[str] = field(default_factory=set)

    def first(self) -> list[float]:
        """The observation of a reset."""
        return [0.0] * (4 if self.reward_structure == "baseline" else 5)

    def step(self, action: Any) -> tuple[list[float], float, bool]:
        """Observation, reward, done."""
        result = self.explore(action) if self.question is None else self.answer(action)
        self.steps += 1
        return result

    def explore(self, action: Any) -> tuple[list[float], float, bool]:
        if self.interface == "child":
            if action < 3:
                self.lying ^= {"ABC"[action]}
            placed, light, leave = self.lying, False, action == 4
            if action == 3:
                light = machine_lights(self.hypothesis, placed)
        else:
            placed = {letter for letter, bit in zip("ABC", action[:3], strict=True) if bit}
            light = machine_lights(self.hypothesis, placed)
            leave = self.reward_structure != "baseline" and action[3] == 1
        shown = [float(letter in placed) for letter in "ABC"] + [float(light)]
        reward = 0.0
        if self.reward_structure == "baseline":
            if light:
                reward += 1
            if self.add_step_reward_penalty:
                reward -= 0.01
            return shown, reward, self.steps > self.max_steps or leave
        if self.steps > self.max_steps or (leave and self.steps > self.quiz_disabled_steps):
            if self.add_step_reward_penalty:
                reward -= 0.01
            if self.add_detector_state_reward_for_quiz and light:
                reward += 1
            self.question = 3 if self.reward_structure == "quiz-typeonly" else 0
            return self.asked(), reward, False
        return [*shown, 0.0], reward, False

    def answer(self, action: Any) -> tuple[list[float], float, bool]:
        assert self.question is not None
        form, blickets = self.hypothesis.split(":")
        child = self.interface == "child"
        if self.question < 3:
            yes = action == self.question if child else action[self.question] == 1
            reward = 1.0 if yes == ("ABC"[self.question] in blickets) else -1.0
        else:
            named = action if child else action[0]
            right = named == 0 if form == "conjunctive" else named == 1
            reward = 0.5 if right else -0.5
        self.question += 1
        last = 3 if self.reward_structure == "quiz" else 4
        return self.asked(), reward, self.question == last

    def asked(self) -> list[float]:
        return [float(self.question == place) for place in range(3)] + [0.0, 1.0]
