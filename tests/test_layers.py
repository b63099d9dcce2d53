"""Which package may import which, and what must work without optional packages."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import trivium

ROOT = Path(trivium.__file__).parent
# From the first package of the pipeline to the last; those in one set do not import each other.
ORDER = [
    {"core"},
    {"audit"},
    {"benchmarks"},
    {"models", "agents", "adapters"},
    {"evaluation"},
    {"thresholds", "exchange"},
    {"report", "people"},
    {"api"},
    {"commands"},
    {"cli"},
    {"__main__"},
]
HEAVY = {
    "jax": {"agents", "benchmarks"},
    "equinox": {"agents"},
    "optax": {"agents"},
    "gymnasium": {"benchmarks", "agents", "adapters"},
    "minari": {"benchmarks", "agents"},
    "PIL": {"benchmarks"},
    "inspect_ai": {"models"},
    "openai": {"models", "adapters"},
    "verifiers": {"adapters"},
    "reasoning_gym": {"adapters"},
    "openenv": {"adapters"},
    "ray": {"evaluation"},
    "polars": {"api"},
    "starlette": {"people"},
    "uvicorn": {"people"},
    "playwright": {"people"},
    "torch": set(),
}
CORE_MAY_USE = {"numpy", "orjson"}


def modules() -> list[tuple[tuple[str, ...], set[str]]]:
    """Every module's path in the package and what it imports anywhere in its text."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
        found.append((path.relative_to(ROOT).with_suffix("").parts, names))
    return found


def rank(package: str) -> int:
    return next(number for number, packages in enumerate(ORDER) if package in packages)


def test_every_package_imports_only_packages_before_it() -> None:
    for path, names in modules():
        if path[0] == "__init__":
            continue  # the public names, imported when they are used
        for name in names:
            parts = name.split(".")
            if parts[0] != "trivium" or len(parts) < 2 or parts[1].startswith("__"):
                continue
            assert parts[1] == path[0] or rank(parts[1]) < rank(path[0]), f"{path} imports {name}"


def test_benchmarks_do_not_import_each_other() -> None:
    families = {entry.stem for entry in (ROOT / "benchmarks").iterdir()} - {"__init__", "contract"}
    for path, names in modules():
        if path[0] != "benchmarks" or len(path) < 2 or path[1] == "__init__":
            continue
        for name in names:
            parts = name.split(".")
            if parts[:2] == ["trivium", "benchmarks"] and len(parts) > 2 and parts[2] in families:
                assert parts[2] == path[1], f"{path} imports {name}"


def test_heavy_packages_are_imported_only_where_they_are_used() -> None:
    for path, names in modules():
        for name in names:
            allowed = HEAVY.get(name.split(".")[0])
            assert allowed is None or path[0] in allowed, f"{path} imports {name}"


def test_the_core_uses_the_standard_library_numpy_and_orjson() -> None:
    for path, names in modules():
        if path[0] == "core":
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


def test_importing_trivium_imports_nothing_but_itself() -> None:
    code = (
        "import sys; before = set(sys.modules); import trivium; "
        "print(sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(ast.literal_eval(done.stdout)) <= {"trivium"} | sys.stdlib_module_names
