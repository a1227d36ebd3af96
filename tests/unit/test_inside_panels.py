"""The tab that looks into encoders, without a browser: what is drawn is what was computed."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from apps.attention_panels import MEAN, map_panel, overview_panel
from apps.inside_answers import MAX_TOKENS, Picked, enlarge, look
from apps.layer_figure import LayerLine, layer_figure
from apps.models import open_models
from apps.movement_panels import sharing_of
from apps.pixels import shares_picture
from apps.texts.languages import CHINESE
from apps.views import Views
from tests.micro import CONFIG, save_micro_models
from tests.panel_reader import HOSTILE, OURS, Reader
from zh_albert.checkpoints.store import save_model
from zh_albert.inference.introspection import Attention
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.sharing import sharing_plan
from zh_albert.tokenization.tokenizer import default_tokenizer

TAGS = OURS | {"button", "circle", "details", "g", "h4", "line", "polyline", "rect", "summary"}
TAGS |= {"svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr"}
START = Picked(0, 0)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return save_micro_models(tmp_path_factory.mktemp("inside"))


@pytest.fixture
def encoders(folders: dict[str, Path]) -> Views:
    return Views({name: folders[name] for name in ("encoder", "tagger")})


def attention(text: str) -> Attention:
    """Two layers of two heads; the second layer's first head looks at the next token."""
    count = len(text) + 2
    heads = np.full((2, 2, count, count), 1 / count, np.float32)
    heads[1, 0] = np.roll(np.eye(count, dtype=np.float32), 1, axis=1)
    offsets = [None, *((i, i + 1) for i in range(len(text))), None]
    return Attention(["[CLS]", *text, "[SEP]"], offsets, heads)


def test_a_picture_has_a_pixel_for_each_share() -> None:
    shares = np.array([[0.0, 1.0, 0.25], [0.5, 0.0, 2.0]], np.float32)
    content = base64.b64decode(shares_picture(shares).removeprefix("data:image/png;base64,"))

    opacity = np.array(Image.open(io.BytesIO(content)).convert("RGBA"))[..., 3]
    wanted = 255 * np.sqrt(shares.clip(0, 1))
    np.testing.assert_allclose(opacity, wanted, atol=255 / 30)
    assert opacity.shape == (2, 3)


def test_the_map_has_the_texts_characters_on_both_axes_and_the_shares_in_the_cells() -> None:
    panel = map_panel(CHINESE, "我看山", attention("我看山"), 1, 1)

    columns = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', panel)
    rows = re.findall(r'<th scope="row"[^>]*>(.*?)</th>(.*?)</tr>', panel)
    assert columns == [name for name, _ in rows] == ["[CLS]", "我", "看", "山", "[SEP]"]
    filled = [re.findall(r"<td(?: style=\"--p:(\d+)%\")?", cells) for _, cells in rows]
    assert filled[1] == ["", "", "100", "", ""]
    assert "“我”看“看” 100.0%" in panel
    assert "第 2 层 · 第 1 头" in panel
    # Of 我, 看 and 山 two look at the next character, one at [SEP].
    assert re.findall(r"za-count\">([\d.]+)%", panel) == ["0.0", "66.7", "33.3", "0.0"]


def test_where_the_texts_tokens_look_is_summed_up() -> None:
    found = attention("我看山")
    shares = np.zeros((5, 5), np.float32)
    shares[1:4] = [
        [0.1, 0.6, 0.2, 0.1, 0.0],
        [0.0, 0.2, 0.5, 0.1, 0.2],
        [0.0, 0.3, 0.0, 0.4, 0.3],
    ]
    found.probabilities[0, 0] = shares
    panel = map_panel(CHINESE, "我看山", found, 0, 1)

    # Itself 0.6 + 0.5 + 0.4, neighbours 0.2 + 0.3 + 0, special 0.1 + 0.2 + 0.3: of three rows.
    assert re.findall(r"za-count\">([\d.]+)%", panel) == ["50.0", "16.7", "20.0", "13.3"]


def test_the_mean_comes_before_the_first_head() -> None:
    found = attention("我")
    panel = map_panel(CHINESE, "我", found, 1, MEAN)

    share = (1 + 1 / 3) / 2
    assert f"“[CLS]”看“我” {share:.1%}" in panel
    assert "各头平均" in panel


def test_every_head_is_a_button_and_one_is_pressed() -> None:
    panel = overview_panel(CHINESE, attention("我看山"), 1, 2)

    buttons = re.findall(r"<button .*?</button>", panel)
    assert len(buttons) == 2 * 3
    pressed = [button for button in buttons if 'aria-pressed="true"' in button]
    assert len(pressed) == 1
    assert 'data-layer="1" data-head="2"' in pressed[0]
    assert 'tabindex="0"' in pressed[0]
    assert "background-position:100.000% 100.000%" in pressed[0]


