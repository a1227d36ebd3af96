"""Fields of task files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zh_albert.errors import DataError
from zh_albert.tasks.classification.examples import read_text_examples
from zh_albert.tasks.embedding.examples import read_embedding_examples
from zh_albert.tasks.ner.examples import as_spans, read_entity_examples


def test_a_number_too_large_to_compute_with_is_no_label(tmp_path: Path) -> None:
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
    ("labels", "expected"),
    [
        (["好评", "好评 ", "\u3000好评", "好评\xa0", "\ufeff差评"], ["好评"] * 4 + ["差评"]),
        ([1, 1.0, 1, 2], [1, 1.0, 1, 2]),
        (["1", "1.0", "1.00", " 1 ", "1.5"], ["1", "1", "1", "1", "1.5"]),
        ([1, 1.0, "1", "1.0", "0", 0.5], ["1", "1", "1", "1", "0", "0.5"]),
        (["0", 1.0], ["0", "1"]),
    ],
)
def test_a_label_has_one_name_however_it_is_written(
    tmp_path: Path, labels: list[str | float], expected: list[str | float]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": "好", "label": one}) + "\n" for one in labels))
    assert [example.label for example in read_text_examples(path)] == expected


@pytest.mark.timeout(20)
def test_quoted_and_bare_numbers_in_turn_are_read_at_once(tmp_path: Path) -> None:
    rows = [{"text": "好", "label": "1"}, *({"text": "好", "label": n % 2} for n in range(20_000))]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert {example.label for example in read_text_examples(path)} == {"0", "1"}


def test_a_number_beside_a_word_is_a_slip(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "好", "label": 1}\n{"text": "好", "label": "good"}\n')
    with pytest.raises(
        DataError, match="line 2: \"label\" is a string, 'good', the first a number"
    ):
        read_text_examples(path)


def test_types_of_entities_have_one_name_too(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"text": "杭州", "entities": [{"start": 0, "end": 2, "type": " 地\\u3000"}]}\n'
    )
    [example] = read_entity_examples(path)
    assert example.entities == as_spans([(0, 2, "地 ")], "杭州", "here")
