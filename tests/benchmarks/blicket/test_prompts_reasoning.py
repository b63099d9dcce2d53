"""Prompts that end with a request to think step by step."""

from __future__ import annotations

import pytest

from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.generate import generate
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.core.dialogue import attempt

STEPS = "Let's think step by step."


@pytest.mark.parametrize("prompt", ["freeform", "two_shot"])
@pytest.mark.parametrize("spec", [PromptSpec(),
                                  PromptSpec(stimuli="paper")])  # fmt: skip
def test_a_chain_of_thought_ends_in_an_answer_line(spec: PromptSpec, prompt: str) -> None:
    view = PromptView("two_shot" if prompt == "two_shot" else "freeform",
                      reasoning="chain_of_thought")  # fmt: skip
    plain = PromptView(view.prompt, reply="lines")
    if spec.stimuli == "paper" and prompt == "two_shot":
        pytest.skip("the two-shot prompts of the paper are stimuli of their own")
    for item in generate(spec, 3, 0, 8):
        assert PROMPTS.render(item, view) == f"{PROMPTS.render(item, plain)}\n\n{STEPS}"
        for solver in PROMPTS.solvers.values():
            said, same = (attempt(PROMPTS, item, solver, one) for one in (view, plain))
            assert (said.reply, said.scores) == (same.reply, same.scores)
        best = attempt(PROMPTS, item, PROMPTS.solvers["ideal_observer"], view)
        assert best.scores[PROMPTS.metrics[0].name] == 1
        thoughts = "The red cube may be one. No, it is not.\nIt lit up twice.\n"
        answer = PROMPTS.parse(item, [thoughts + str(best.reply)], view)
        assert answer == PROMPTS.gold(item)


def test_a_free_reply_may_follow_the_examples_at_once() -> None:
    view = PromptView("two_shot", reply="free", reasoning="chain_of_thought")
    (item,) = generate(PromptSpec(), 3)
    assert PROMPTS.render(item, view).endswith(f"\n\nOutput: {STEPS}")
