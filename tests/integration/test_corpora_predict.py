"""``zh-corpora predict``: many files answered as ``zh-albert predict`` answers one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.cluster import zh_corpora
from zh_albert.errors import DataError
from zh_albert.inference.loading import load

TEXTS = ["房间很干净", "", "太差了，再也不来", "山" * 300, "😀 好！"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    (folder / "more").mkdir(parents=True)
    rows = [json.dumps({"text": text}, ensure_ascii=False) for text in TEXTS]
    (folder / "a.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "b.txt").write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    table = "id,text\n" + "".join(f'{n},"{text}"\n' for n, text in enumerate(TEXTS))
    (folder / "more" / "c.csv").write_text(table, encoding="utf-8")
    return folder


def run(files: Path, model: Path, out: Path, *options: object) -> dict[str, object]:
    inputs = [files / "a.jsonl", files / "b.txt", files / "more" / "*.csv"]
    ran = zh_corpora("predict", model, *inputs, out, "--json", *options)
    assert ran.returncode == 0, ran.stderr
    counts: dict[str, object] = json.loads(ran.stdout)
    return counts


def check(out: Path, model: Path) -> None:
    expected = load(str(model)).stream(iter(TEXTS))
    labels = [None if isinstance(one, DataError) else one.label for one in expected]
    for name in ("a.jsonl", "b.txt", "c.csv"):
        lines = (out / f"{name}.answers.jsonl").read_text("utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        assert [row["label"] for row in rows] == labels
        assert [("error" in row) for row in rows] == [not text for text in TEXTS]


@pytest.mark.parametrize("workers", [1, 2])
def test_all_files_are_answered(files: Path, trained: Path, tmp_path: Path, workers: int) -> None:
    counts = run(files, trained, tmp_path / "out", "--workers", workers)
    assert (counts["files"], counts["rows"], counts["errors"]) == (3, 15, 3)
    check(tmp_path / "out", trained)


def test_slurm_answers_the_same(
    files: Path,
    trained: Path,
    tmp_path: Path,
    slurm: Path,
) -> None:
    run(files, trained, tmp_path / "out", "--executor", "slurm")
    assert (slurm / "scripts").exists()
    check(tmp_path / "out", trained)


@pytest.mark.slow
def test_ray_answers_the_same(files: Path, trained: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="not among the libraries for development: 500 MB")
    run(files, trained, tmp_path / "out", "--executor", "ray", "--workers", 2)
    check(tmp_path / "out", trained)


def test_a_damaged_file_is_named_and_the_job_goes_on(
    files: Path, trained: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    whole = (files / "b.txt").read_bytes()
    (files / "b.txt").write_bytes(whole + b"\xff\n")
    inputs = (files / "a.jsonl", files / "b.txt")
    ran = zh_corpora("predict", trained, *inputs, out, "--workers", 1)
    assert ran.returncode == 2
    assert "b.txt, line 6: byte 1 is not UTF-8" in ran.stderr
    assert not (out / "b.txt.answers.jsonl").exists()
    assert (out / "a.jsonl.answers.jsonl").exists()

    (files / "b.txt").write_bytes(whole)
    answered = (out / "a.jsonl.answers.jsonl").stat().st_mtime_ns
    ran = zh_corpora("predict", trained, *inputs, out)
    assert ran.returncode == 0, ran.stderr
    assert (out / "a.jsonl.answers.jsonl").stat().st_mtime_ns == answered
    assert len((out / "b.txt.answers.jsonl").read_text("utf-8").splitlines()) == len(TEXTS)


def test_only_changed_and_new_files_are_answered_again(
    files: Path, trained: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    inputs = [files / "b.txt", files / "more" / "c.csv"]
    assert zh_corpora("predict", trained, *inputs, out).returncode == 0
    before = (out / "b.txt.answers.jsonl").stat().st_mtime_ns
    # A new file before the others in the list, and a changed one.
    with inputs[1].open("a", encoding="utf-8") as file:
        file.write("9,很好\n")
    ran = zh_corpora("predict", trained, files / "a.jsonl", *inputs, out, "--json")
    assert ran.returncode == 0, ran.stderr
    counts = json.loads(ran.stdout)
    assert (counts["files"], counts["rows"], counts["errors"]) == (3, 16, 3)
    assert (out / "b.txt.answers.jsonl").stat().st_mtime_ns == before
    assert len((out / "c.csv.answers.jsonl").read_text("utf-8").splitlines()) == len(TEXTS) + 1

    ran = zh_corpora("predict", trained, files / "a.jsonl", out)
    assert ran.returncode == 2
    assert "b.txt, which is not among the inputs now" in ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["", "*/*.jsonl", "**/*.jsonl"])
def test_answers_among_the_texts_are_not_answered(files: Path, trained: Path, pattern: str) -> None:
    for name in ("b.txt", "more/c.csv"):
        (files / name).unlink()
    (files / "a.jsonl").rename(files / "more" / "a.jsonl")
    asked = "predict", trained, files / pattern, files / "out", "--json"
    first, again = zh_corpora(*asked), zh_corpora(*asked)
    assert (first.returncode, again.returncode) == (0, 0), again.stderr
    counts = [json.loads(ran.stdout) for ran in (first, again)]
    assert [(one["files"], one["rows"]) for one in counts] == [(1, 5)] * 2


@pytest.mark.slow
def test_answers_under_a_name_of_before_are_removed(
    files: Path, trained: Path, tmp_path: Path
) -> None:
    out, texts = tmp_path / "out", files / "a.jsonl"
    assert zh_corpora("predict", trained, texts, files / "b.txt", out).returncode == 0
    same_name = files / "more" / "a.jsonl"
    same_name.write_bytes(texts.read_bytes())
    assert zh_corpora("predict", trained, texts, files / "b.txt", same_name, out).returncode == 0
    answers = sorted(str(path.relative_to(out)) for path in out.rglob("*.answers.jsonl"))
    assert answers == [
        f"{n}/{name}.answers.jsonl" for n, name in enumerate(("a.jsonl", "b.txt", "a.jsonl"))
    ]


def test_an_unknown_model_is_refused_at_once(files: Path, tmp_path: Path) -> None:
    ran = zh_corpora("predict", "sentimant", files / "a.jsonl", tmp_path / "out")
    assert ran.returncode == 2
    assert "did you mean 'sentiment'?" in ran.stderr
    assert not (tmp_path / "out").exists()
