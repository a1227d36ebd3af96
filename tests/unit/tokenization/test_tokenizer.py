"""Tokenizers in model folders."""

from __future__ import annotations

import json

import pytest

from zh_albert.errors import CheckpointError, ConfigError, DataError
from zh_albert.tokenization.tokenizer import load_tokenizer
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary, default_vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer


def test_what_ids_spell_can_stand_in_a_text() -> None:
    tokenizer = WordPieceTokenizer(
        Vocabulary([*SPECIAL_TOKENS, "ab", "##cd", "ef", "天", "，", "##"])
    )
    ids = tokenizer.vocabulary.ids
    spelled = {
        "天，天": ["天", "，", "天"],
        "abcd": ["ab", "##cd"],
        "ab ef": ["ab", "ef"],
        "天ab": ["天", "ab"],
        "cd天": ["##cd", "天"],
        "天##": ["天", "##"],
        "": [],
    }
    for text, rows in spelled.items():
        assert tokenizer.text([ids[row] for row in rows]) == text


# Model folders


def test_a_saved_tokenizer_is_loaded_with_its_settings(tmp_path):
    tokenizer = WordPieceTokenizer(default_vocabulary(), lowercase=False, fold_width=True)
    for name, content in tokenizer.save_files(max_tokens=128).items():
        (tmp_path / name).write_bytes(content)

    loaded = load_tokenizer(tmp_path)

    assert loaded.to_config() == tokenizer.to_config()
    assert loaded.encode("Ａpple 好") == tokenizer.encode("Ａpple 好")
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert settings["model_max_length"] == 128


def test_a_folder_without_settings_is_uncased_and_folds_nothing(tmp_path):
    (tmp_path / "vocab.txt").write_bytes(default_vocabulary().to_bytes())

    config = load_tokenizer(tmp_path).to_config()

    assert (config["do_lower_case"], config["strip_accents"], config["fold_width"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("settings", "error", "expected"),
    [
        ("{", DataError, "tokenizer_config.json: not JSON"),
        ("[]", DataError, "expected a JSON object, found list"),
        ('{"do_lower_case": "yes"}', ConfigError, "do_lower_case must be true or false"),
        ('{"tokenize_chinese_chars": false}', ConfigError, "must be true, found false"),
    ],
)
def test_broken_settings_are_refused(tmp_path, settings, error, expected):
    (tmp_path / "vocab.txt").write_bytes(default_vocabulary().to_bytes())
    (tmp_path / "tokenizer_config.json").write_text(settings, encoding="utf-8")

    with pytest.raises(error, match=expected):
        load_tokenizer(tmp_path)


def test_a_folder_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(
        CheckpointError, match=r"expected vocab\.txt, spiece\.model or tokenizer\.json, found none"
    ):
        load_tokenizer(tmp_path)
    with pytest.raises(CheckpointError, match="no such folder"):
        load_tokenizer(tmp_path / "gone")
