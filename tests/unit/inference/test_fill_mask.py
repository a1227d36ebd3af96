"""Masks filled by an encoder with random weights: offsets, windows, beams, refusals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.micro import CONFIG, save_micro_pretrained
from zh_albert.checkpoints.store import save_model
from zh_albert.errors import CheckpointError, DataError
from zh_albert.inference.fill_mask import MASK, FillMask, Spot
from zh_albert.model.config import AlbertConfig
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer

ROOM = 22  # tokens of a window, [CLS] and [SEP] not counted
CHARACTERS = "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰余成岁律吕调阳"


@pytest.fixture(scope="module")
def filler(tmp_path_factory: pytest.TempPathFactory) -> FillMask:
    return FillMask(save_micro_pretrained(tmp_path_factory.mktemp("encoder") / "encoder"))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> FillMask:
    """A vocabulary of six characters, so that every filling can be looked at."""
    folder = tmp_path_factory.mktemp("small") / "encoder"
    tokenizer = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *"天地玄黄宇宙"]))
    config = AlbertConfig(
        vocab_size=11,
        embedding_size=8,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        initializer_range=0.5,
    )
    torch.manual_seed(1)
    model = AlbertForPretraining(config)
    with torch.no_grad():
        model.masked_lm.bias[:5] = -60  # no probability is left for special tokens
    save_model(
        folder,
        model=model,
        config=config,
        files=tokenizer.save_files(),
        task={"name": "encoder"},
        dtype=torch.float32,
    )
    return FillMask(folder)


def scores(spots: list[Spot]) -> list[list[tuple[str, float]]]:
    return [[(one.text, one.score) for one in spot.candidates] for spot in spots]


def assert_same(spots: list[Spot], expected: list[Spot]) -> None:
    for one, other in zip(scores(spots), scores(expected), strict=True):
        assert [text for text, _ in one] == [text for text, _ in other]
        assert [s for _, s in one] == pytest.approx([s for _, s in other], abs=2e-6)


pieces = st.one_of(st.sampled_from([MASK, "天地", "iPhone 12", " ", "[MASK", "\ud800", "😀"]))


@given(text=st.lists(pieces, max_size=8).map("".join).filter(lambda text: MASK in text))
def test_spots_are_all_the_masks_of_the_string_in_order(filler: FillMask, text: str) -> None:
    [spots] = filler(text, top_k=1, beams=1)

    assert [(spot.start, spot.end) for spot in spots] == [
        run.span() for run in re.finditer(r"(\[MASK\])+", text)
    ]
    assert all(0 < spot.candidates[0].score < 1 for spot in spots)


def test_candidates_are_ranked_and_top_k_only_cuts_them(filler: FillMask) -> None:
    text = "天地[MASK]黄，[MASK][MASK]洪荒"
    [five], [three] = filler(text), filler(text, top_k=3)

    for spot in five:
        ranks = [one.score for one in spot.candidates]
        assert len(ranks) == 5
        assert ranks == sorted(ranks, reverse=True)
        assert len({one.text for one in spot.candidates}) == 5
    assert scores(three) == [spot[:3] for spot in scores(five)]
    assert len(filler(text, top_k=40)[0][0].candidates) == 40


def test_special_and_unused_rows_are_never_offered(filler: FillMask) -> None:
    everything = [one.text for one in filler("[MASK]", top_k=8960)[0][0].candidates]

    assert len(everything) > 8000
    assert not [text for text in everything if re.fullmatch(r"\[\w+\]", text)]


def test_a_batch_answers_as_each_text_alone(filler: FillMask) -> None:
    texts = [
        "[MASK]地玄黄",
        "宇宙[MASK][MASK]，日月[MASK]昃",
        CHARACTERS + MASK * 3,
        "[MASK]",
        "[MASK]",
    ]
    together = filler(texts)

    for text, spots in zip(texts, together, strict=True):
        assert_same(spots, filler(text)[0])
    for spots, other in zip(together, filler.stream(iter(texts)), strict=True):
        assert not isinstance(other, DataError)
        assert_same(spots, other)


def test_the_probabilities_of_all_fillings_sum_to_one(small: FillMask) -> None:
    [[spot]] = small("宇[MASK][MASK][MASK]地", top_k=6**3, beams=6**3)

    assert len(spot.candidates) == 6**3
    assert sum(one.score for one in spot.candidates) == pytest.approx(1, abs=2e-4)


def test_a_wide_beam_finds_the_best_filling_of_all(small: FillMask) -> None:
    [[everything]] = small("[MASK][MASK][MASK]黄", top_k=6**3, beams=6**3)
    [[found]] = small("[MASK][MASK][MASK]黄", top_k=3)

    assert found.candidates == everything.candidates[:3]


def test_one_beam_fills_the_surest_mask_first(small: FillMask) -> None:
    """Greedy, step by step: a lone mask's scores, the other masks kept apart by what is read."""
    text, done = "玄[MASK][MASK]", 1.0
    for _ in range(2):
        # Spaces keep masks apart in the string; the model reads the same.
        spaced = text.replace(f"{MASK}{MASK}", f"{MASK} {MASK}")
        spot = max(small(spaced)[0], key=lambda spot: spot.candidates[0].score)
        best = spot.candidates[0]
        done *= best.score
        text = (spaced[: spot.start] + best.text + spaced[spot.end :]).replace(" ", "")

    [[greedy]] = small("玄[MASK][MASK]", top_k=1, beams=1)
    assert greedy.candidates[0].text == text.removeprefix("玄")
    assert greedy.candidates[0].score == pytest.approx(done, abs=1e-5)


