"""``zh-corpora`` on a cluster: Slurm with stand-ins for its commands, Ray where it is installed."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.cluster import PROGRAM, ROOT, zh_corpora


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Three files of twelve documents, some of them equal or nearly equal."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    draw = random.Random(0)
    signs = [chr(code) for code in range(0x4E00, 0x5E00)]
    texts = ["".join(draw.choices(signs, k=150)) + "。" for _ in range(30)]
    texts += [texts[0], f"{texts[1]}{texts[2]}", *texts[1:5]]
    for file in range(3):
        rows = [json.dumps({"text": text}, ensure_ascii=False) for text in texts[file::3]]
        (folder / f"{file}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def whole_way(corpus: Path, out: Path, executor: str) -> dict[str, bytes]:
    """Clean, de-duplicate and build; return all files that come out of it."""
    options = ("--executor", executor, "--workers", 2)
    for command in (
        ("clean", corpus, out / "clean"),
        ("dedup", out / "clean", out / "once"),
        ("build", "--corpus", out / "once", "--out", out / "shards"),
    ):
        ran = zh_corpora(*command, *options)
        assert ran.returncode == 0, ran.stderr
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and ".job" not in path.parts
    }


@pytest.mark.slow
@pytest.mark.timeout(600)  # sixteen jobs, each a Python of its own
def test_slurm_writes_the_bytes_that_local_processes_write(
    corpus: Path, slurm: Path, tmp_path: Path
) -> None:
    here = whole_way(corpus, tmp_path / "here", "local")
    there = whole_way(corpus, tmp_path / "there", "slurm")

    assert here.keys() == there.keys()
    assert here == there
    scripts = (slurm / "scripts").read_text("utf-8")
    assert "#SBATCH --array=0-2%2\n" in scripts  # three files, two at once
    assert scripts.count("#SBATCH --wait\n") == 1 + 6 + 1  # stages of clean, dedup and build
    assert "partition" not in scripts  # left to SBATCH_PARTITION


@pytest.mark.slow
@pytest.mark.timeout(600)  # each of the three commands starts a Ray of its own
def test_ray_writes_the_bytes_that_local_processes_write(corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="not among the libraries for development: 500 MB")

    here = whole_way(corpus, tmp_path / "here", "local")
    assert here == whole_way(corpus, tmp_path / "there", "ray")


def test_a_task_that_fails_on_slurm_says_why_and_the_job_goes_on(
    corpus: Path, slurm: Path, tmp_path: Path
) -> None:
    good = (corpus / "1.jsonl").read_bytes()
    (corpus / "1.jsonl").write_bytes(good + b"not json\n")
    command = ("build", "--corpus", corpus, "--out", tmp_path / "shards")

    ran = zh_corpora(*command, "--executor", "slurm")

    assert ran.returncode == 2
    assert ran.stderr.startswith("error: parts: 1 of 3 tasks failed, task 1: ")
    assert "1.jsonl, line 13: not JSON" in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not (tmp_path / "shards").exists()
    (corpus / "1.jsonl").write_bytes(good)
    assert zh_corpora(*command).returncode == 0  # another executor ends it


def test_a_cluster_that_is_not_there_is_said(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    ran = zh_corpora("clean", corpus, tmp_path / "out", "--executor", "slurm")
    assert ran.returncode == 2
    assert ran.stderr == (
        "error: --executor slurm needs sbatch on the PATH; run it where Slurm is\n"
    )


def test_ray_that_is_not_installed_is_named_with_its_extra(corpus: Path, tmp_path: Path) -> None:
    program = f"import sys; sys.modules['ray'] = None; {PROGRAM}"
    ran = subprocess.run(
        [sys.executable, "-c", program, "clean", corpus, tmp_path / "out", "--executor", "ray"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr == "error: ray is not installed; run: pip install 'zh-albert[ray]'\n"
