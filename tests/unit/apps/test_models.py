"""The models of the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.models import bundled_models, open_models
from tests.helpers.micro import save_micro_models


@pytest.mark.slow
def test_models_are_sorted_by_what_they_do(tmp_path: Path) -> None:
    folders = save_micro_models(tmp_path)
    with pytest.warns(UserWarning, match="chooser: no tab asks a model of choice"):
        models = open_models([str(folder) for folder in folders.values()])

    assert list(models.classifiers) == ["classifier"]
    assert list(models.pairs) == ["pair"]
    assert models.reader is not None
    assert models.embedder is not None
    assert list(models.taggers) == ["tagger"]
    assert list(models.fast) == ["labeller", "regressor"]
    assert models.encoders.names == list(folders)


def test_a_model_is_called_after_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = save_micro_models(tmp_path)["classifier"]
    monkeypatch.chdir(folder)
    assert list(open_models(["."]).classifiers) == ["classifier"]
    (folder / "inner").mkdir()
    assert list(open_models(["inner/.."]).classifiers) == ["classifier"]


@pytest.mark.slow
def test_a_model_with_the_name_of_a_small_one_answers_files_itself(tmp_path: Path) -> None:
    folder = save_micro_models(tmp_path)["classifier"].rename(tmp_path / "news-nano")
    models = open_models([str(folder)], ["news-nano"])
    assert models.in_bulk[str(folder)] is models.classifiers[str(folder)]
    assert models.in_bulk["news-nano"] is models.fast["news-nano"]


@pytest.mark.slow
def test_small_models_answer_files_only() -> None:
    shown, fast = bundled_models()
    assert fast == ["sentiment-nano", "news-nano", "ner-nano"]
    assert not {*shown} & {*fast}
    models = open_models(["news"], ["news-nano"])
    assert list(models.in_bulk) == ["news", "news-nano"]
    assert list(models.classifiers) == models.encoders.names == ["news"]
