"""The blicket detector: inferring causal overhypotheses by experimenting.

This module declares what the package adds to the library: commands, functions of the Python API,
Gymnasium environments and a format of `trivium import`. All are imported when they are used. The
drawn page of the web experiment is declared in the game's class.
"""

_HERE = "trivium.benchmarks.blicket"
COMMANDS = {
    "play": "play the blicket game in the terminal, against the ideal observer",
    "ceilings": "the best possible results of an ideal observer on blicket machines",
    "record": "play Blicket-v0 with a program and store a Minari dataset",
    "train": "train an agent in the blicket world",
    "rollout": "play Blicket-v0 with a trained agent and store a Minari dataset",
}
FUNCTIONS = {"train": f"{_HERE}.commands.train:train"}
# Formats of `trivium import`, each with a function from a file to attempts.
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
