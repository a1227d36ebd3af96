"""A report's tasks and arms as data, read from TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zh_albert.compression.recipe import Recipe, Stage, StoreConfig, find_recipe
from zh_albert.configio import (
    build,
    check_at_least,
    check_named_once,
    merged,
    parse_overrides,
    read_toml,
    write_toml,
)
from zh_albert.errors import ConfigError, nearest
from zh_albert.experiments.arms import Arm, Direction, refuse_unclear


@dataclass(frozen=True, kw_only=True)
class ReportTask:
    """The data of a report's task; every arm gets the same.

    Attributes:
        name: Shown, and named by arms.
        model: The model that is compressed: bundled name, folder or hub id.
        train: Task file; texts that also occur in dev are left out.
        dev: Task file that scores are of.
        texts: Training texts, drawn at random once; None: all.
        choose_by: Dev texts that choose the best weights of a training; scores are of all.
        settings: Of each recipe that has such a stage, as ``compress --set``; over the recipe's
            and under the arm's.
        note: A sentence for the report.
    """

    name: str
    model: str
    train: Path
    dev: Path
    texts: int | None = None
    choose_by: int = 1500
    settings: tuple[str, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("texts", "choose_by"):
            check_at_least(1, f"task {self.name!r}: {name}", getattr(self, name))


@dataclass(frozen=True, kw_only=True)
class ReportArm:
    """A method with settings.

    Attributes:
        name: Shown in tables and pictures.
        recipe: Name, or path of a TOML file.
        settings: As ``compress --set``.
        against: Name of the arm it is compared with.
        expected: Direction of the difference that a source has published.
        published: Its numbers, as text.
        tasks: Names; empty: all.
    """

    name: str
    recipe: str
    settings: tuple[str, ...] = ()
    against: str | None = None
    expected: Direction | None = None
    published: str = ""
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReportConfig:
    """A report.

    Attributes:
        title: Its heading.
        note: Sentences below it.
        tasks: In their order.
        arms: In the order of the tables.
    """

    title: str
    tasks: tuple[ReportTask, ...]
    arms: tuple[ReportArm, ...]
    note: str = ""

    def __post_init__(self) -> None:
        tasks = [task.name for task in self.tasks]
        for what, names in (("task", tasks), ("arm", [arm.name for arm in self.arms])):
            if not names:
                raise ConfigError(f"expected at least one {what}, found none")
            check_named_once(what, names)
        for arm in self.arms:
            for name in arm.tasks:
                if name not in tasks:
                    raise ConfigError(
                        f"arm {arm.name!r}: unknown task {name!r}; {nearest(name, tasks)}"
                    )

    def arms_of(self, task: ReportTask) -> list[ReportArm]:
        """Return the arms that a task has."""
        return [arm for arm in self.arms if not arm.tasks or task.name in arm.tasks]


def read_report(path: Path, settings: Sequence[str] = ()) -> ReportConfig:
    """Read a report's file, and check that its recipes and their settings exist.

    Args:
        path: TOML.
        settings: ``KEY=value``, of all tasks: ``texts=500``.

    Raises:
        ConfigError: If the file or a setting is wrong; the nearest name is named.
    """
    values = read_toml(path)
    given = parse_overrides(settings)
    if isinstance(values.get("tasks"), list):
        values["tasks"] = [
            merged(task, given) if isinstance(task, Mapping) else task for task in values["tasks"]
        ]
    config = build(ReportConfig, values, source=str(path))
    for task in config.tasks:
        if arms := [experiment_arm(arm, task) for arm in config.arms_of(task)]:
            refuse_unclear(arms, [1])
    return config


def chosen(
    config: ReportConfig, tasks: Sequence[str], arms: Sequence[str]
) -> list[tuple[ReportTask, list[ReportArm]]]:
    """Return the tasks and arms that were asked for, with the arms these are compared with.

    Args:
        config: The report.
        tasks: Names; empty: all.
        arms: Names; empty: all.

    Raises:
        ConfigError: If there is no such task or arm.
    """
    for what, given, known in (
        ("task", tasks, [task.name for task in config.tasks]),
        ("arm", arms, [arm.name for arm in config.arms]),
    ):
        for name in given:
            if name not in known:
                raise ConfigError(f"unknown {what} {name!r}; {nearest(name, known)}")
    found = []
    for task in config.tasks:
        if tasks and task.name not in tasks:
            continue
        here = config.arms_of(task)
        wanted = {arm.name for arm in here if not arms or arm.name in arms}
        while missing := {a.against for a in here if a.name in wanted and a.against} - wanted:
            wanted |= missing
        if wanted:
            found.append((task, [arm for arm in here if arm.name in wanted]))
    if not found:
        raise ConfigError("no task that was asked for has an arm that was asked for")
    return found


def experiment_arm(arm: ReportArm, task: ReportTask) -> Arm:
    """Return an arm for ``experiments.compare``: its settings are what its stages come to."""
    return Arm(
        name=arm.name,
        settings={"stages": stages_of(arm, task)},
        against=arm.against,
        expected=arm.expected,
        published=arm.published,
    )


def stages_of(arm: ReportArm, task: ReportTask) -> list[dict[str, Any]]:
    """Return an arm's stages as plain data.

    What no stage stores is stored in 8 bits, as models are that are given away, so that sizes can
    be compared.

    Raises:
        ConfigError: If there is no such recipe, or its settings are wrong.
    """
    try:
        found = find_recipe(arm.recipe)
        if found.of_encoders:
            raise ConfigError(
                f"recipe {arm.recipe} trains an encoder; a report compares models of a task"
            )
        known = {name for stage in found.stages for name in (stage.action, stage.name)}
        fitting = [one for one in task.settings if one.partition(".")[0] in known]
        recipe = find_recipe(arm.recipe, [*fitting, *arm.settings])
    except ConfigError as error:
        raise ConfigError(f"arm {arm.name!r}: {error}") from None
    if recipe.stages[-1].store is None:
        stored = Stage(name="in-8-bits", store=StoreConfig(bits=8))
        recipe = Recipe(title="", family="", source="", stages=(*recipe.stages, stored))
    stages: list[dict[str, Any]] = tomllib.loads(write_toml(recipe))["stages"]
    return stages


def recipe_of(settings: Mapping[str, Any], seed: int) -> Recipe:
    """Return the recipe of an arm's settings; whatever is random in it follows the seed."""
    own = {"seed": seed}
    drawn = {"tune": {"train": own}, "prune": own, "augment": own}
    stages = []
    for stage in settings["stages"]:
        # Of cuts, new layers alone are random.
        new = {"cut": own} if "lstm" in stage.get("cut", {}) else {}
        stages.append(merged(stage, {k: v for k, v in (drawn | new).items() if k in stage}))
    said = {"title": "an arm of a report", "family": "report", "source": "this file", "name": "arm"}
    return build(Recipe, {**said, "stages": stages}, source="report")