@given(st.text(st.characters(codec=None), min_size=1, max_size=10))
def test_text_is_only_ever_text(text: str) -> None:
    panel = map_panel(CHINESE, text, attention(text), 0, 0)

    assert set(Reader(f"<div>{panel}</div>").tags) <= TAGS
    assert not set("$`{}@") & set(panel)


def test_a_line_has_a_point_for_each_layer_and_the_chosen_one_is_on_top() -> None:
    lines = [
        LayerLine("mine <b>", [4.0, 2.0], colour=0, is_chosen=True),
        LayerLine("其他", [1.0, 2.0, 3.0], colour=1, is_dashed=True),
    ]
    drawn = layer_figure("距离", "层", lines, [0, 0, 1])

    assert drawn.count("<circle") == 5
    assert drawn.index("za-dashed") < drawn.index("za-chosen")
    assert "mine &lt;b&gt; · 2: 2.00" in drawn
    (bands,) = re.findall(r'class="za-band" x="([\d.]+)"', drawn)
    assert float(bands) == 40
    heights = [
        float(y) for y in re.findall(r'za-chosen"><polyline points="[\d.]+,([\d.]+) ', drawn)
    ]
    assert heights[0] == pytest.approx(12 + 178 * (1 - 1 / 1.08), abs=0.1)


def test_sharing_is_said_in_words() -> None:
    assert sharing_of(CHINESE, sharing_plan("all", 6)) == "6 层共用一组参数"
    assert sharing_of(CHINESE, sharing_plan("all", 6, 3)) == "6 层，3 组参数"
    assert sharing_of(CHINESE, sharing_plan("none", 6)) == "6 层，参数不共享"
    assert "1 组注意力参数，6 组前馈参数" in sharing_of(CHINESE, sharing_plan("attention", 6))


def test_all_panels_are_drawn_and_the_untrained_reference_is_labelled(encoders: Views) -> None:
    overview, large, movement = look(
        CHINESE, encoders, "我在 A 山", "tagger", Picked(1, 2), asked=False
    )

    assert overview.count("<button") == 2 * 3
    assert "第 2 层 · 第 2 头" in large
    assert all(f">{name}</th>" in large for name in ("我", "在", "A", "山"))
    assert movement.count("<svg") == 2
    assert "随机权重" in movement
    assert "没有训练" in movement
    assert CHINESE.inside.no_unshared in movement
    for panel in (overview, large, movement):
        assert set(Reader(panel).tags) <= TAGS


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
    panel = look(CHINESE, models.encoders, "看山", "own", START, asked=False).movement
    assert "2 层，参数不共享" in panel
    assert "随机权重" not in panel
    assert CHINESE.inside.has_unshared in panel


def test_what_cannot_be_drawn_is_told(encoders: Views) -> None:
    def told(text: str | None, *, asked: bool = True) -> str:
        overview, large, movement = look(CHINESE, encoders, text, "", START, asked=asked)
        assert large == movement == ""
        return overview

    assert 'role="alert"' in told("")
    assert 'role="status"' in told(None, asked=False)
    assert "没有模型能读的字符" in told("\0\u200b")
    assert f"有 {MAX_TOKENS + 1} 个词元" in told("山" * (MAX_TOKENS - 1))
    assert look(CHINESE, encoders, "山" * (MAX_TOKENS - 2), "", START, asked=True).large
    assert "最多画 64 个" in told("山" * 200_000)


def test_a_head_that_the_model_does_not_have_becomes_the_nearest(encoders: Views) -> None:
    assert "第 2 层 · 第 2 头" in enlarge(CHINESE, encoders, "看山", "encoder", Picked(99, 99))
    assert "第 1 层 · 各头平均" in enlarge(CHINESE, encoders, "看山", "nobody", Picked(-1, -1))
    assert enlarge(CHINESE, encoders, "", "encoder", START) == ""


def test_models_are_sorted_by_what_they_do(folders: dict[str, Path]) -> None:
    models = open_models([str(folder) for folder in folders.values()])

    assert list(models.classifiers) == ["classifier"]
    assert list(models.pairs) == ["pair"]
    assert models.reader is not None
    assert list(models.taggers) == ["tagger"]
    assert models.encoders.names == list(folders)


def test_hostile_names_of_models_are_only_text(folders: dict[str, Path]) -> None:
    views = Views({HOSTILE: folders["encoder"]})
    panel = look(CHINESE, views, "看山", HOSTILE, START, asked=False).movement

    assert set(Reader(panel).tags) <= TAGS
