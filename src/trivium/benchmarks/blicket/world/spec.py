"""The keyword arguments of Blicket-v0, and the sizes that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trivium.benchmarks.blicket.inference import hypotheses
from trivium.benchmarks.blicket.inference.hypotheses import EXAMPLE_TESTS, OPEN, Space, space_of
from trivium.core.errors import require, require_range
from trivium.core.spec import coerce

RewardStructure = Literal["baseline", "quiz", "quiz-type", "quiz-typeonly"]
Interface = Literal["sets", "child"]
Demonstrations = Literal["none", "given", "not_given"]
PAPER_FORMS = {hypotheses.CONJUNCTIVE, hypotheses.DISJUNCTIVE}
TYPE_REWARD = 0.5  # for a right answer about the form; the opposite for a wrong one


@dataclass(frozen=True)
class BlicketSpec:
    """The keyword arguments of the environment."""

    reward_structure: RewardStructure = "baseline"
    max_steps: int = 20  # the last step count of the exploration
    quiz_disabled_steps: int = -1  # the quiz bit is ignored up to this step count; -1: never
    add_step_reward_penalty: bool = False  # every step costs step_reward_penalty
    add_detector_state_reward_for_quiz: bool = False  # a light earns detector_reward
    step_reward_penalty: float = 0.01  # the cost of a step, if it has one
    detector_reward: float = 1.0  # the reward for a light, if it has one
    quiz_positive_reward: float = 1.0  # the reward for a right answer about an object
    quiz_negative_reward: float = -1.0  # the reward for a wrong answer about an object
    hypotheses: tuple[str, ...] = hypotheses.DEFAULT_SIX  # one is drawn uniformly at every reset
    objects: int = 3  # the number of objects
    interface: Interface = "sets"  # sets: place any set; child: toggle an object, check, or finish
    # two example machines come first: their tests reveal how they work ("given") or not
    demonstrations: Demonstrations = "none"

    def __post_init__(self) -> None:
        coerce(self.reward_structure, RewardStructure, "reward_structure")
        coerce(self.interface, Interface, "interface")
        coerce(self.demonstrations, Demonstrations, "demonstrations")
        require_range(self, 0, None, "max_steps")
        require_range(self, -1, None, "quiz_disabled_steps")
        names = tuple(str(hypotheses.parse(str(each))) for each in self.hypotheses)
        object.__setattr__(self, "hypotheses", names)
        require(
            names != hypotheses.DEFAULT_SIX or self.objects <= 3,
            f"objects = {self.objects} needs hypotheses of {self.objects} objects: the default six "
            f"have 3, and D would never matter",
        )
        plain = self.objects == 3 and self.interface == "sets" and self.has_quiz
        require(
            not self.has_examples or (plain and self._forms <= PAPER_FORMS),
            "demonstrations go with a quiz, the interface sets, 3 objects and conjunctive and "
            f"disjunctive machines, got {self.reward_structure}, {self.interface}, "
            f"{self.objects} and {', '.join(sorted(self._forms))}",
        )
        require(
            not self.asks_type or self.type_bits <= self.objects,
            f"the type question over {', '.join(sorted(self._forms))} needs {self.type_bits} "
            f"objects to answer with, got {self.objects}",
        )

    @property
    def space(self) -> Space:
        """The machines that are drawn from."""
        return space_of(self.hypotheses, self.objects)

    @property
    def _forms(self) -> set[str]:
        return {hypothesis.form for hypothesis in self.space}

    @property
    def type_bits(self) -> int:
        """The number of bits that name the form: one for the paper's two forms, else three.

        After demonstrations two: like the first machine, like the second, or not sure.
        """
        if self.has_examples:
            return 2
        return 1 if self._forms <= PAPER_FORMS else 3

    @property
    def has_examples(self) -> bool:
        """Whether two example machines are shown first."""
        return self.demonstrations != "none"

    @property
    def orders(self) -> int:
        """The number of orders of the example machines: which one is conjunctive is drawn."""
        return 2 if self.demonstrations == "given" else 1

    @property
    def shown(self) -> int:
        """The number of steps in which a test of an example machine is shown."""
        return 2 * len(EXAMPLE_TESTS[OPEN]) if self.has_examples else 0

    @property
    def has_quiz(self) -> bool:
        """Whether questions are asked after exploring."""
        return self.reward_structure != "baseline"

    @property
    def asks_objects(self) -> int:
        """The number of questions about objects."""
        return self.objects if self.reward_structure in ("quiz", "quiz-type") else 0

    @property
    def asks_type(self) -> bool:
        """Whether the last question is about the form."""
        return self.reward_structure in ("quiz-type", "quiz-typeonly")

    @property
    def questions(self) -> int:
        """The number of questions."""
        return self.asks_objects + self.asks_type

    @property
    def action_bits(self) -> int:
        """The number of bits of an action of the sets interface."""
        return self.objects + self.has_quiz

    @property
    def actions(self) -> int:
        """The number of different actions."""
        return self.objects + 2 if self.interface == "child" else 1 << self.action_bits

    @property
    def width(self) -> int:
        """The length of an observation: objects, light, which example machine, quiz flag."""
        return self.objects + 1 + 2 * self.has_examples + self.has_quiz

    @property
    def maximum(self) -> float:
        """The largest return of an episode: all answers right, or light at every step."""
        penalty = self.step_reward_penalty if self.add_step_reward_penalty else 0.0
        if not self.has_quiz:
            return self.counts * (self.detector_reward - penalty)
        bonus = self.detector_reward if self.add_detector_state_reward_for_quiz else 0.0
        right = self.asks_objects * self.quiz_positive_reward + TYPE_REWARD * self.asks_type
        return right + bonus - penalty

    @property
    def positions(self) -> int:
        """The number of sets that may be on the machine between steps; `sets` clears it."""
        return 1 << self.objects if self.interface == "child" else 1

    @property
    def counts(self) -> int:
        """The number of step counts while exploring: 0 .. max_steps + 1."""
        return self.max_steps + 2

    @property
    def first_question(self) -> int:
        """The phase of the first question: after every example and step count with a set."""
        return self.shown + self.counts * self.positions

    @property
    def phases(self) -> int:
        """The number of phases of an episode."""
        return self.first_question + self.questions

    @property
    def states(self) -> int:
        """The number of states of one machine: its phases in every order of the examples."""
        return self.orders * self.phases
