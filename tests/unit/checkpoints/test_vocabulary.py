"""Another vocabulary for a model: rows, outputs, probabilities."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

from zh_albert.checkpoints.convert import convert, read_any
from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.checkpoints.vocabulary import VocabularyChange
from zh_albert.errors import CheckpointError, DataError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.tokenization.tokenizer import load_tokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
OLD = [
    *SPECIAL,
    *("[unused1]", "房", "##房", "间", "##间", "##净", ",", ".", '"', "-", "ho", "##tel", "##s"),
]
NEW = ["[PAD]", "[CLS]", "[UNK]", "[SEP]", "[MASK]", "间", "房", ",", "ho", "##tel"]
CONFIG = AlbertConfig(
    vocab_size=len(OLD),
    embedding_size=4,
    hidden_size=8,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=12,
    initializer_range=0.5,
)


def lines(tokens: list[str]) -> str:
    return "".join(f"{token}\n" for token in tokens)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A pretraining model with the old vocabulary, in float32."""
    torch.manual_seed(0)
    model = AlbertForPretraining(CONFIG)
    torch.nn.init.normal_(model.masked_lm.bias)
    files = {"vocab.txt": lines(OLD), "tokenizer_config.json": '{"do_lower_case": true}'}
    folder = tmp_path / "old"
    save_model(folder, model=model, config=CONFIG, files=files, task={}, dtype=torch.float32)
    return folder


def change(source: Path, tokens: list[str], *, merge: bool = False) -> VocabularyChange:
    """Convert into the folder ``new`` beside the source."""
    path = source.parent / "wanted.txt"
    path.write_text(lines(tokens), encoding="utf-8")
    result = convert(
        source, source.parent / "new", to="zh_albert", vocabulary=path, merge_pieces=merge
    )
    assert result.vocabulary is not None
    return result.vocabulary


def progress(folder: Path, text: str) -> tuple[Tensor, dict[str, Tensor]]:
    """Return a text's hidden states, and its masked-LM logits by token."""
    config, _ = load_config(folder)
    model = AlbertForPretraining(config).eval()
    load_weights(model, folder)
    tokenizer = load_tokenizer(folder)
    special = tokenizer.special
    ids = torch.tensor([[special.cls, *tokenizer.encode(text).ids, special.sep]])
    mask = torch.ones_like(ids, dtype=torch.bool)
    with torch.no_grad():
        hidden = model.encoder(ids, torch.zeros_like(ids), mask).hidden
        logits = model.masked_logits(hidden, torch.nonzero(mask))
    tokens = tokenizer.tokens(range(tokenizer.vocab_size))
    return hidden, {token: logits[:, row] for row, token in enumerate(tokens)}


@pytest.mark.parametrize("text", ["", "房间", "间,房hotel", "旅馆 间", "hotel 龘"])
def test_other_text_has_exactly_the_same_outputs(text: str, source: Path) -> None:
    change(source, NEW)
    before, logits_before = progress(source, text)
    after, logits_after = progress(source.parent / "new", text)

    assert torch.equal(before, after)
    for token in NEW:
        torch.testing.assert_close(logits_after[token], logits_before[token], rtol=0, atol=1e-6)
    config, _ = load_config(source.parent / "new")
    assert (config.vocab_size, config.pad_token_id) == (len(NEW), 0)


def test_rows_come_from_the_nearest_token_there_is(source: Path) -> None:
    added = ["“", "，", "…", "—", "净", "##ho", "hotels", "馆", "\x07"]
    result = change(source, [*NEW, *added])
    old, new = (read_any(folder).tensors for folder in (source, source.parent / "new"))
    row = {token: OLD.index(token) for token in OLD}
    expected = [
        *([row[token]] for token in ('"', ",", ".", "-", "##净", "ho")),
        [row["ho"], row["##tel"], row["##s"]],
        [row["[UNK]"]],
        [row["[UNK]"]],  # a control character is read as nothing at all
    ]

    for name in ("encoder.embeddings.word.weight", "masked_lm.bias"):
        for index, rows in enumerate(expected, start=len(NEW)):
            torch.testing.assert_close(new[name][index], old[name][rows].mean(0))
    assert result.same == NEW
    assert result.alike == ["“", "，", "…", "—"]
    assert result.other_form == ["净", "##ho"]
    assert result.pieced == ["hotels", "馆", "\x07"]
    assert set(result.dropped) == {*OLD} - {*NEW}
    assert "10 rows kept, 4 from a similar token (“ ， … —)" in str(result)


def test_characters_that_were_unknown_change_nothing(source: Path) -> None:
    """A row of its own for each of them, all like ``[UNK]``, until training tells them apart."""
    change(source, [*NEW, "旅", "馆"])

    assert torch.equal(
        progress(source, "旅馆房间")[0], progress(source.parent / "new", "旅馆房间")[0]
    )


def test_merged_pieces_add_their_probability_and_leave_the_encoder_alone(source: Path) -> None:
    change(source, NEW, merge=True)
    before, logits_before = progress(source, "房间")
    after, logits_after = progress(source.parent / "new", "房间")
    old, new = (read_any(f).tensors["masked_lm.bias"] for f in (source, source.parent / "new"))

    assert torch.equal(before, after)
    both = old[[OLD.index("房"), OLD.index("##房")]].exp().sum().log()
    torch.testing.assert_close(new[NEW.index("房")], both)
    torch.testing.assert_close(logits_after[","], logits_before[","], rtol=0, atol=1e-6)
    assert (logits_after["房"] > logits_before["房"]).all()


def test_settings_beside_the_new_vocabulary_go_along(source: Path) -> None:
    settings = {"do_lower_case": True, "fold_width": True}
    change(source, NEW)
    kept = (source.parent / "new/tokenizer_config.json").read_text(encoding="utf-8")
    (source.parent / "new").rename(source.parent / "first")
    beside = source.parent / "tokenizer_config.json"
    beside.write_text(json.dumps(settings), encoding="utf-8")
    change(source, NEW)

    assert json.loads(kept) == {"do_lower_case": True}
    assert json.loads((source.parent / "new/tokenizer_config.json").read_bytes()) == settings


def test_damaged_settings_beside_the_new_vocabulary_are_refused(source: Path) -> None:
    (source.parent / "tokenizer_config.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=r"tokenizer_config\.json: not JSON"):
        change(source, NEW)


def test_a_vocabulary_that_is_none_is_refused(source: Path) -> None:
    with pytest.raises(DataError, match=r"missing: .*MASK"):
        change(source, ["[PAD]", "房"])
    (source / "manifest.json").unlink()
    (source / "vocab.txt").write_text(lines([*OLD, "多"]), encoding="utf-8")
    with pytest.raises(CheckpointError, match="has 19 tokens, the word table 18 rows"):
        change(source, NEW)
    (source / "vocab.txt").write_text(lines(OLD), encoding="utf-8")
    (source / "tokenizer_config.json").write_text("[]", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"tokenizer_config\.json: expected a JSON object, found list"
    ):
        change(source, NEW)
    (source / "vocab.txt").unlink()
    with pytest.raises(CheckpointError, match=r"expected vocab.txt beside the weights"):
        change(source, NEW)
    assert not (source.parent / "new").exists()
