"""``zh-corpora vocab``: the command."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from corpora_tools.cli import app as cli
from tests.helpers.corpus_shards import TEXTS, write_shard
from zh_albert.tokenization.tokenizer import load_tokenizer
from zh_albert.tokenization.vocab import Vocabulary


def run(*arguments):
    """Run the command as a user does, errors included."""
    command = [sys.executable, "-m", "corpora_tools.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_command_writes_a_vocabulary_and_tells_its_coverage(tmp_path):
    write_shard(tmp_path / "a.jsonl.xz", TEXTS)
    heldout = write_shard(tmp_path / "heldout.jsonl", TEXTS)
    out = tmp_path / "new" / "vocab.txt"

    done = run("vocab", "--corpus", tmp_path, "--heldout", heldout, "--out", out, "--json")

    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["texts"] == 3  # the held-out file is not counted with the folder
    assert result["tokens"] == len(Vocabulary.read(out)) == sum(result["rows"].values())
    assert 0.99 < result["heldout"]["coverage"] < 1
    assert set(result["heldout"]["unknown_rate_by_domain"]) == {"d"}


@pytest.mark.slow
def test_the_vocabulary_comes_with_the_settings_that_it_was_counted_with(tmp_path):
    texts = ["型号ＡＢＣ－１２３的价格是５００元", "ＡＢＣ的价格"]
    shard = write_shard(tmp_path / "a.jsonl", texts)
    out = tmp_path / "new" / "vocab.txt"

    done = run("vocab", "--corpus", shard, "--heldout", shard, "--corpus", shard, "--out", out)

    assert done.returncode == 2  # the held-out file is all there is
    write_shard(tmp_path / "b.jsonl", texts)
    done = run("vocab", "--corpus", tmp_path / "b.jsonl", "--out", out)
    assert done.returncode == 0, done.stderr
    tokenizer = load_tokenizer(out.parent)
    for text in texts:
        assert tokenizer.special.unk not in tokenizer.encode(text).ids


def test_the_command_speaks_to_people_as_well(tmp_path):
    shard = write_shard(tmp_path / "a.jsonl", TEXTS)
    options = ["--heldout", str(shard), "--out", str(tmp_path / "v.txt"), "--processes", "1"]
    (tmp_path / "b.jsonl").write_bytes(shard.read_bytes())

    done = CliRunner().invoke(cli.app, ["vocab", "--corpus", str(tmp_path / "b*"), *options])

    assert done.exit_code == 0, done.output
    assert "tokens (21 special" in done.output
    assert "unknown in d: " in done.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"text": "a"}\n{"text": \n', "a.jsonl, line 2: not JSON"),
        (b'{"texts": "a"}\n', "a.jsonl, line 1: expected a string 'text', found None"),
        (b'{"text": "\xc4\xff"}\n', "a.jsonl, line 1: byte 11 is not UTF-8"),
        (b"", "expected texts, found none in the files"),
    ],
)
def test_a_broken_shard_is_told_in_one_line(tmp_path, content, expected):
    (tmp_path / "a.jsonl").write_bytes(content)

    done = run("vocab", "--corpus", tmp_path, "--out", tmp_path / "v.txt")

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("error: ") == 1
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "v.txt").exists()


@pytest.mark.slow
def test_a_corpus_that_is_not_there_is_told(tmp_path):
    done = run("vocab", "--corpus", tmp_path / "gone*", "--out", tmp_path / "v.txt")

    assert done.returncode == 2
    assert "gone*: expected a file, folder or pattern; found nothing" in done.stderr


@pytest.mark.slow
def test_the_vocabulary_of_a_model_is_not_replaced(tmp_path):
    shard = write_shard(tmp_path / "a.jsonl", TEXTS)
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")

    done = run("vocab", "--corpus", shard, "--out", tmp_path / "vocab.txt")

    assert done.returncode == 2
    assert "a model is there (config.json)" in done.stderr
    assert not (tmp_path / "vocab.txt").exists()


@pytest.mark.slow
def test_a_place_that_cannot_be_written_is_told(tmp_path):
    shard = write_shard(tmp_path / "a.jsonl", TEXTS)

    done = run("vocab", "--corpus", shard, "--out", shard / "v.txt")

    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1].startswith("error: ")
    assert "Traceback" not in done.stderr


def test_help_shows_an_example_and_loads_no_torch():
    program = (
        "import sys; from corpora_tools.cli.app import app\n"
        "try: app(['vocab', '--help'])\n"
        "except SystemExit: pass\n"
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert "zh-corpora vocab --corpus" in done.stdout
