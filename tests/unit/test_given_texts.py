"""What the predictors take as texts, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zh_albert import load
from zh_albert.checkpoints.resolve import BUNDLED, bundled_names, resolve_model
from zh_albert.errors import CheckpointError, ConfigError, DataError
from zh_albert.tasks.chunks import as_list, chunks
from zh_albert.tasks.ner.examples import as_spans

TEXTS = ["房间很干净", "李华去了[MASK][MASK]"]


@pytest.mark.parametrize("given", [TEXTS, tuple(TEXTS), np.array(TEXTS), iter(TEXTS)])
def test_whatever_has_an_order_is_taken(given: Any) -> None:
    assert as_list(given) == TEXTS


@pytest.mark.parametrize(
    "given", [None, 5, b"text", {"a": 1}, {"a", "b"}, np.array([["a"] * 3]), np.array("a")]
)
def test_anything_else_is_refused_at_once(given: Any) -> None:
    with pytest.raises(DataError, match="texts: expected a string or a list of them, found"):
        as_list(given)
    with pytest.raises(DataError, match="texts: expected a string or a list of them, found"):
        next(chunks(given, 100))


def test_a_string_is_one_text_also_in_a_stream() -> None:
    assert as_list("房间") == ["房间"]
    assert list(chunks("房间", 100)) == [["房间"]]


def test_an_array_of_two_columns_is_pairs() -> None:
    pairs = [("好", "很好"), ("坏", "好")]
    assert as_list(np.array(pairs)) == pairs
    assert list(chunks(np.array(pairs), 100)) == [pairs]
    with pytest.raises(DataError, match=r"texts\[0\]: expected a string, found tuple"):
        load("sentiment")(np.array(pairs))


@pytest.mark.parametrize("name", ["sentiment", "ner"])
def test_a_generator_is_answered_as_its_list_is(name: str) -> None:
    model = load(name)
    assert model(text for text in TEXTS) == model(TEXTS)
    assert len(model(TEXTS)) == 2


def test_a_model_may_be_a_path_and_nothing_else() -> None:
    assert load(Path("ner"))("李华") == load("ner")("李华")
    for wrong in (None, 3, b"ner"):
        with pytest.raises(CheckpointError, match="expected a model's name or folder, found"):
            load(wrong)  # type: ignore[call-overload]


def test_a_text_may_have_no_entities_in_two_ways() -> None:
    assert as_spans(None, "好", "here") == as_spans([], "好", "here") == ()


def test_a_model_from_the_hub_comes_with_all_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub
    from huggingface_hub.utils import filter_repo_objects

    asked: list[list[str]] = []

    def download(model: str, *, allow_patterns: list[str]) -> str:
        asked.append(allow_patterns)
        return str(BUNDLED / model.partition("/")[2])

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    for name in bundled_names():
        folder = resolve_model(f"somebody/{name}")
        files = {path.name for path in folder.iterdir()} - {"curve.jsonl"}  # for the demo
        assert set(filter_repo_objects(files, allow_patterns=asked[-1])) == files


def test_positions_may_be_numpys_but_are_whole_numbers() -> None:
    from zh_albert.tasks.reading.examples import as_spans as as_answers

    assert as_spans([(np.int64(0), np.int64(2), "人")], "李华去了", "here")
    assert as_answers([(np.int64(0), "李华")], "李华去了", "here")
    assert as_answers([{"start": np.int64(2), "text": "去"}], "李华去了", "here")
    for start, end in ((0.9, 2.9), (0, float("inf"))):
        with pytest.raises(DataError, match="expected an entity"):
            as_spans([(start, end, "人")], "李华去了", "here")


def test_a_number_too_large_to_compute_with_is_no_label(tmp_path: Path) -> None:
    from zh_albert.tasks.classification.examples import read_text_examples
    from zh_albert.tasks.embedding.examples import read_embedding_examples

    path = tmp_path / "a.jsonl"
    rows = (
        ('"text": "x"', read_text_examples),
        ('"text_a": "x", "text_b": "y"', read_embedding_examples),
    )
    for text, read in rows:
        path.write_text(f'{{{text}, "label": 1{"0" * 400}}}\n')
        with pytest.raises(DataError, match=r"line 1.*finite"):
            read(path)


@pytest.mark.parametrize(
    "how", [{"runtime": "bogus"}, {"runtime": "onnxruntime"}, {"precision": "int8"}]
)
def test_an_encoder_has_one_engine(how: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        load("encoder", **how)
