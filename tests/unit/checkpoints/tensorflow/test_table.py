"""The tables of a TensorFlow checkpoint's index."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from zh_albert.checkpoints.tensorflow.table import read_table, write_table


@given(st.dictionaries(st.binary(max_size=20), st.binary(max_size=300), max_size=40))
def test_a_table_holds_what_was_written(entries: dict[bytes, bytes]) -> None:
    assert read_table(write_table(entries)) == entries
