"""Whole files through a model: same rows, same order, and what the page says meanwhile."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import openpyxl
import pytest

from apps.tables import open_table, read_rows
from apps.tabs.batch.job import BatchJob, fields_of
from apps.tabs.batch.panels import job_panel, table_panel
from apps.tabs.batch.strings import CHINESE, ENGLISH
from tests.helpers.panel_reader import HOSTILE, OURS, PanelReader, check_is_only_text
from zh_albert.errors import DataError
from zh_albert.tasks.classification.predictor import Classification, Classifier, Estimate, Regressor
from zh_albert.tasks.ner.predictor import Entity, Tagger
from zh_albert.tasks.reading.predictor import Answer, Reader
from zh_albert.tasks.texts import has_content

TAGS = OURS | {"h4", "table", "thead", "tbody", "tr", "th", "td"}


class Grader(Classifier):
    """Says whether a text has 好 in it."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        pass

    def stream(self, texts: Iterable[Any]) -> Iterator[Classification | DataError]:
        for text in texts:
            if not has_content(text):
                yield DataError("the text is empty")
            else:
                label = "positive" if "好" in text else "negative"
                yield Classification(label, 0.75, {label: 0.75})


class Watching(Grader):
    """Knows how many texts it is handed at once."""

    most = 0

    def stream(self, texts: Iterable[Any]) -> Iterator[Any]:
        found = list(texts)
        self.most = max(self.most, len(found))
        yield from super().stream(found)


class Tiring(Grader):
    """Answers 256 texts at once, no fewer."""

    def stream(self, texts: Iterable[Any]) -> Iterator[Any]:
        found = list(texts)
        if len(found) < 256:
            raise MemoryError
        yield from super().stream(found)


class Finder(Tagger):
    """Finds the first character of every text."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        pass

    def stream(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        for text in texts:
            yield [Entity(0, 1, "name", text[0], 0.5)] if text else []


class Matcher(Regressor):
    """Counts the characters that two texts share."""

    pairs = True

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        pass

    def stream(self, texts: Iterable[Any]) -> Iterator[Estimate | DataError]:
        for first, second in texts:
            yield Estimate(len({*first} & {*second}) + 0.25)


class Locator(Reader):
    """Finds the question's first character."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        pass

    def stream(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Answer | DataError]:
        for question, context in pairs:
            if not question:
                yield DataError("the question is empty")
            else:
                at = context.find(question[0])
                yield Answer(at, at + 1, question[0], 0.5) if at >= 0 else Answer(0, 0, "", 0.5)


def job_for(
    folder: Path,
    content: str,
    *,
    name: str = "t.csv",
    model: Any = None,
    columns: Sequence[str] = (),
) -> BatchJob:
    path = folder / name
    path.write_bytes(content.encode())
    table = open_table(CHINESE.page.tables, path)
    read = columns or [table.column_of("text") or next(iter(table.columns))]
    job = BatchJob(CHINESE, table, read, "mine", model or Grader())
    job.folder = folder / "job"
    job.folder.mkdir()
    return job


