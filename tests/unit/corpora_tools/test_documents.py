"""Inputs, tasks, documents."""

from __future__ import annotations

import pytest

from corpora_tools import folders
from corpora_tools.documents import ReadDocuments, WriteShard
from corpora_tools.folders import find_inputs, plan_tasks
from corpora_tools.readers import read_documents
from zh_albert.errors import ConfigError


def test_folders_are_searched_and_names_are_different(tmp_path):
    for name in ("b/x.jsonl", "a/x.jsonl", "a/.hidden.jsonl", "a/notes.doc"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    inputs = find_inputs([str(tmp_path), str(tmp_path / "a" / "x.jsonl")])
    apart = find_inputs([str(tmp_path / "b"), str(tmp_path / "a/*.jsonl")])
    below = find_inputs([str(tmp_path / "**")])

    assert [(one.name, one.source) for one in inputs] == [
        ("a/x.jsonl", tmp_path.name),
        ("b/x.jsonl", tmp_path.name),
    ]
    assert [one.name for one in apart] == ["0/x.jsonl", "1/x.jsonl"]
    assert [one.name for one in below] == ["0/notes.doc", "1/x.jsonl", "2/x.jsonl"]


def test_the_counts_of_a_corpus_are_no_documents(tmp_path):
    for name in ("part-0.jsonl", folders.STATISTICS):
        (tmp_path / name).touch()

    for pattern in ("*", "*.json*"):
        assert [one.name for one in find_inputs([str(tmp_path / pattern)])] == ["part-0.jsonl"]
    named = find_inputs([str(tmp_path / folders.STATISTICS)])
    assert [one.name for one in named] == [folders.STATISTICS]


def test_small_files_share_a_task_and_large_ones_do_not(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "_TASK_BYTES", 100)
    for name, size in (("a", 40), ("b", 60), ("c", 300), ("d", 1), ("e", 0)):
        (tmp_path / f"{name}.txt").write_bytes(b"x" * size)

    tasks = plan_tasks(find_inputs([str(tmp_path)]))

    assert [[one.name[0] for one in task] for task in tasks] == [["a", "b"], ["c"], ["d", "e"]]


def test_documents_have_a_source_a_domain_and_an_id(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text(
        '{"text": "\\ud800一", "id": 7, "domain": "d"}\n{"text": "二", "source": "s"}\n'
    )
    tasks = plan_tasks(find_inputs([str(path)]))

    first, second = ReadDocuments(tasks, domain="web").run()
    [third, _] = ReadDocuments(tasks, source="mine").run()

    assert (first.id, first.text) == ("7", "\ufffd一")
    assert first.metadata == {"source": "news", "domain": "d"}
    assert (second.id, second.metadata) == ("news.jsonl:2", {"source": "s", "domain": "web"})
    assert third.metadata["source"] == "mine"


@pytest.mark.parametrize("shard_format", ["zst", "xz"])
def test_a_shard_is_read_back(tmp_path, shard_format):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "一\\n二"}\n{"text": "三"}\n')
    read = ReadDocuments(plan_tasks(find_inputs([str(path)])))

    WriteShard(tmp_path, shard_format).run(read.run())

    shard = tmp_path / f"corpus-00000.jsonl.{shard_format}"
    assert [row["text"] for _, row in read_documents(shard)] == ["一\n二", "三"]
    with pytest.raises(ConfigError, match="must be one of zst, xz, found 'gz'"):
        WriteShard(tmp_path, "gz")
