"""Which room may know which, and what the core must do without."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import trivium

ROOT = Path(trivium.__file__).parent
# Rooms from the first on the way of the data to the last; benchmarks share a step.
ORDER = [
    {"core"},
    {"nhop", "variables", "blicket"},
    {"registry"},
    {"agents"},
    {"runs"},
    {"models"},
    {"report"},
    {"commands"},
    {"cli"},
    {"__main__"},
]
HEAVY = {
    "jax": {"agents", "blicket"},
    "equinox": {"agents"},
    "optax": {"agents"},
    "gymnasium": {"blicket", "agents"},
    "minari": {"blicket", "agents"},
    "inspect_ai": {"models"},
    "openai": {"models"},
    "ray": {"runs"},
    "altair": {"report"},
    "vl_convert": {"report"},
    "polars": {"report", "runs"},
    "torch": set(),
}
CORE_MAY_USE = {"numpy", "orjson"}


def modules() -> list[tuple[str, set[str]]]:
    """Every module's room and what it imports anywhere in its text."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        room = path.relative_to(ROOT).parts[0].removesuffix(".py")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
        found.append((room, names))
    return found


def rank(room: str) -> int:
    return next(number for number, rooms in enumerate(ORDER) if room in rooms)


def test_every_room_knows_only_rooms_before_it() -> None:
    for room, names in modules():
        if room == "__init__":
            assert not any(name.startswith("trivium.") for name in names)
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] != "trivium" or len(parts) < 2 or parts[1].startswith("__"):
                continue
            assert parts[1] == room or rank(parts[1]) < rank(room), f"{room} imports {name}"


def test_heavy_packages_stay_in_their_rooms() -> None:
    for room, names in modules():
        for name in names:
            allowed = HEAVY.get(name.split(".")[0])
            assert allowed is None or room in allowed, f"{room} imports {name}"


def test_the_core_uses_the_standard_library_numpy_and_orjson() -> None:
    for room, names in modules():
        if room != "core":
            continue
        for name in names:
            top = name.split(".")[0]
            assert top in sys.stdlib_module_names | CORE_MAY_USE | {"trivium"}, name


def test_the_main_job_works_with_no_extras_installed(tmp_path: Path) -> None:
    """Every heavy package is made impossible to import, and the main job still runs."""
    code = (
        "import sys\n"
        f"for name in {sorted(set(HEAVY) - {'torch'})!r}: sys.modules[name] = None\n"
        "from trivium.cli import main\n"
        f"sys.exit(main(['run', '--items', '3', '--processes', '1', '--out', {str(tmp_path)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").exists()


def test_listing_benchmarks_imports_nothing_heavy() -> None:
    code = (
        "import sys; from trivium.cli import main; main(['list']); "
        f"print(sorted(set(sys.modules) & set({sorted(HEAVY)!r})), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