def cells(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def sheet(path: Path) -> list[list[str]]:
    rows = openpyxl.load_workbook(path)["answers"].iter_rows(values_only=True)
    return [["" if cell is None else str(cell) for cell in row] for row in rows]


def test_a_csv_keeps_rows_columns_and_order(tmp_path: Path) -> None:
    lines = [
        ["id", "text", "label"],
        ["1", "很好，\n“真的”", "x"],
        ["2", " ", "y"],
        ["3", "差", "z"],
    ]
    path = tmp_path / "t.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(lines)
    job = job_for(tmp_path, path.read_text(encoding="utf-8"))
    job.run()

    assert job.state == "done"
    assert [path.name for path in job.outputs] == ["t-mine.xlsx", "t-mine.csv"]
    book, table = job.outputs
    assert table.read_bytes().startswith(b"\xef\xbb\xbf"), "Excel reads it as UTF-8"
    written = cells(table)
    assert written[0] == [*lines[0], "predicted_label", "score", "error"]
    assert [row[:3] for row in written] == lines
    assert written[1][3:] == ["positive", "0.75", ""]
    assert written[2][3:] == ["", "", "这一行没有文字"]
    assert sheet(book) == written
    assert job.counts == {"positive": 1, "negative": 1}
    assert job.unanswered == 1


def test_no_cell_of_a_result_is_a_formula(tmp_path: Path) -> None:
    texts = ["=1+1", "+好", "-2+3", "@好", "\t=1", "\r=1", "'=1", "-5", "a\rb"]
    path = tmp_path / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(
            [["=text", "text"], *zip(texts, texts, strict=True)]
        )
    job = job_for(tmp_path, path.read_bytes().decode(), columns=["text"])
    job.run()

    book, result = job.outputs
    header, *rows = cells(result)
    assert header[0] == "'=text"
    starts = ("=", "+", "-", "@", "\t", "\r")
    assert [cell for row in rows for cell in row if cell.startswith(starts)] == ["-5"] * 2
    # A workbook says which cells are formulas: the texts are as they are.
    [first, *others] = openpyxl.load_workbook(book)["answers"].iter_rows()
    found = [cell for row in [first, *others] for cell in row[:2]]
    read = [text.replace("'=1", "=1") for text in texts]  # the apostrophe is taken for ours
    assert [cell.value for cell in found[2::2]] == [text.replace("\r", "\n") for text in read]
    assert {cell.data_type for cell in found} == {"s"}
    assert all(cell.quotePrefix for cell in found if cell.value.startswith(("=", "+", "@", "'=")))
    again = open_table(CHINESE.page.tables, result)
    read = [row for _, row in read_rows(CHINESE.page.tables, again.path) if isinstance(row, dict)]
    # An apostrophe that was there before a formula is taken for ours, and comes back in a result.
    assert [row["=text"] for row in read] == [text.replace("'=1", "=1") for text in texts]
    second = BatchJob(CHINESE, again, ["text"], "mine", Grader())
    second.folder = tmp_path
    second.run()
    assert [row[:2] for row in cells(second.outputs[1])] == [row[:2] for row in [header, *rows]]


def test_json_lines_keep_their_objects(tmp_path: Path) -> None:
    objects = [{"text": "王芳来了", "n": 1}, {"n": [2]}, {"text": "好", "x": None}]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in objects)
    job = job_for(tmp_path, lines, name="t.jsonl", model=Finder())
    job.run()

    book, lined = job.outputs
    assert lined.name == "t-mine.jsonl"
    written = [json.loads(line) for line in lined.read_text("utf-8").splitlines()]
    new = ("entities", "error")
    assert [{k: v for k, v in row.items() if k not in new} for row in written] == objects
    assert written[0]["entities"] == [
        {"start": 0, "end": 1, "type": "name", "text": "王", "score": 0.5}
    ]
    assert [row.get("error") for row in written] == [None, "这一行没有文字", None]
    assert job.counts == {"name": 2}
    assert sheet(book) == [
        ["text", "n", "x", "entities", "error"],
        ["王芳来了", "1", "", "王/name", ""],
        ["", "[2]", "", "", "这一行没有文字"],
        ["好", "", "", "好/name", ""],
    ]


def test_a_result_has_the_chinese_names_of_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Grader, "metadata", {"label_zh": {"positive": "好评"}})
    job = job_for(tmp_path, "text\n好\n差\n")
    job.run()
    for table in (cells(job.outputs[1]), sheet(job.outputs[0])):
        column = table[0].index("label_zh")
        assert [row[column] for row in table[1:]] == ["好评", "negative"]


def test_texts_that_are_cut_for_the_workbook_are_told(tmp_path: Path) -> None:
    job = job_for(tmp_path, f"text\n好\n{'长' * 40_000}\n")
    job.run()
    assert len(cells(job.outputs[1])[2][0]) == 40_000
    assert len(sheet(job.outputs[0])[2][0]) == 32_767
    assert "在 .xlsx 里截短了" in job_panel(CHINESE, job, 0)


def test_a_damaged_row_stands_in_its_place(tmp_path: Path) -> None:
    job = job_for(tmp_path, "text,n\n很好,啊,3\n很好,1\n差\n差,2\n")
    job.run()
    table = cells(job.outputs[1])
    assert table[0] == ["text", "n", "label", "score", "error"]
    assert [row[0] for row in table[1:]] == ["", "很好", "", "差"]
    assert [row[4] for row in table[1:]] == [
        *("第 2 行有 3 格，表头有 2 格", "", "第 4 行有 1 格，表头有 2 格", "")
    ]
    assert job.counts == {"positive": 1, "negative": 1}
    assert "第 2 行有 3 格" in job_panel(CHINESE, job, 0)


