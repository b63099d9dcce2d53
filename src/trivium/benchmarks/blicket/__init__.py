"""The blicket detector: causal overhypotheses, found by experimenting.

What this package adds to the rest of the library is declared here and imported when it is used:
commands, environments of Gymnasium, a format of `trivium import`, and (in the game's class) a drawn
page of the web experiment.
"""

_HERE = "trivium.benchmarks.blicket"
COMMANDS = {
    "play": "play the blicket game in the terminal, against the ideal observer",
    "ceilings": "what an ideal observer can reach on blicket machines",
    "record": "play Blicket-v0 with a program; trajectories as a Minari dataset",
    "train": "train an agent in the blicket world",
    "rollout": "play Blicket-v0 with a trained agent; trajectories as a Minari dataset",
}
# `trivium import NAME FILES`: a function from a file to attempts.
IMPORTS = {"trajectories": f"{_HERE}.people.trajectories:read_trajectories"}
_WORLD = {
    "entry_point": f"{_HERE}.world.env:BlicketEnv",
    "vector_entry_point": f"{_HERE}.world.vector:BlicketVectorEnv",
}
_QUIZ = {"reward_structure": "quiz-type"}
ENVIRONMENTS = {
    "trivium/Blicket-v0": _WORLD,
    "trivium/BlicketChild-v0": {**_WORLD, "kwargs": {"interface": "child"}},
    "trivium/BlicketGiven-v0": {**_WORLD, "kwargs": {"demonstrations": "given", **_QUIZ}},
    "trivium/BlicketNotGiven-v0": {**_WORLD, "kwargs": {"demonstrations": "not_given", **_QUIZ}},
    "trivium/BlicketGame-v0": {
        "entry_point": "trivium.adapters.text_env:TextEnv",
        "kwargs": {"benchmark": "blicket_game"},
    },
}
