"""Settings of a stage that trains: which models teach it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.method_runs import save_models
from zh_albert.compression.recipe import Stage, find_recipe
from zh_albert.compression.stages import refuse_unknown_settings
from zh_albert.compression.tuning import tuning
from zh_albert.compression.work import Work
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.tasks.catalog import TASKS


@pytest.fixture
def work(tmp_path: Path) -> Work:
    save_models(tmp_path)
    task, folder = TASKS["classification"], tmp_path / "stages"
    return Work(
        task=task, source=tmp_path / "teacher", train=[], dev=[], unlabelled=[], folder=folder
    )


def test_teachers_are_models_stages_and_all_on_a_route(work: Work) -> None:
    route = [work.folder / "first" / "route" / number for number in ("1", "2")]
    for folder in route:
        folder.mkdir(parents=True)
        (folder / "config.json").touch()

    def teachers(*named: str) -> tuple[str, ...]:
        config, _ = tuning({"teacher": {"model": [*named]}}, work.source, work)
        return tuple(config.teacher.models)

    assert teachers("stage:second", "news") == (str(work.of("second")), "news")
    assert teachers("news", "stage:first/route") == ("news", *map(str, route))


def test_a_route_is_several_teachers_before_it_is_there(work: Work) -> None:
    recipe = find_recipe("rco", ["follow.tune.teacher.turns=greedy"])
    refuse_unknown_settings(recipe, work)


def test_a_model_to_begin_with_is_looked_for_before_the_first_stage(work: Work) -> None:
    recipe = find_recipe("kd", ["learn.tune.init=no-such-encoder"])
    with pytest.raises(CheckpointError, match="'no-such-encoder': no such model"):
        refuse_unknown_settings(recipe, work)


def test_texts_that_nothing_learns_from_are_not_made(work: Work) -> None:
    texts = Stage(name="texts", augment={"tang": {}})
    plain, taught = find_recipe("plain"), find_recipe("kd")
    refuse_unknown_settings(replace(taught, stages=(texts, *taught.stages)), work)
    for stages in ((texts, *plain.stages), (*taught.stages, texts)):
        with pytest.raises(ConfigError, match=r"stage texts: .* no stage after it has a teacher"):
            refuse_unknown_settings(replace(plain, stages=stages), work)
