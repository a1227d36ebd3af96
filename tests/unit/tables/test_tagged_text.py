"""Tokens with tags in columns, and brat's files."""

from __future__ import annotations

from pathlib import Path

import pytest

from zh_albert.errors import DataError
from zh_albert.files.notes import listening
from zh_albert.tables.tagged_text import brat_rows, is_tagged, tagged_rows
from zh_albert.tables.task_rows import read_task_rows
from zh_albert.tasks.ner.examples import read_entity_examples


def rows(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Texts with their entities, as they are written and by type."""
    lines = iter(enumerate(text.split("\n"), start=1))
    return [
        (
            row["text"],
            [(row["text"][e["start"] : e["end"]], e["type"]) for e in row["entities"]],
        )
        for _, row in tagged_rows(lines, "a.bio")
    ]


@pytest.mark.parametrize(
    "tags",
    [
        "B-PER I-PER O B-LOC I-LOC",
        "B-PER E-PER O B-LOC E-LOC",
        "B_PER E_PER O B_LOC E_LOC",
        "B-PER L-PER O B-LOC L-LOC",
        "I-PER I-PER O I-LOC I-LOC",
    ],
)
@pytest.mark.parametrize("separator", [" ", "\t", "\tNN\t"])
def test_every_scheme_and_separator(tags: str, separator: str) -> None:
    text = "\n".join(f"{c}{separator}{t}" for c, t in zip("李华在杭州", tags.split(), strict=True))
    assert is_tagged(text.split("\n"))
    expected = ("李华在杭州", [("李华", "PER"), ("杭州", "LOC")])
    assert rows(f"{text}\n\n\n{text}\n") == [expected] * 2


def test_entities_side_by_side_and_single_tokens() -> None:
    text = "京 S-LOC\n沪 S-LOC\n张 B-PER\n三 I-PER\n李 B-PER\n四 I-PER"
    assert rows(text)[0][1] == [("京", "LOC"), ("沪", "LOC"), ("张三", "PER"), ("李四", "PER")]


def test_words_of_letters_are_apart_and_numbers_behind_characters_go() -> None:
    assert rows("New B-LOC\nYork I-LOC\n在 O")[0] == ("New York在", [("New York", "LOC")])
    assert rows("科0\tO\n技1\tB-X.NAM\n全0\tI-X.NAM")[0] == ("科技全", [("技全", "X.NAM")])


def test_a_line_without_a_tag_is_named() -> None:
    with pytest.raises(DataError, match=r"a\.bio, line 2: expected a token and a tag"):
        rows("李 B-PER\n华")


def test_brat_gives_a_row_for_each_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("李华在杭州\n\n好\n王五", encoding="utf-8")
    (tmp_path / "a.ann").write_text(
        "T1\tPER 0 2\t李华\nT2\tLOC 3 5\t杭州\nT3\tPER 9 11\t王五\nR1\tin Arg1:T1 Arg2:T2\n"
        "T4\tPER 0 1;4 5\t李 州\n",
        encoding="utf-8",
    )
    expected = "left out: 1 relations, events and notes, 1 entities in several pieces or lines"
    for name in ("a.ann", "a.txt"):
        with pytest.warns(UserWarning, match=expected):
            found = read_entity_examples(tmp_path / name)
        assert [example.text for example in found] == ["李华在杭州", "好", "王五"]
        assert [[e.type for e in example.entities] for example in found] == [
            ["PER", "LOC"],
            [],
            ["PER"],
        ]


def test_what_brat_rows_leave_out_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("李华", encoding="utf-8")
    (tmp_path / "a.ann").write_text("T1\tPER 0 2\t李华\nR1\tin Arg1:T1 Arg2:T1\n", encoding="utf-8")
    with listening() as notes:
        list(brat_rows(tmp_path / "a.ann"))
    assert [(note.kind, note.facts) for note in notes] == [
        ("left_out", {"counts": "1 relations, events and notes"})
    ]


def test_an_annotation_that_does_not_fit_its_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("李华在杭州")
    (tmp_path / "a.ann").write_text("T1\tPER 1 3\t李华\n")
    with pytest.raises(DataError, match="line 1: the text has '华在' at 1 to 3"):
        list(brat_rows(tmp_path / "a.ann"))


def test_a_file_of_tags_is_a_task_file(tmp_path: Path) -> None:
    (tmp_path / "a.bio").write_text("李 B-PER\n华 I-PER\n\n好 O\n")
    assert [row["text"] for _, row in read_task_rows(tmp_path / "a.bio")] == ["李华", "好"]


def test_marks_of_new_documents_are_no_texts(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("-DOCSTART- -X- O\n\n李 B-PER\n华 I-PER\n", "utf-8")
    assert [row["text"] for _, row in read_task_rows(tmp_path / "a.txt")] == ["李华"]


@pytest.mark.parametrize("path", [".", "/"])
def test_a_folder_is_no_task_file(path: str) -> None:
    with pytest.raises(DataError, match="expected a file, found a folder"):
        list(read_task_rows(Path(path)))
