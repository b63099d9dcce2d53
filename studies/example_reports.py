"""Example reports: stub models of stated skill and a real small one, asked as models are asked.

A stub model is a server on loopback that speaks the OpenAI protocol. It sees the prompt and
nothing else, and replies as a built-in solver would, or worse, as often as its skill says. The
same server gives the replies of the small model that are kept in a file (studies.small_model).
Run: python -m studies.example_reports docs/examples (what `make docs-pages` does)
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from studies.small_model import MODEL, SmallModel
from trivium.benchmarks import get_benchmark
from trivium.benchmarks.nhop.render import read_prompt
from trivium.cli import main as trivium_command
from trivium.core.benchmark import Turn
from trivium.core.streams import Stream, stream_key
from trivium.evaluation.cost import Prices
from trivium.models.local import served_locally
from trivium.models.providers import Model
from trivium.models.settings import ModelOptions, Settings
from trivium.report.page import write_report

PRICES = Prices(price_in=0.4, price_out=1.6)  # made up, as the models are
MAX_CHARACTERS = 200_000  # in the item browser of each page: these pages are to stay small
# Presets that passed their audits.
AUDITED = ["explicit-hard", "explicit-ladder", "implicit", "balanced-ctrl", "balanced-hypotheses"]
AUDITED += ["four-conditions", "mixed"]
LABELS = {
    "main": "stub models (99%, 90% and 62% of hops right)",
    "small": "SmolLM2-135M (stored replies)",
}


@dataclass(frozen=True)
class Skill:
    """What a stub model can do."""

    step: float  # the probability that one hop goes right; in a chain all of them must
    alias: float  # the factor for prompts whose heads have aliases
    english: float  # the factor for prompts in plain English
    control: float  # how often variables are controlled as the statistician would
    infer: float  # how often the machine of a prompt is inferred as by the ideal observer
    player: str  # the built-in player that it plays the game like
    thinks: int  # reasoning tokens for each hop, variable or object
    cut_off: float = 0.0  # how often a reply is cut off before an answer


SKILLS = {
    "careful": Skill(0.99, 0.97, 0.98, 0.9, 0.85, "information_gain", 60, cut_off=0.02),
    "middling": Skill(0.9, 0.6, 0.8, 0.45, 0.4, "one_at_a_time", 25),
    "hasty": Skill(0.62, 0.6, 1.0, 0.0, 0.05, "one_cause", 0),
}


def reply_of(model: str, messages: Sequence[str]) -> tuple[str, int, bool]:
    """The reply, the reasoning tokens that it took, and whether it was cut off."""
    skill = SKILLS[model]
    stream = Stream(stream_key(model, *messages))
    text, size = _answer(skill, messages, stream)
    tokens = round(skill.thinks * size * (0.7 + 0.006 * stream.below(100)))
    cut_off = stream.below(1000) < 1000 * skill.cut_off
    return ("" if cut_off else text), tokens * (4 if cut_off else 1), cut_off


def _answer(skill: Skill, messages: Sequence[str], stream: Stream) -> tuple[str, int]:
    """What the skill makes of a prompt, and the size of the problem."""
    prompt = messages[0]

    def luck(probability: float) -> bool:
        return stream.below(10_000) < 10_000 * probability

    def solver(benchmark: str, name: str) -> str:
        own = get_benchmark(benchmark)
        return own.solvers[name].reply(Turn(messages, stream, own.view_type()))

    if re.search(r"^Question: (?:What is f\d|Who is the )", prompt, re.MULTILINE):
        shown = read_prompt(prompt)
        name = "nhop_explicit" if shown.blocks else "nhop_implicit"
        aliased = any(block.aliases for block in shown.blocks)
        english = "Question: Who" in prompt
        factor = (skill.alias if aliased else 1) * (skill.english if english else 1)
        right = luck(skill.step**shown.depth * factor)
        wrong = "last_line" if luck(0.3) else "random_candidate"
        return solver(name, "oracle" if right else wrong), shown.depth
    if "Target hypothesis:" in prompt:
        text = solver("identifying_variables", "statistician")
        if not luck(skill.control):
            text = re.sub(r"control: .*", "control: none", text)
        return text, len(set(re.findall(r"x_\d+", prompt)))
    if "You may make up to" in prompt:
        return solver("blicket_game", skill.player), prompt.partition("Objects:")[2][:20].count(" ")
    right = luck(skill.infer)
    return solver("blicket_prompts", "ideal_observer" if right else "one_cause"), 8


def _response(model: str, messages: Sequence[str]) -> dict[str, Any]:
    """A stub model's reply as the protocol wants it."""
    text, reasoning, cut_off = reply_of(model, messages)
    usage = {
        "prompt_tokens": sum(map(len, messages)) // 3,
        "completion_tokens": reasoning + len(text) // 3 + 1,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    choice["finish_reason"] = "length" if cut_off else "stop"
    return {"id": "x", "choices": [choice], "usage": usage}


@contextmanager
def stub_server(small: SmallModel | None = None) -> Iterator[str]:
    """The base URL of the stub models and the small one, for as long as the block lasts."""

    async def complete(request: web.Request) -> web.Response:
        body = await request.json()
        messages = [turn["content"] for turn in body["messages"] if turn["role"] != "system"]
        if small is not None and body["model"] == MODEL:
            return web.json_response(await small.reply(body, messages))
        return web.json_response(_response(body["model"], messages))

    loop, ready, address = asyncio.new_event_loop(), threading.Event(), []
    stop = asyncio.Event()

    async def serve() -> None:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/chat/completions", complete)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address.append(runner.addresses[0][1])
        ready.set()
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield f"http://127.0.0.1:{address[0]}/v1"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


def example_runs() -> dict[str, list[str]]:
    """The command line of every example, by its name."""
    models = [word for name in SKILLS for word in ("--model", f"stub/{name}")]
    small = ["--model", f"local/{MODEL}", "--temp", "0", "--max_output_tokens", "200"]
    two = ["--model", "stub/careful", "--model", "stub/middling"]
    explicit = ["--hops", "4", "--L", "3", "--k", "6", "--context_chains", "8", "--M", "256"]
    sweep = ["sweep", "nhop_implicit", "--hops", "4,6,8,12", "--m", "4,8,16", "--seeds", "7"]
    return {
        "main": ["run", "--items", "30", "--presets", *AUDITED, *models],
        "small": ["run", "--items", "30", "--presets", *AUDITED[:3], *small],
        "sweep": [*sweep, "--items", "40", "--label", "hops by chains", *models],
        "diagnose": ["diagnose", "nhop_explicit", *explicit, "--items", "240", *two],
    }


def make_runs(folder: Path, small: SmallModel, names: Iterable[str] = ()) -> None:
    """Run the examples of these names, or every one, each in a folder of its own."""
    with stub_server(small) as url:
        asked = ["--base_url", url, "--api", "chat", "--backend", "direct", "--yes"]
        asked += ["--concurrency", "2"] if small.url else []
        for name, command in example_runs().items():
            if name in (names or example_runs()):
                out = str(folder / name)
                if trivium_command([*command, *asked, "--out", out]):
                    raise SystemExit(f"{name}: some calls failed")


def ask_again() -> None:
    """Ask the small model everything that the examples ask it, and keep its replies."""
    model = Model(f"local/{MODEL}", Settings(), ModelOptions())
    with served_locally([model]) as served, tempfile.TemporaryDirectory() as name, chdir(name):
        small = SmallModel(served[model].options.base_url)
        try:
            make_runs(Path(), small, ["small"])
        finally:
            small.save()


def take_picture(page: Path, file: Path) -> None:
    """Write the first screen of a page as PNG, where there is a Chromium."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print(f"no Chromium here: {file} stays as it is")
        return
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    flags += [f"--screenshot={file}", "--window-size=1280,1000"]
    subprocess.run([chromium, *flags, page.as_uri()], check=True, stderr=subprocess.DEVNULL)


def main(args: Sequence[str]) -> int:
    """Write every example page into the folder that is named, and the picture beside it."""
    target = Path(args[0]).resolve()
    target.mkdir(parents=True, exist_ok=True)
    if "--ask" in args:
        ask_again()
    with tempfile.TemporaryDirectory() as name, chdir(name):
        make_runs(Path(), SmallModel())
        for one in example_runs():
            page = write_report(Path(one), LABELS.get(one), PRICES, MAX_CHARACTERS)
            shutil.copy(page, target / f"{one}.html")
        trivium_command(["compare", "main", "--out", str(target / "compare.html")])
    take_picture(target / "main.html", target.parent / "img" / "report.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
