"""BERT-shaped encoders out of ``transformers`` folders: BERT, RoBERTa, XLM-R, and their like."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from zh_albert.checkpoints.files import read_tensors, read_text
from zh_albert.checkpoints.foreign.encoder import ForeignEncoder
from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary

# What counts before the first position: RoBERTa's positions begin after the padding row.
_SKIPPED_POSITIONS = {"bert": 0, "roberta": 2, "xlm-roberta": 2}
_THEIR_SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "<mask>")
_NAMES = (
    (r"embeddings\.position_embeddings\.", "embeddings.position."),
    (r"embeddings\.token_type_embeddings\.", "embeddings.token_type."),
    (r"embeddings\.LayerNorm\.", "embeddings.norm."),
    (r"encoder\.layer\.(\d+)\.attention\.self\.(query|key|value)\.", r"attention.\1.\2."),
    (r"encoder\.layer\.(\d+)\.attention\.output\.dense\.", r"attention.\1.dense."),
    (r"encoder\.layer\.(\d+)\.attention\.output\.LayerNorm\.", r"attention.\1.norm."),
    (r"encoder\.layer\.(\d+)\.intermediate\.dense\.", r"ffn.\1.up."),
    (r"encoder\.layer\.(\d+)\.output\.dense\.", r"ffn.\1.down."),
    (r"encoder\.layer\.(\d+)\.output\.LayerNorm\.", r"ffn.\1.norm."),
    (r"pooler\.dense\.", "pooler."),
)
_WORDS = "embeddings.word_embeddings.weight"
_HEADS = ("cls.", "lm_head.", "classifier.", "qa_outputs.", "embeddings.position_ids")


def is_bert_shaped(folder: Path) -> bool:
    """Say whether a folder's ``config.json`` names a model that can be a teacher."""
    try:
        kind = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type")
    except (OSError, ValueError, AttributeError):
        return False
    return kind in _SKIPPED_POSITIONS


def read_bert_shaped(folder: Path) -> ForeignEncoder:
    """Read an encoder; heads are left out.

    Raises:
        CheckpointError: If it is no such folder, tensors are missing or left over (all are
            named), or its tokenizer cannot be read.
    """
    source = folder / "config.json"
    try:
        content: dict[str, Any] = json.loads(read_text(folder, "config.json"))
        kind = content["model_type"]
        skipped = _SKIPPED_POSITIONS[kind]
        config = AlbertConfig(
            vocab_size=content["vocab_size"],
            embedding_size=content["hidden_size"],
            hidden_size=content["hidden_size"],
            num_hidden_layers=content["num_hidden_layers"],
            num_attention_heads=content["num_attention_heads"],
            intermediate_size=content["intermediate_size"],
            hidden_act=content.get("hidden_act", "gelu"),
            max_position_embeddings=content["max_position_embeddings"] - skipped,
            type_vocab_size=content.get("type_vocab_size", 2),
            layer_norm_eps=content.get("layer_norm_eps", 1e-12),
            pad_token_id=content.get("pad_token_id") or 0,
            sharing="none",
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{source}: expected a BERT, RoBERTa or XLM-R encoder's settings, found none that "
            f"can be used ({error}); give another teacher"
        ) from None
    if content.get("is_decoder"):
        raise CheckpointError(
            f"{source}: expected an encoder, found a decoder, which sees no text behind a token; "
            "give another teacher"
        )
    if content.get("position_embedding_type", "absolute") != "absolute":
        raise CheckpointError(
            f"{source}: expected learned absolute positions, found "
            f"{content['position_embedding_type']!r}; give another teacher"
        )
    tensors, words = _renamed(read_tensors(folder), config, folder)
    position = "embeddings.position.weight"
    tensors[position] = tensors[position][skipped:]
    _refuse_other_shapes({**tensors, "embeddings.word.weight": words}, config, folder)
    pieces, scores, special = _read_pieces(folder)
    return ForeignEncoder(
        name=folder.name,
        licence="see the teacher's own card",
        config=config,
        tensors=tensors,
        words=words,
        pieces=pieces,
        special=special,
        scores=scores,
        normalization={},
    )


