"""Files of lessons, by the command."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

from corpora_tools.cli import app as cli
from corpora_tools.lessons.build import sentences_of
from corpora_tools.lessons.groups import overlap

PARTS = (
    ("老师", "学生", "医生", "记者", "司机", "朋友", "邻居", "孩子"),
    ("昨天", "今年", "上周", "目前"),
    ("在北京", "在上海", "在医院", "在超市"),
    ("购买了3台电脑", "认为这个手机很贵", "看了五天新闻", "喜欢这个干净的城市", "必须参加会议"),
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    rng = random.Random(1)
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    lines = []
    for _ in range(250):
        who, when, where, what = map(rng.choice, PARTS)
        text = f"{when}我的{who}{where}{what}，价格比去年上涨了很多。\n他{when}也不能来。"
        lines.append(json.dumps({"text": text, "domain": "news"}, ensure_ascii=False))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def write(task, corpus, out, *options):
    arguments = ["lessons", task, str(corpus), "--out", str(out), "--lessons", "200", *options]
    done = CliRunner().invoke(cli.app, arguments)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("task", ["similarity", "nli"])
def test_overlap_does_not_tell_the_label(tmp_path, corpus, task):
    lessons = write(task, corpus, tmp_path / "out.jsonl")

    assert len(lessons) == 200
    same = [one["label"] == "entailment" or one["label"] in (4.6, 4.7, 4.8, 4.9) for one in lessons]
    shares = [overlap(one["text_a"], one["text_b"]) for one in lessons]
    assert 0.4 < roc_auc_score(same, shares) < 0.6  # of 200 lessons; .45 to .55 of thousands
    assert all(one["text_a"] != one["text_b"] for one in lessons)


def test_labels_are_even(tmp_path, corpus):
    lessons = write("nli", corpus, tmp_path / "out.jsonl")

    _, counts = np.unique([one["label"] for one in lessons], return_counts=True)
    assert len(counts) == 3
    assert counts.max() - counts.min() < 25


def test_the_same_seed_makes_the_same_bytes(tmp_path, corpus):
    files = [tmp_path / f"{k}.jsonl" for k in range(3)]
    for path, seed in zip(files, "112", strict=True):
        write("similarity", corpus, path, "--seed", seed)
    first, again, other = (path.read_bytes() for path in files)

    assert first == again
    assert first != other


def test_excluded_texts_are_left_out(tmp_path, corpus):
    lessons = write("similarity", corpus, tmp_path / "all.jsonl")
    known = {one["text_a"] for one in lessons}
    excluded = tmp_path / "dev.jsonl"
    rows = [{"text_a": text, "text_b": "别的", "label": 3} for text in sorted(known)]
    excluded.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    kept = write("similarity", corpus, tmp_path / "kept.jsonl", "--exclude", str(excluded))

    assert not known & {one[side] for one in kept for side in ("text_a", "text_b")}


def test_a_small_corpus_is_told_in_one_line(tmp_path):
    corpus, out = tmp_path / "a.jsonl", tmp_path / "out.jsonl"
    corpus.write_text('{"text": "他把老师打了。"}\n', encoding="utf-8")

    done = CliRunner().invoke(cli.app, ["lessons", "nli", str(corpus), "--out", str(out)])

    assert "expected sentences for 40,000 lessons" in str(done.exception)
    assert not out.exists()


def test_only_clean_sentences_are_taken(tmp_path):
    corpus = tmp_path / "a.jsonl"
    rows = [
        {"text": "他昨天去了北京。短。see http://a.b 很长的一句话", "domain": "qa"},
        {"text": "大漠孤烟直，长河落日圆。", "domain": "poetry"},
    ]
    corpus.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    assert list(sentences_of([corpus], random.Random(1))) == ["他昨天去了北京。"]
