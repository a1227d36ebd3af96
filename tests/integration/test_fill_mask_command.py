"""An encoder on the command line: listed among the models, filling the masks of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.commands import Cli
from tests.helpers.micro import save_micro_pretrained
from zh_albert.checkpoints import resolve


@pytest.fixture
def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bundle a micro encoder."""
    save_micro_pretrained(tmp_path / "bundled" / "encoder")
    monkeypatch.setattr(resolve, "BUNDLED", tmp_path / "bundled")


@pytest.mark.usefixtures("encoder")
def test_a_bundled_encoder_is_listed(cli: Cli) -> None:
    [row] = json.loads(cli("models", "--json").out)["models"]
    assert (row["name"], row["task"], row["labels"]) == ("encoder", "encoder", [])
    assert row["dev"] == {"masked_accuracy": 0.3, "order_accuracy": 0.6}
    assert "encoder: encoder\n" in cli("models").out


@pytest.mark.usefixtures("encoder")
def test_each_line_gives_its_spots_in_order(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("今天[MASK]气很好。\n没有空\n\n[MASK][MASK]是首都，[MASK]\n", encoding="utf-8")
    ran = cli("predict", "encoder", path)

    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 0
    assert [len(row["spots"]) for row in rows] == [1, 0, 0, 2]
    assert rows[0]["spots"][0]["start"] == 2
    assert rows[0]["spots"][0]["candidates"][0].keys() == {"text", "score"}
    assert len(rows[3]["spots"][0]["candidates"]) == 5
    assert "texts.txt, line 2: expected [MASK] in the text" in rows[1]["error"]
    assert "lines not answered: 2;" in ran.err


@pytest.mark.usefixtures("encoder")
def test_an_encoder_does_not_classify(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "dev.jsonl"
    path.write_text('{"text": "好", "label": "x"}\n')
    ran = cli("evaluate", "encoder", path)
    assert ran.code == 2
    assert "found one for encoder; fine-tune it first" in ran.err