@pytest.mark.parametrize("masks", [1, 2, 5])
@pytest.mark.parametrize("before", [0, 5, 20, 200])
@pytest.mark.parametrize("after", [0, 5, 21, 200])
def test_a_long_text_is_read_around_its_masks(
    filler: FillMask, before: int, after: int, masks: int
) -> None:
    left, right = (CHARACTERS * 8)[:before], (CHARACTERS * 8)[-after:] * bool(after)
    first = before + masks // 2 - ROOM // 2
    first = max(0, min(first, before + masks + after - ROOM))
    window = left[first:] + MASK * masks + right[: first + ROOM - before - masks]

    [[spot]], [[expected]] = filler(left + MASK * masks + right), filler(window)
    assert_same([spot], [expected])
    assert (spot.start, spot.end) == (before, before + len(MASK) * masks)


def test_each_spot_of_a_long_text_has_its_own_window(filler: FillMask) -> None:
    left, right = f"天地{MASK}黄", f"秋{MASK}冬藏"
    [spots] = filler(left + CHARACTERS * 3 + right)

    assert_same(spots[:1], filler((left + CHARACTERS)[: ROOM + len(MASK) - 1])[0])
    assert len(spots) == 2


def test_a_text_without_a_mask_is_refused_or_its_place_kept(filler: FillMask) -> None:
    with pytest.raises(DataError, match=r"texts\[1\]: expected \[MASK\] in the text, found none"):
        filler(["天[MASK]", "天地"])
    with pytest.raises(DataError, match=r"texts\[0\]: expected a string, found int"):
        filler([3])  # type: ignore[list-item]
    with pytest.raises(DataError, match=r"top_k: expected a whole number of at least 1, found 0"):
        filler("[MASK]", top_k=0)
    answers = list(filler.stream(["天[MASK]", "", "[MASK]地"]))
    assert [isinstance(one, DataError) for one in answers] == [False, True, False]


def test_more_masks_in_a_row_than_the_window_holds_are_refused(filler: FillMask) -> None:
    assert len(filler(MASK * ROOM, top_k=1, beams=1)[0]) == 1
    with pytest.raises(DataError, match=r"23 masks in a row from character 2.*holds 22 tokens"):
        filler("天地" + MASK * 23)


@pytest.mark.parametrize(
    ("text", "start", "end", "hidden"),
    [
        ("去公园散步", 1, 3, "去[MASK][MASK]散步"),
        ("公园", 0, 2, "[MASK][MASK]"),
        ("去[MASK]园", 1, 8, "去[MASK][MASK]"),
        ("花１２元", 1, 3, "花[MASK][MASK]元"),
    ],
)
def test_hiding_a_span_leaves_a_mask_for_each_of_its_tokens(
    filler: FillMask, text: str, start: int, end: int, hidden: str
) -> None:
    assert filler.hide(text, start, end) == hidden


@pytest.mark.parametrize(("start", "end"), [(2, 2), (3, 2), (-1, 2), (0, 9), (1, 2)])
def test_what_is_no_span_with_text_cannot_be_hidden(filler: FillMask, start: int, end: int) -> None:
    with pytest.raises(DataError, match=r"found -?\d:\d|has no tokens"):
        filler.hide("天 地", start, end)


@pytest.mark.parametrize("length", [2, 513, "24", None])
def test_an_impossible_window_is_refused(tmp_path: Path, length: object) -> None:
    folder = save_micro_pretrained(tmp_path / "m", max_length=length)  # type: ignore[arg-type]
    problem = "max_length: expected a whole number|expected max_length from 3 to 512"
    with pytest.raises(CheckpointError, match=problem):
        FillMask(folder)


def test_without_a_trained_length_the_window_is_the_encoders(tmp_path: Path) -> None:
    model = AlbertForPretraining(CONFIG)
    files = default_tokenizer()
    save_model(
        tmp_path / "m",
        model=model,
        config=CONFIG,
        files=files.save_files(),
        task={"name": "encoder"},
    )
    assert FillMask(tmp_path / "m").max_length == 512
