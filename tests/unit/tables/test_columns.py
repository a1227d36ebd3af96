"""Which column holds what."""

from __future__ import annotations

import pytest

from zh_albert.errors import DataError
from zh_albert.tables.columns import Row, fields_of, with_fields


def named(columns: dict[str, str], **chosen: str) -> Row:
    [(_, row)] = with_fields([(2, columns)], "a.csv", chosen)
    return row


def test_known_names_are_fields_and_others_stay() -> None:
    with pytest.warns(UserWarning, match="a.csv: texts are read from column '评论内容'"):
        row = named({"订单号": "20260311001", "评论内容": "很好", "情感": "好评"})
    assert row == {"订单号": "20260311001", "text": "很好", "label": "好评"}
    assert row.own == {"订单号": "20260311001", "评论内容": "很好", "情感": "好评"}  # type: ignore[attr-defined]


def test_the_likeliest_of_several_known_names_is_taken() -> None:
    assert fields_of(["title", "content", "text"]) == {"text": "text"}
    assert fields_of(["标题", "内容"]) == {"内容": "text"}
    assert fields_of(["Sentence1", "sentence2", "label"]) == {
        "Sentence1": "text_a",
        "sentence2": "text_b",
        "label": "label",
    }


def test_without_a_known_name_the_column_with_clearly_more_chinese_is_taken() -> None:
    with pytest.warns(UserWarning, match="column '说法'"):
        assert (
            named({"谁": "张三", "说法": "房间很干净，下次还来"})["text"] == "房间很干净，下次还来"
        )
    row = named({"甲": "房间很干净", "乙": "味道太差了"})
    assert "text" not in row


def test_a_chosen_column_counts_whatever_its_name() -> None:
    row = named({"text": "一", "内容": "二"}, text="内容")
    assert row["text"] == "二"
    with pytest.raises(DataError, match="no column '评论' for text, but 'text', '内容'"):
        named({"text": "一", "内容": "二"}, text="评论")
