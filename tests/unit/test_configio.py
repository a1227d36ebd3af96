from __future__ import annotations

from pathlib import Path

import pytest

from zh_albert.configio import build, parse_overrides, read_toml, write_toml
from zh_albert.errors import ConfigError
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
        ("train.epochs=0", "epochs must be > 0, got 0"),
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
