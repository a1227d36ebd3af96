"""Tables as people's programs write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from zh_albert.tables.delimited import csv_rows, is_csv
from zh_albert.tables.table_error import TableError


def rows(text: str) -> list[dict[str, str]]:
    lines = enumerate(text.splitlines(keepends=True), start=1)
    return [row for _, row in csv_rows(lines, "a.csv")]


ROW = [{"text": "好,很", "label": "1"}]


@pytest.mark.parametrize(
    "text",
    [
        'text,label\n"好,很",1\n',
        "text;label\r\n好,很;1\r\n",
        "text\tlabel\n好,很\t1\n",
        "text|label\n好,很|1\n",
        '\n\n,text,label\n0,"好,很",1\n',
        'text,label,,\n"好,很",1,,\n\n',
        'text\tlabel\n"好,很"\t1\n',
        '"text";"label"\n"好,很";"1"\n;\n',
        'text,label\n \n"好,很",1\n,\n',
    ],
)
def test_any_separator_index_and_empty_columns(text: str) -> None:
    assert rows(text) == ROW


def test_a_quote_beside_tabs_is_part_of_a_text() -> None:
    text = 'label\ttext_a\n1\t他说"好\n0\t"差"的\n1\t"""好"""\n'
    assert [row["text_a"] for row in rows(text)] == ['他说"好', '"差"的', '"好"']


def test_names_of_columns_that_come_again_are_left_out_and_told() -> None:
    with pytest.warns(UserWarning, match="a.csv, line 3: left out, for it names the columns again"):
        found = rows('text,label\n"好,很",1\ntext,label\n"好,很",1\n')
    assert found == ROW * 2


def test_a_title_above_the_names_is_left_out_and_told() -> None:
    with pytest.warns(UserWarning, match="a.csv: what stands above .* is left out: '九月的评论'"):
        found = rows("九月的评论,,\n,,\n订单,评论,情感\n1,很好,好评\n")
    assert found == [{"订单": "1", "评论": "很好", "情感": "好评"}]
    # Texts that look like names are no reason to take the first row for a title.
    assert rows("客人的话\n内容\n标题\n") == [{"客人的话": "内容"}, {"客人的话": "标题"}]


def test_a_title_above_names_that_are_not_known_is_left_out() -> None:
    with pytest.warns(UserWarning, match="a.csv: what stands above .* is left out: '客户投诉'"):
        found = rows("客户投诉,,\n,,\n工单号,手机号,投诉内容\n1,138,很差\n2,,\n3,139,太慢\n")
    assert found[0] == {"工单号": "1", "手机号": "138", "投诉内容": "很差"}
    assert len(found) == 3
    # A single name of texts whose commas are not quoted is no title.
    lines = enumerate(["投诉内容\n", "太慢,很差\n", "很好\n", "太,慢\n"], start=1)
    assert [*csv_rows(lines, "a.csv", in_place=True)][1] == (3, {"投诉内容": "很好"})
    # Nor is a name above cells that are no names.
    with pytest.raises(TableError, match="line 2: expected a name for each column"):
        rows("说的话,\n太慢了。,1\n很好,2\n")


def test_cells_that_were_made_harmless_are_read_back() -> None:
    assert rows("text,label\n'=1+1,'-x\n") == [{"text": "=1+1", "label": "-x"}]


@pytest.mark.parametrize(
    ("text", "kind", "problem"),
    [
        ("text,label\n好\n", "ragged", "line 2: expected 2 cells as in the first row, found 1"),
        ("text,label\n好,1,2\n", "ragged", "found 3"),
        ("text,text\n好,1\n", "bad_header", "no two alike"),
        ("text,,label\n好,1,2\n", "bad_header", "a name for each column"),
        (",,text\n好,1,2\n", "bad_header", "a name for each column"),
        ("text,\n好,1\n", "bad_header", "line 2: expected a name for each column"),
        ('text,label\n"好,1\n', "bad_csv", "a quote is not closed"),
    ],
)
def test_what_is_no_table_is_named(text: str, kind: str, problem: str) -> None:
    with pytest.raises(TableError, match=problem) as error:
        rows(text)
    assert error.value.kind == kind


def test_pairs_of_texts_with_tabs_are_no_table(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("房间很干净\t很干净\n")
    (tmp_path / "table.tsv").write_text("标签\t文本\n1\t很干净\n")
    assert not is_csv(tmp_path / "pairs.tsv")
    assert is_csv(tmp_path / "table.tsv")
    (tmp_path / "own.tsv").write_text("说的话\t好坏\n很干净\t1\n")
    assert not is_csv(tmp_path / "own.tsv")
    assert is_csv(tmp_path / "own.tsv", ["好坏"])
    assert not is_csv(tmp_path / "pairs.tsv", ["好坏"])
    assert is_csv(Path("A.CSV.xz"))


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ('text\tlabel\n"房间好，\n早餐差"\t1\n不错\t0\n', ["房间好，\n早餐差", "不错"]),
        ('label\ttext\n1\t"一\r\n\r\n二"\r\n0\t"a\tb"\r\n', ["一\r\n\r\n二", "a\tb"]),
        ('text\tlabel\n"好 吃\t1\n别的"\t0\n', ['"好 吃', '别的"']),
        ('label\ttext\n1\t"abc\n0\tdef"\n', ['"abc', 'def"']),
        ('label\ttext\n1\t"abc\n', ['"abc']),
    ],
)
def test_a_quoted_cell_beside_tabs_may_have_tabs_and_line_ends(text: str, texts: list[str]) -> None:
    assert [row["text"] for row in rows(text)] == texts
