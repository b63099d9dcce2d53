"""Which package may import which, and what must work without optional packages."""

from __future__ import annotations

import ast
import pkgutil
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import trivium
from trivium.benchmarks import BENCHMARKS, declared, get_benchmark
from trivium.cli import command_module
from trivium.people.pages import Page, page_of

ROOT = Path(trivium.__file__).parent
# From the first package of the pipeline to the last; those in one set do not import each other.
ORDER = [
    {"core"},
    {"auditing"},
    {"benchmarks"},
    {"models", "agents", "adapters"},
    {"evaluation"},
    {"thresholds", "exchange"},
    {"report", "people"},
    {"result_set"},
    {"arguments"},
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
    "polars": {"result_set"},
    "pandas": {"result_set"},
    "IPython": set(),
    "starlette": {"people"},
    "uvicorn": {"people"},
    "playwright": {"people"},
    "torch": set(),
}
FAMILIES = {entry.name for entry in (ROOT / "benchmarks").iterdir() if entry.is_dir()} - {
    "__pycache__"
}
CORE_MAY_USE = {"numpy", "orjson"}


class Module(NamedTuple):
    """A module's path in the package, what it imports anywhere, and every string in it.

    Strings are whole, but for those inside a longer text such as an example.
    """

    path: tuple[str, ...]
    names: set[str]
    strings: set[str]


@cache
def modules() -> list[Module]:
    """Every module of the package."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        names: set[str] = set()
        strings: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                strings.add(node.value)
        found.append(Module(path.relative_to(ROOT).with_suffix("").parts, names, strings))
    return found


def unit(path: Sequence[str]) -> tuple[int, str]:
    """The rank and the name of what a module belongs to: its package, or a plug-in of another."""
    plugged = path[0] == "benchmarks" and len(path) > 2 and path[2] in ("commands", "people")
    package = path[2] if plugged else path[0]
    rank = next(number for number, packages in enumerate(ORDER) if package in packages)
    return rank, ".".join(path[:3]) if plugged else package


def test_every_package_imports_only_packages_before_it() -> None:
    """A plug-in has the rank of the package that it extends, which does not import it."""
    for path, names, _ in modules():
        if path[0] == "__init__":
            continue  # the public names, imported when they are used
        for name in names:
            parts = name.split(".")
            if parts[0] != "trivium" or len(parts) < 2 or parts[1].startswith("__"):
                continue
            mine, other = unit(path), unit(parts[1:])
            extended = mine[1] == f"benchmarks.{path[1]}.{other[1]}" if len(path) > 1 else False
            allowed = mine == other or other[0] < mine[0] or extended
            assert allowed, f"{path} imports {name}"


def test_no_benchmark_is_known_by_name_outside_its_package() -> None:
    """Neither its modules are imported, nor its name or theirs compared with or looked up."""
    module = rf".*trivium\.benchmarks\.(?:{'|'.join(FAMILIES)})\b.*"
    known = re.compile("|".join([module, *FAMILIES, *BENCHMARKS]), re.DOTALL)
    for path, names, strings in modules():
        if path[0] not in ("benchmarks", "agents"):
            assert not [one for one in names | strings if known.fullmatch(one)], path


def test_what_benchmarks_declare_is_there() -> None:
    for name in declared("commands"):
        assert callable(command_module(name).main)
    for name in declared("imports").values():
        assert callable(pkgutil.resolve_name(name))
    for name in BENCHMARKS:
        assert isinstance(page_of(get_benchmark(name)), Page)


def test_benchmarks_do_not_import_each_other() -> None:
    for path, names, _ in modules():
        if path[0] != "benchmarks" or len(path) < 2 or path[1] == "__init__":
            continue
        for name in names:
            parts = name.split(".")
            if parts[:2] == ["trivium", "benchmarks"] and len(parts) > 2 and parts[2] in FAMILIES:
                assert parts[2] == path[1], f"{path} imports {name}"


def test_heavy_packages_are_imported_only_where_they_are_used() -> None:
    for path, names, _ in modules():
        for name in names:
            allowed = HEAVY.get(name.split(".")[0])
            assert allowed is None or path[0] in allowed, f"{path} imports {name}"


def test_the_core_uses_the_standard_library_numpy_and_orjson() -> None:
    for path, names, _ in modules():
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
        f"sys.exit(main(['run', '--items', '1', '--processes', '1', '--out', {str(tmp_path)!r}]))"
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
