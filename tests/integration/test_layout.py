"""Where things stand: a unit test where its module does, a task's name in its own folder."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from zh_albert.tasks.catalog import TASKS

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "tests" / "unit"
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def imported(file: Path) -> set[str]:
    """Return the modules that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize(
    "file", sorted(UNIT.rglob("test_*.py")), ids=lambda file: str(file.relative_to(UNIT))
)
def test_a_unit_test_is_named_and_placed_as_its_module(file: Path) -> None:
    place = file.relative_to(UNIT)
    module = place.with_name(place.name.removeprefix("test_"))
    root = ROOT if place.parts[0] in ("apps", "corpora_tools") else ROOT / "zh_albert"
    package = (root / module).with_suffix("")
    assert (root / module).is_file() or (package / "__init__.py").is_file(), f"no {module}"


def test_tests_import_nothing_from_other_tests() -> None:
    found = {
        f"{file.relative_to(ROOT)} imports {name}"
        for file in TESTS
        for name in imported(file)
        if name.startswith("tests.") and ".test_" in name
    }
    assert not found


def test_the_import_rules_name_every_task() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    by_name = {one["name"]: one for one in contracts["contracts"]}
    packages = {task.package for task in TASKS.values()}
    assert set(by_name["tasks do not know each other"]["modules"]) == packages
    hidden = set(by_name["models and jobs of tasks are reached by their face"]["forbidden_modules"])
    models = {task.model.__module__ for task in TASKS.values()}
    assert hidden == models | {"zh_albert.tasks.*.finetune"}
