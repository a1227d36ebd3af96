"""The answers of the tab that looks into the encoders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from apps.encoder_cache import EncoderCache
from apps.models import open_models
from apps.tabs.inside.answers import MAX_TOKENS, Head, InsideAnswers
from apps.tabs.inside.strings import CHINESE
from tests.helpers.micro import CONFIG, save_micro_models
from tests.helpers.panel_reader import HOSTILE, OURS, PanelReader
from zh_albert.checkpoints.store import save_model
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.tokenization.tokenizer import default_tokenizer

TAGS = OURS | {"button", "circle", "details", "g", "h4", "line", "polyline", "rect", "summary"}
TAGS |= {"svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr"}
START = Head(0, 0)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return save_micro_models(tmp_path_factory.mktemp("inside"))


@pytest.fixture
def encoders(folders: dict[str, Path]) -> EncoderCache:
    return EncoderCache({name: folders[name] for name in ("encoder", "tagger")})


def test_all_panels_are_drawn_and_the_untrained_reference_is_labelled(
    encoders: EncoderCache,
) -> None:
    answers = InsideAnswers(CHINESE, encoders)
    overview, large, movement = answers.typed("我在 A 山", "tagger", Head(1, 2))

    assert overview.count("<button") == 2 * 3
    assert "第 2 层 · 第 2 头" in large
    assert all(f">{name}</th>" in large for name in ("我", "在", "A", "山"))
    assert movement.count("<svg") == 2
    assert "随机权重" in movement
    assert "没有训练" in movement
    assert CHINESE.no_unshared in movement
    for panel in (overview, large, movement):
        assert set(PanelReader(panel).tags) <= TAGS


def test_a_trained_unshared_model_takes_the_place_of_the_random_one(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    config = replace(CONFIG, sharing="none")
    torch.manual_seed(0)
    own = AlbertEncoder(config)
    files = default_tokenizer().save_files()
    save_model(tmp_path / "own", model=own, config=config, files=files, task={})
    models = open_models([str(folders["encoder"]), str(tmp_path / "own")])

    assert models.encoder is not None
    assert models.encoders.names == ["encoder", "own"]
    panel = InsideAnswers(CHINESE, models.encoders).typed("看山", "own", START).movement
    assert "2 层，参数不共享" in panel
    assert "随机权重" not in panel
    assert CHINESE.has_unshared in panel


def test_what_cannot_be_drawn_is_told(encoders: EncoderCache) -> None:
    answers = InsideAnswers(CHINESE, encoders)

    def told(text: str) -> str:
        overview, large, movement = answers.asked(text, "", START)
        assert large == movement == ""
        return overview

    assert 'role="alert"' in told("")
    assert 'role="status"' in answers.typed(None, "", START).overview
    assert "没有模型能读的字符" in told("\0\u200b")
    assert f"有 {MAX_TOKENS + 1} 个词元" in told("山" * (MAX_TOKENS - 1))
    assert answers.asked("山" * (MAX_TOKENS - 2), "", START).enlarged
    assert "最多画 64 个" in told("山" * 200_000)


def test_a_head_that_the_model_does_not_have_becomes_the_nearest(encoders: EncoderCache) -> None:
    answers = InsideAnswers(CHINESE, encoders)

    assert "第 2 层 · 第 2 头" in answers.enlarged("看山", "encoder", Head(99, 99))
    assert "第 1 层 · 各头平均" in answers.enlarged("看山", "nobody", Head(-1, -1))
    assert answers.enlarged("", "encoder", START) == ""


def test_hostile_names_of_models_are_only_text(folders: dict[str, Path]) -> None:
    answers = InsideAnswers(CHINESE, EncoderCache({HOSTILE: folders["encoder"]}))
    panel = answers.typed("看山", HOSTILE, START).movement

    assert set(PanelReader(panel).tags) <= TAGS