def _renamed(
    stored: Mapping[str, Tensor], config: AlbertConfig, folder: Path
) -> tuple[dict[str, Tensor], Tensor]:
    """Give tensors our names; the word table comes apart from them."""
    tensors, left_over = {}, []
    for name, tensor in stored.items():
        bare = re.sub(r"^(bert|roberta)\.", "", name)
        if bare.startswith(_HEADS):
            continue
        for pattern, ours in _NAMES:
            new, changed = re.subn(f"^{pattern}", ours, bare)
            if changed:
                tensors[new] = tensor.float()
                break
        else:
            if bare == _WORDS:
                tensors[_WORDS] = tensor.float()
            else:
                left_over.append(name)
    expected = {_WORDS, "embeddings.position.weight", "embeddings.token_type.weight"}
    expected |= {f"embeddings.norm.{kind}" for kind in ("weight", "bias")}
    for layer in range(config.num_hidden_layers):
        parts = [f"attention.{layer}.{part}" for part in ("query", "key", "value", "dense", "norm")]
        parts += [f"ffn.{layer}.{part}" for part in ("up", "down", "norm")]
        expected |= {f"{part}.{kind}" for part in parts for kind in ("weight", "bias")}
    missing = sorted(expected - tensors.keys())
    left_over += sorted(tensors.keys() - expected - {"pooler.weight", "pooler.bias"})
    if missing or left_over:
        raise CheckpointError(
            f"{folder}: not the tensors of such an encoder; missing: "
            f"{', '.join(missing) or 'none'}; left over: {', '.join(left_over) or 'none'}"
        )
    return tensors, tensors.pop(_WORDS)


def _refuse_other_shapes(tensors: Mapping[str, Tensor], config: AlbertConfig, folder: Path) -> None:
    """Check tensors, under our names, against the sizes of ``config.json``."""
    with torch.device("meta"):
        expected = AlbertEncoder(config).state_dict()
    problems = [
        f"{name}: expected shape {tuple(expected[name].shape)}, found {tuple(tensor.shape)}"
        for name, tensor in tensors.items()
        if tensor.shape != expected[name].shape
    ]
    if problems:
        raise CheckpointError(
            f"{folder}: the tensors have other sizes than its config.json tells "
            f"({len(problems)}): {'; '.join(problems)}"
        )


def _read_pieces(folder: Path) -> tuple[list[str], list[float] | None, dict[str, int]]:
    """Return the pieces, their scores where it is a unigram vocabulary, and special rows."""
    if (folder / "vocab.txt").is_file():
        vocabulary = Vocabulary.read(folder / "vocab.txt")
        special = {token: vocabulary.ids[token] for token in SPECIAL_TOKENS}
        return list(vocabulary.tokens), None, special
    path = folder / "tokenizer.json"
    try:
        content = json.loads(read_text(folder, "tokenizer.json"))
        model = content["model"]
        if isinstance(model["vocab"], dict):
            pieces = sorted(model["vocab"], key=model["vocab"].__getitem__)
            scores = None
        else:
            pieces = [piece for piece, _ in model["vocab"]]
            scores = [float(score) for _, score in model["vocab"]]
        rows = {piece: row for row, piece in enumerate(pieces)}
        rows |= {added["content"]: added["id"] for added in content.get("added_tokens", ())}
        theirs = SPECIAL_TOKENS if "[CLS]" in rows else _THEIR_SPECIAL
        return pieces, scores, dict(zip(SPECIAL_TOKENS, (rows[t] for t in theirs), strict=True))
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path}: expected a WordPiece or unigram tokenizer, found one that cannot be read "
            f"({error}); save it with transformers: tokenizer.save_pretrained(FOLDER)"
        ) from None