def test_pairs_and_questions_read_two_columns(tmp_path: Path) -> None:
    content = "句子1,句子2\n今天下雨,今天晴\n今天下雨,\n甲,乙\n"
    job = job_for(tmp_path, content, model=Matcher(), columns=["句子1", "句子2"])
    assert [job.table.column_of(field) for field in fields_of(job.model)] == ["句子1", "句子2"]
    job.run()
    header, *rows = cells(job.outputs[1])
    assert header[2:] == ["value", "error"]
    assert [row[2] for row in rows] == ["2.25", "", "0.25"]
    assert [row[3] for row in rows] == ["", "这一行缺了一段文字", ""]
    assert job.counts == {"2–3": 1, "0–1": 1}
    panel = job_panel(CHINESE, job, 0)
    assert panel.index("0–1") < panel.index("2–3"), "in the order of the scale"

    content = "context,问题\n图书馆九点开门,九点吗\n图书馆九点开门,谁\n"
    job = job_for(tmp_path / "job", content, model=Locator(), columns=["问题", "context"])
    assert [job.table.column_of(field) for field in fields_of(job.model)] == ["问题", "context"]
    job.run()
    assert job.counts == {"answer": 1, "none": 1}
    assert job.head[0][1]["text"] == "九"
    assert "文中没有答案" in job_panel(CHINESE, job, 0)


def test_values_are_counted_in_the_order_of_the_scale(tmp_path: Path) -> None:
    job = job_for(tmp_path, "text\n好\n", model=Matcher())
    steps = ["-2–-1", "-1–0", "0–1", "2–3", "10–11"]
    job.state = "done"
    job.counts.update(sorted(steps))
    panel = job_panel(CHINESE, job, 0)
    assert sorted(steps, key=lambda step: panel.index(f'"{step}"')) == steps


def test_results_are_named_after_the_table_and_the_model(tmp_path: Path) -> None:
    table = job_for(tmp_path, "text\n好\n").table
    for name in ("../b/mine", "/home/b/mine"):
        job = BatchJob(CHINESE, table, ["text"], name, Grader())
        job.folder = tmp_path
        job.run()
        assert job.outputs == [tmp_path / "t-mine.xlsx", tmp_path / "t-mine.csv"]


def test_a_job_that_is_stopped_or_fails_leaves_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_for(tmp_path, "text\n好\n差\n")
    job.stop()
    job.run()
    assert job.state == "stopped"
    assert not list(job.folder.iterdir())
    assert "没有留下结果文件" in job_panel(CHINESE, job, 0)

    job = BatchJob(CHINESE, job.table, ["text"], "mine", Grader())
    job.folder = tmp_path / "job"
    monkeypatch.setattr(Grader, "stream", lambda *_: _fail())
    job.run()
    assert job.state == "failed"
    assert not list(job.folder.iterdir())
    assert "no memory &lt;b&gt;" in job_panel(CHINESE, job, 0)


def test_a_job_that_fails_half_way_leaves_no_file_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    job = job_for(tmp_path, "text\n" + "好\n" * 300, model=Tiring())
    job.run()
    assert (job.state, job.done) == ("failed", 256)
    assert [*temporary.iterdir(), *job.folder.iterdir()] == []


def _fail() -> Iterator[Any]:
    raise MemoryError("no memory\n<b>")
    yield


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    model = Watching()
    job = job_for(tmp_path, "text\n" + "好\n" * 5_000, model=model)
    job.run()
    assert job.done == 5_000
    assert model.most == 256
    assert len(job.head) == 5


def test_the_panels_show_file_progress_counts_and_rows(tmp_path: Path) -> None:
    job = job_for(tmp_path, "text\n很好\n,\n".replace(",", '""') + "差\n差\n")
    panel = table_panel(CHINESE, job.table, ["text"])
    assert "“t.csv”共 4 行，1 列" in panel
    assert "“text”一列有 1 行没有文字" in panel
    assert "前面还有 2 个任务" in job_panel(CHINESE, job, 2)
    job.run()
    panel = job_panel(CHINESE, job, 0)
    assert "完成：4 行" in panel
    assert PanelReader(panel).bars[1:] == [pytest.approx(66.7), pytest.approx(33.3)]
    assert panel.index("差评") < panel.index("好评")
    assert "<td>好评</td><td>很好</td><td>75.0%</td>" in panel
    assert "<td>Positive</td>" in job_panel(ENGLISH, job, 0)
    assert "Done: 4 rows" in job_panel(ENGLISH, job, 0)
    assert "哪一列是要读的文本？" in table_panel(CHINESE, job.table, [None])


def test_hostile_names_and_cells_are_only_text(tmp_path: Path) -> None:
    cells = json.dumps({HOSTILE: HOSTILE, "text": HOSTILE})
    job = job_for(tmp_path, cells, name="t.jsonl")
    job.run()
    for panel in (table_panel(CHINESE, job.table, [HOSTILE]), job_panel(CHINESE, job, 0)):
        check_is_only_text(panel, TAGS)
