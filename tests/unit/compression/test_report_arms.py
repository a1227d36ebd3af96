"""A report's file: what is read, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.compression_reports import write_report
from zh_albert.compression.report_arms import (
    ReportArm,
    chosen,
    read_report,
    recipe_of,
    stages_of,
)
from zh_albert.errors import ConfigError

DOCS = Path(__file__).parents[3] / "docs" / "recipes"


def file(tmp_path: Path, *changed: tuple[str, str]) -> Path:
    return write_report(tmp_path, Path("news"), *changed)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('recipe = "kd"', 'recipe = "kdd"', "arm 'kd, T = 4': unknown recipe 'kdd'; did you mean"),
        (
            'against = "plain"',
            'against = "plane"',
            "found 'plane'; did you mean 'plain'?",
        ),
        ('against = "plain"', 'against = "kd, T = 4"', "another arm after 'against'"),
        ('tasks = ["reviews"]', 'tasks = ["revue"]', "unknown task 'revue'; did you mean"),
        ("store.bits=4", "store.bits=9", "arm '4 bits'.*2 to 8"),
        ("texts = 24", "texts = 0", "texts must be at least 1, got 0"),
        ("texts = 24", "text = 24", r"unknown key 'tasks\[0\].text'; did you mean"),
        ('name = "again"', 'name = "reviews"', "two tasks are called 'reviews'"),
        ('expected = "higher"', 'expected = "more"', "expected.*'higher' or 'lower'"),
        ('recipe = "quantize"', 'recipe = "distilbert"', "trains an encoder"),
        ('against = "plain"\n', "", "but not said than what"),
    ],
)
def test_what_is_wrong_is_refused_with_the_nearest(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    changed = file(tmp_path, (old, new))
    with pytest.raises(ConfigError, match=said) as refused:
        read_report(changed)
    assert "\n" not in str(refused.value)


def test_arms_that_are_asked_for_bring_what_they_are_compared_with(tmp_path: Path) -> None:
    config = read_report(file(tmp_path))
    ((task, arms),) = chosen(config, [], ["kd, T = 4"])

    assert (task.name, [arm.name for arm in arms]) == ("reviews", ["plain", "kd, T = 4"])
    assert [one.name for one, _ in chosen(config, ["again"], [])] == ["again"]
    assert [len(here) for _, here in chosen(config, [], [])] == [3, 1]
    for tasks, names, said in (
        (["agai"], [], "unknown task 'agai'; did you mean 'again'"),
        ([], ["plan"], "unknown arm 'plan'; did you mean 'plain'"),
        (["again"], ["plain"], "no task that was asked for"),
    ):
        with pytest.raises(ConfigError, match=said):
            chosen(config, tasks, names)


def test_arms_differ_in_what_they_do_not_in_their_names(tmp_path: Path) -> None:
    task = read_report(file(tmp_path)).tasks[0]
    one = ReportArm(name="a", recipe="kd")
    same = ReportArm(name="b", recipe="kd", settings=("tune.teacher.temperature=2.0",))
    other = ReportArm(name="b", recipe="kd", settings=("tune.teacher.temperature=3.0",))

    assert stages_of(one, task) == stages_of(same, task) != stages_of(other, task)
    cut, learn, stored = stages_of(one, task)
    assert cut["cut"]["layers"] == 1  # the task's setting
    assert learn["tune"]["train"]["epochs"] == 1
    assert stored["store"] == {"bits": 8}  # as models that are given away


def test_settings_of_the_command_are_of_all_tasks(tmp_path: Path) -> None:
    config = read_report(file(tmp_path), ["texts=7"])
    assert [task.texts for task in config.tasks] == [7, 7]


def test_the_seed_is_that_of_every_training_and_choice(tmp_path: Path) -> None:
    task = read_report(file(tmp_path)).tasks[0]
    arm = ReportArm(name="a", recipe="smallest", settings=("prune.criterion=random",))
    stages = {stage.name: stage for stage in recipe_of({"stages": stages_of(arm, task)}, 7).stages}

    seeds = [stages[name].tune for name in ("teach", "learn", "round")]
    assert [tune["train"]["seed"] for tune in seeds if tune] == [7, 7, 7]
    assert stages["remove"].prune
    assert stages["remove"].prune.seed == 7


def test_the_seed_is_that_of_new_layers_and_further_texts(tmp_path: Path) -> None:
    task = read_report(file(tmp_path, ('    "cut.layers=1",\n', ""))).tasks[0]

    def seeds(recipe: str) -> list[int]:
        stages = recipe_of(
            {"stages": stages_of(ReportArm(name="a", recipe=recipe), task)}, 7
        ).stages
        drawn = [s.augment["seed"] for s in stages if s.augment]
        return drawn + [s.cut.seed for s in stages if s.cut]

    assert seeds("bilstm") == [7, 7]
    assert seeds("kd") == [1]  # nothing is drawn: the recipe stays what it was


@pytest.mark.slow
def test_the_reports_in_the_docs_can_be_run() -> None:
    config = read_report(DOCS / "compression-report.toml")
    counts = {task.name: len(arms) for task, arms in chosen(config, [], [])}
    assert counts == {"TNEWS": 51, "OCNLI": 11, "CMRC": 11}
