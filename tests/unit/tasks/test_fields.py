"""Fields of task files."""

from __future__ import annotations

from pathlib import Path

import pytest

from zh_albert.errors import DataError


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
