"""Recipes: those of the package, overrides, what is refused, and written ones read back."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from zh_albert.compression.recipe import (
    ACTIONS,
    CutConfig,
    PruneConfig,
    Recipe,
    Stage,
    StoreConfig,
    find_recipe,
    recipes,
)
from zh_albert.configio import build, write_toml
from zh_albert.errors import ConfigError
from zh_albert.tasks.classification.finetune import FinetuneConfig

HEAD = 'title = "A recipe"\nfamily = "pipeline"\nsource = "me"\n'
FAMILIES = {
    "augmentation",
    "baseline",
    "distillation",
    "pipeline",
    "pruning",
    "quantization",
    "replacement",
    "sharing",
}


def written(folder: Path, stages: str) -> str:
    path = folder / "mine.toml"
    path.write_text(HEAD + stages, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", recipes())
def test_a_packaged_recipe_says_what_it_is_and_has_settings_that_exist(name: str) -> None:
    recipe = find_recipe(name)
    assert recipe == recipes()[name]
    assert recipe.name == name
    assert recipe.title
    assert recipe.source
    assert recipe.cost
    assert recipe.family in FAMILIES
    for stage in recipe.stages:
        if stage.tune is not None:
            given = {key: value for key, value in stage.tune.items() if key != "init"}
            taught = {"match", "booster", "replace", "teacher"} & given.keys()
            teacher = {"model": "t", "weight": 0.0, **given.pop("teacher", {})} if taught else None
            build(FinetuneConfig, given | ({"teacher": teacher} if teacher else {}))


@pytest.mark.parametrize("name", recipes())
def test_a_recipe_that_is_written_is_read_back(name: str, tmp_path: Path) -> None:
    recipe, path = recipes()[name], tmp_path / f"{name}.toml"
    text = write_toml(recipe)
    path.write_text(text, encoding="utf-8")
    assert find_recipe(str(path)) == recipe
    assert write_toml(find_recipe(str(path))) == text


def test_a_stage_without_settings_is_read_back(tmp_path: Path) -> None:
    recipe = find_recipe(written(tmp_path, '[[stages]]\nname = "learn"\n[stages.tune]\n'))
    assert recipe.stages == (Stage(name="learn", tune={}),)
    (tmp_path / "mine.toml").write_text(write_toml(recipe), encoding="utf-8")
    assert find_recipe(str(tmp_path / "mine.toml")) == recipe


def test_an_unknown_recipe_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"'pkd-skipp'; did you mean 'pkd-skip'.* ends in \.toml"):
        find_recipe("pkd-skipp")
    for name in ("", "../recipes/kd", "kd/../kd"):
        with pytest.raises(ConfigError, match="unknown recipe"):
            find_recipe(name)
    with pytest.raises(ConfigError, match=r"none\.toml: no such file"):
        find_recipe("none.toml")


def test_settings_are_given_by_the_stage_or_by_the_action() -> None:
    names = {stage.name: stage for stage in find_recipe("theseus").stages}
    assert [name for name, stage in names.items() if stage.tune] == ["replace", "learn"]
    one = find_recipe("theseus", ["learn.tune.train.epochs=7"]).stages
    assert [s.tune["train"]["epochs"] for s in one if s.tune] == [2, 7]
    every = find_recipe("theseus", ["tune.train.epochs=7", "cut.layers=2"]).stages
    assert [s.tune["train"]["epochs"] for s in every if s.tune] == [7, 7]
    assert every[0].cut == CutConfig(layers=2)
    both = find_recipe("theseus", ["tune.train.epochs=7", "learn.tune.train.epochs=3"]).stages
    assert [s.tune["train"]["epochs"] for s in both if s.tune] == [7, 3]
    assert find_recipe("theseus") == recipes()["theseus"]  # the package's own is as it was


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("teach.tune.train.epochs=1", r"--set teach: recipe kd has the stages student, learn"),
        ("prune.heads=0.5", "--set prune: recipe kd has the stages"),
        ("learn=1", r"--set learn: .* expected STAGE\.ACTION\.KEY=value"),
        ("student.cut.layer=2", r"'stages\[0\]\.cut\.layer'; did you mean"),
        ("cut.layers=true", r"cut\.layers: expected a number, found true"),
        ("cut.layers=two", r"stages\[0\]\.cut\.layers"),
        ("learn.cut.layers=2", "stage 'learn': expected exactly one of .*, found cut and tune"),
        ("learn.tun.train.epochs=2", r"'stages\[1\]\.tun'; did you mean 'stages\[1\]\.tune'"),
        ("learn", "key=value, found 'learn'"),
    ],
)
def test_settings_that_do_not_fit_are_refused_in_a_line(setting: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as refused:
        find_recipe("kd", [setting])
    assert "\n" not in str(refused.value)


CUT = "[stages.cut]\nlayers = 2\n"
TEXTS = '[[stages]]\nname = "texts"\naugment = { tang = {} }\n'
TAUGHT = '[[stages]]\nname = "a"\ntune = {{ teacher = {{ model = {} }} }}\n'


@pytest.mark.parametrize(
    ("stages", "problem"),
    [
        ("stages = []\n", "at least one stage, found none"),
        ("", r"stages: .*required"),
        ("stages = 3\n", "stages"),
        ('[[stages]]\nname = "a"\n', f"'a': expected exactly one of {', '.join(ACTIONS)}, .* none"),
        (f'[[stages]]\nname = "a"\n{CUT}[stages.tune]\n', "found cut and tune"),
        (f'[[stages]]\nname = "a"\n{CUT}' * 2, "two stages are called 'a'"),
        (f'[[stages]]\nname = "cut"\n{CUT}', "a stage is not called as an action"),
        (f'[[stages]]\nname = "a/b"\n{CUT}', "expected letters, digits and hyphens"),
        (f'[[stages]]\nname = "a"\nfrom = "b"\n{CUT}', "'a' begins from 'b', which is no stage"),
        (f'[[stages]]\nname = "a"\nfrom = "a"\n{CUT}', "'a' begins from 'a', which is no stage"),
        (f'{TEXTS}[[stages]]\nname = "a"\nfrom = "texts"\n{CUT}', "'a' begins from 'texts'"),
        (TEXTS + TAUGHT.format('"stage:texts"'), "'a' learns from 'texts', .*; there are: none"),
        (TAUGHT.format('"stage:a/route"'), "'a' learns from 'a', which is no stage before it that"),
        (
            f'[[stages]]\nname = "b"\n{CUT}' + TAUGHT.format('"stage:b/route"'),
            "'a' learns from the route of 'b', which keeps none; set tune.keep_route = true there",
        ),
        (TAUGHT.format('["news", "stage:b"]') + f'[[stages]]\nname = "b"\n{CUT}', "from 'b'"),
        (
            '[[stages]]\nname = "a"\ntune = { teacher = "news" }\n',
            "stage 'a': tune.teacher: expected a table, as .*, found 'news'",
        ),
        ('[[stages]]\nname = "a"\nprun = {}\n', r"'stages\[0\]\.prun'; did you mean .*prune'"),
        (f'titel = "x"\n[[stages]]\nname = "a"\n{CUT}', "'titel'; did you mean 'title'"),
        (
            '[[stages]]\nname = "a"\n[stages.tune]\n[[stages]]\nname = "b"\n[stages.distil]\n',
            "make two recipes, and fine-tune between them",
        ),
        ('[[stages]]\nname = "a"\n[stages.cut]\n', "found none of them"),
        (
            '[[stages]]\nname = "a"\n[stages.store]\nbits = 9\n',
            "expected 2 to 8 for a weight, found 9",
        ),
    ],
)
def test_recipes_that_say_nothing_clear_are_refused_in_a_line(
    stages: str, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=problem) as refused:
        find_recipe(written(tmp_path, stages))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: CutConfig(layers=()), r"cut\.layers: expected at least one layer"),
        (lambda: CutConfig(layers=(1,), choice="last"), r"of a number stay: .* found \[1\]"),
        (lambda: CutConfig(lstm=1, choice="first"), r"cut\.choice = 'first' .* found none"),
        (lambda: CutConfig(groups=0), r"cut\.groups must be at least 1, got 0"),
        (lambda: CutConfig(embedding_size=0), r"cut\.embedding_size must be at least 1"),
        (lambda: PruneConfig(heads=0.0), r"prune\.heads is the share that stays"),
        (lambda: PruneConfig(neurons=1.5), r"prune\.neurons is the share that stays"),
        (PruneConfig, r"prune: expected a share below 1 of heads, .* found none"),
        (
            lambda: PruneConfig(criterion="closed", heads=0.5),
            "however much that is: leave out heads",
        ),
        (lambda: PruneConfig(heads=0.5, texts=0), r"prune\.texts must be at least 1"),
        (lambda: StoreConfig(bits=1), r"store\.bits: expected 2 to 8"),
        (lambda: StoreConfig(group=1), r"store\.group must be at least 2"),
    ],
)
def test_settings_that_mean_nothing_are_refused(make: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        make()


def test_what_a_recipe_is_given_depends_on_its_stages() -> None:
    assert find_recipe("kd").needs == "a model and labelled files"
    assert find_recipe("distilbert").needs == "an encoder and shards"
    assert (
        Recipe(**_few(), stages=(Stage(name="a", cut=CutConfig(layers=1)),)).stages[0].action
        == "cut"
    )


def _few() -> dict[str, Any]:
    return dict(tomllib.loads(HEAD))
