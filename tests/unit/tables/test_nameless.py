"""Files of texts with labels whose columns have no names."""

from __future__ import annotations

from pathlib import Path

import pytest

from zh_albert.errors import DataError
from zh_albert.tables.nameless import names_of_columns
from zh_albert.tables.task_rows import read_task_rows

TEXTS = ["国足客场一比一战平对手", "股市今天又大跌了三个点", "新手机的屏幕可以折叠"] * 4
LABELS = ["体育", "财经", "科技"] * 4


def read(path: Path, lines: list[str]) -> list[dict[str, object]]:
    path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    return [row for _, row in read_task_rows(path)]


@pytest.mark.parametrize("name", ["train.txt", "train.tsv", "train"])
def test_a_text_and_its_label_in_either_order(tmp_path: Path, name: str) -> None:
    expected = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    behind = [f"{text}\t{label}" for text, label in zip(TEXTS, LABELS, strict=True)]
    before = [f"{label}\t{text}" for text, label in zip(TEXTS, LABELS, strict=True)]
    numbered = [f"{n}\t{line}" for n, line in enumerate(behind)]
    assert read(tmp_path / name, behind) == expected
    assert read(tmp_path / name, behind[:3]) == expected[:3]
    assert read(tmp_path / name, before) == expected
    assert [row["text"] for row in read(tmp_path / name, numbered)] == TEXTS


def test_pairs_with_a_label(tmp_path: Path) -> None:
    lines = [f"{text}\t{text}吗\t{n % 2}" for n, text in enumerate(TEXTS)]
    first = read(tmp_path / "lcqmc.tsv", lines)[0]
    assert first == {"text_a": TEXTS[0], "text_b": f"{TEXTS[0]}吗", "label": "0"}


def test_labels_that_are_longer_than_half_a_text(tmp_path: Path) -> None:
    names = ["entailment", "neutral", "contradiction"]
    lines = [f"{n}号楼在前面\t前面有{n}号楼\t{names[n % 3]}" for n in range(30)]
    first = read(tmp_path / "o.tsv", lines)[0]
    assert first == {"text_a": "0号楼在前面", "text_b": "前面有0号楼", "label": "entailment"}


def test_what_tabs_part_and_is_not_clear_asks_for_names(tmp_path: Path) -> None:
    lines = [f"第{n}段文本\t另外的第{n}段" for n in range(30)]
    with pytest.raises(DataError, match=r"line 1: expected texts and a label .*Name the columns"):
        read(tmp_path / "a.tsv", lines)


def test_labels_of_fasttext(tmp_path: Path) -> None:
    lines = ["__label__体育 国足 战平", "__label__体育 __label__财经 球队 上市 了"]
    assert read(tmp_path / "a.txt", lines) == [
        {"text": "国足 战平", "label": "体育"},
        {"text": "球队 上市 了", "label": ["体育", "财经"]},
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [["喜欢猫吗", "喜欢狗吗"]] * 20,  # no column is shorter
        [[text, str(n)] for n, text in enumerate(TEXTS * 4)],  # nothing comes again
        [["好", "坏"], ["好"]],
        [[text, "", "体育"] for text in TEXTS],
        [[text] for text in TEXTS],
    ],
)
def test_what_is_not_clear_has_no_names(rows: list[list[str]]) -> None:
    assert names_of_columns(rows) is None


def test_a_line_of_another_form_is_named(tmp_path: Path) -> None:
    lines = [f"{text}\t{label}" for text, label in zip(TEXTS, LABELS, strict=True)] * 5
    with pytest.raises(DataError, match=r"a\.txt, line 61: expected 2 cells with tabs between"):
        read(tmp_path / "a.txt", [*lines, "没有标签"])
    with pytest.raises(DataError, match="line 1: expected 2 cells with tabs between, found 1"):
        read(tmp_path / "a.txt", ["没有标签", *lines])
    with pytest.raises(DataError, match="line 1: not JSON"):
        read(tmp_path / "a.txt", ["没有标签", *lines[:5]])
