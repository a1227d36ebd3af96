"""Settings: read from TOML and overrides, checked, written, and renamed."""

from __future__ import annotations

import keyword
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zh_albert.configio import build, parse_overrides, read_toml, write_toml
from zh_albert.errors import ConfigError
from zh_albert.model.config import PRESETS, AlbertConfig
from zh_albert.tasks.classification.finetune import FinetuneConfig
from zh_albert.training.config import TrainConfig


def test_an_unknown_key_is_answered_with_the_nearest_known_one() -> None:
    with pytest.raises(ConfigError, match=r"'train\.peak_lrr'; did you mean 'train\.peak_lr'\?"):
        build(FinetuneConfig, parse_overrides(["train.peak_lrr=1"]))
    with pytest.raises(ConfigError, match=r"'epochs'; did you mean 'train\.epochs'\?"):
        build(FinetuneConfig, parse_overrides(["epochs=3"]))  # its section is forgotten


def test_an_override_wins_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('[train]\nepochs = 7\ndecay = "constant"\n')
    from zh_albert.configio import merged

    values = merged(read_toml(path), parse_overrides(["train.epochs=2"]))
    config = build(FinetuneConfig, values)
    assert (config.train.epochs, config.train.decay) == (2, "constant")


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("train.epochs=many", "train.epochs: expected a valid integer, .* or 'auto', found 'many'"),
        ("train.epochs=true", "train.epochs: expected a number, found true"),
        ("train.epochs=-1", "epochs must be >= 0, got -1"),
        ("train.decay=cosine", "train.decay: expected 'linear', 'polynomial' or 'constant'"),
        ("window.stride=200", r"stride \(200\) must be"),
        ("model.preset=tinny", "did you mean 'tiny'"),
    ],
)
def test_a_wrong_value_is_named(override: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        build(FinetuneConfig, parse_overrides([override]))


def test_an_override_without_equals_is_refused() -> None:
    with pytest.raises(ConfigError, match="key=value, found 'epochs'"):
        parse_overrides(["epochs"])


@pytest.mark.parametrize("content", ["epochs = ", "\ud800"])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(ConfigError, match=r"bad\.toml: not a TOML file"):
        read_toml(path)


def test_what_is_written_reads_back_the_same(tmp_path: Path) -> None:
    config = build(FinetuneConfig, {"train": {"peak_lr": 3e-5}, "card": {"note": 'a "b"\n\\c'}})
    path = tmp_path / "out.toml"
    path.write_text(write_toml(config))
    assert build(FinetuneConfig, read_toml(path)) == config
    assert isinstance(config.train, TrainConfig)


@pytest.mark.parametrize("label", ["news_car", "好评", "a.b", 'say "x"', "", "of_", "1"])
def test_names_of_labels_are_keys_that_read_back(tmp_path: Path, label: str) -> None:
    config = build(FinetuneConfig, {"card": {"label_zh": {label: "汽车"}}})
    (tmp_path / "a.toml").write_text(write_toml(config), encoding="utf-8")
    assert build(FinetuneConfig, read_toml(tmp_path / "a.toml")) == config


def test_an_override_with_a_line_end_is_one_value() -> None:
    assert parse_overrides(["note=1\nx = 2"]) == {"note": "1\nx = 2"}


@pytest.mark.parametrize("note", ["a\x01b\x7f", "tab\t", 'quote"\\\r\n'])
def test_control_characters_are_written_so_that_they_read_back(tmp_path: Path, note: str) -> None:
    config = build(FinetuneConfig, {"card": {"note": note}})
    path = tmp_path / "c.toml"
    path.write_bytes(write_toml(config).encode())
    assert build(FinetuneConfig, read_toml(path)) == config


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize("name", ["peak_lr", "clip_norm", "weight_decay"])
def test_settings_must_be_finite(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be a finite number, got {value}"):
        build(FinetuneConfig, parse_overrides([f"train.{name}={value}"]))


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_a_pipe_or_a_file_that_is_too_large_or_too_deep_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "a.toml")
    with pytest.raises(ConfigError, match="cannot be read: expected a regular file, found a pipe"):
        read_toml(tmp_path / "a.toml")
    monkeypatch.setenv("ZH_ALBERT_MAX_MB", "1")
    (tmp_path / "b.toml").write_bytes(b"a = 1\n" * 10**6)
    with pytest.raises(ConfigError, match="more than 1,048,576 bytes"):
        read_toml(tmp_path / "b.toml")
    (tmp_path / "c.toml").write_bytes(b"a = " + b"[" * 10**5)
    with pytest.raises(ConfigError, match="nested too deep"):
        read_toml(tmp_path / "c.toml")


@dataclass(frozen=True)
class Lists:
    """Arrays of tables, as a recipe's stages are."""

    tables: tuple[dict[str, Any], ...]


KEYS = st.text('abz_-.é "', max_size=4).filter(
    lambda key: not keyword.iskeyword(key.removesuffix("_"))
)
PLAIN = (
    st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=3), min_size=1, max_size=3))
@example([{"tune": {}}, {"tune": {"match": [{"what": "a"}, {}], "train": {"epochs": 1}}, "b": 2}])
@example([{"a": [1, {"b": [{}]}], "c": [[{"d": 1}]]}])
def test_arrays_of_tables_are_read_back_as_they_were(tables: list[dict[str, Any]]) -> None:
    text = write_toml(Lists(tuple(tables)))
    assert tomllib.loads(text) == {"tables": tables}


def test_a_missing_item_of_a_list_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^a\.json: plan\[0\]"):
        build(AlbertConfig, {**vars(PRESETS["tiny"]), "plan": [[]]}, source="a.json")
