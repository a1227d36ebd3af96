"""BERT-shaped encoders from ``transformers`` folders: BERT, RoBERTa, XLM-R and similar models."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from zh_albert.checkpoints.files import holds_safetensors, read_tensors, read_text
from zh_albert.checkpoints.foreign.encoder import ForeignEncoder
from zh_albert.checkpoints.stored_model import StoredModel, fitting_tensors
from zh_albert.checkpoints.torch_file import find_torch_file, read_torch_file
from zh_albert.errors import CheckpointError
from zh_albert.files.plain_files import parse_json, read_plain
from zh_albert.model.config import SAME_ACTIVATIONS, AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.tokenization.vocab import SPECIAL_TOKENS, Vocabulary

# Rows before the first position: RoBERTa's positions start after the padding row.
_SKIPPED_POSITIONS = {"bert": 0, "roberta": 2, "xlm-roberta": 2}
_THEIR_SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "<mask>")
_NAMES = (
    (r"embeddings\.word_embeddings\.", "embeddings.word."),
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
    (r"(.*\bnorm\.)gamma$", r"\1weight"),  # as TensorFlow's names were carried over at first
    (r"(.*\bnorm\.)beta$", r"\1bias"),
)
_HEADS = ("cls.", "lm_head.", "classifier.", "qa_outputs.", "embeddings.position_ids")


def is_bert_shaped(folder: Path) -> bool:
    """Return whether a folder's ``config.json`` names a model that can be a teacher."""
    try:
        kind = parse_json(read_plain(folder / "config.json")).get("model_type")
    except (OSError, ValueError, AttributeError):
        return False
    return kind in _SKIPPED_POSITIONS


def read_bert_shaped(folder: Path) -> ForeignEncoder:
    """Read an encoder; heads are ignored.

    Raises:
        CheckpointError: If it is no such folder, tensors are missing, left over or wrongly shaped
            (all are listed), or its tokenizer cannot be read or has more rows.
    """
    source = folder / "config.json"
    try:
        content: dict[str, Any] = parse_json(read_text(folder, "config.json"))
        kind = content["model_type"]
        skipped = _SKIPPED_POSITIONS[kind]
        activation = content.get("hidden_act", "gelu")
        config = AlbertConfig(
            vocab_size=content["vocab_size"],
            embedding_size=content["hidden_size"],
            hidden_size=content["hidden_size"],
            num_hidden_layers=content["num_hidden_layers"],
            num_attention_heads=content["num_attention_heads"],
            intermediate_size=content["intermediate_size"],
            hidden_act=SAME_ACTIVATIONS.get(activation, activation),
            max_position_embeddings=content["max_position_embeddings"] - skipped,
            type_vocab_size=content.get("type_vocab_size", 2),
            layer_norm_eps=content.get("layer_norm_eps", 1e-12),
            pad_token_id=content.get("pad_token_id") or 0,
            sharing="none",
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{source}: expected the settings of a BERT, RoBERTa or XLM-R encoder, found none that "
            f"can be used ({error}); choose another teacher"
        ) from None
    if content.get("is_decoder"):
        raise CheckpointError(
            f"{source}: expected an encoder, found a decoder, which reads from left to right only; "
            "choose another teacher"
        )
    if content.get("position_embedding_type", "absolute") != "absolute":
        raise CheckpointError(
            f"{source}: expected learned absolute positions, found "
            f"{content['position_embedding_type']!r}; choose another teacher"
        )
    tensors = _read_encoder(folder, config, skipped)
    pieces, scores, special = _read_pieces(folder)
    rows = max(len(pieces), 1 + max(special.values()))
    if rows > config.vocab_size:
        raise CheckpointError(
            f"{folder}: the vocabulary has {rows} rows, the model {config.vocab_size}: it belongs "
            "to another model; download the folder again"
        )
    return ForeignEncoder(
        name=folder.name,
        licence="see the teacher's own card",
        config=config,
        tensors=tensors,
        words=tensors.pop("embeddings.word.weight"),
        pieces=pieces,
        special=special,
        scores=scores,
        normalization={},
    )


def _read_encoder(folder: Path, config: AlbertConfig, skipped: int) -> dict[str, Tensor]:
    """Return the encoder's tensors by our names, without ``skipped`` rows of positions.

    Raises:
        CheckpointError: If tensors are missing, left over or wrongly shaped; all are listed.
    """
    tensors, original = {}, {}
    path = None if holds_safetensors(folder) else find_torch_file(folder)
    stored_there = read_torch_file(path) if path else read_tensors(folder)
    for name, tensor in stored_there.items():
        ours = re.sub(r"^(bert|roberta)\.", "", name)
        if not ours.startswith(_HEADS):
            for pattern, new in _NAMES:
                ours = re.sub(f"^{pattern}", new, ours)
            tensors[ours], original[ours] = tensor.float(), name
    position = "embeddings.position.weight"
    if position in tensors:
        tensors[position] = tensors[position][skipped:]
    with torch.device("meta"):
        state = AlbertEncoder(config).state_dict()
    targets = {n: t for n, t in state.items() if not n.startswith("embeddings.projection.")}
    stored = StoredModel(
        source=folder,
        config=config,
        tensors=tensors,
        name_there=lambda name: original.get(name, name),
    )
    return fitting_tensors(stored, targets, optional=("pooler.",))


def _read_pieces(folder: Path) -> tuple[list[str], list[float] | None, dict[str, int]]:
    """Return the pieces, their scores (of a unigram vocabulary, else None), and the
    special rows.
    """
    if (folder / "vocab.txt").is_file():
        vocabulary = Vocabulary.read(folder / "vocab.txt")
        special = {token: vocabulary.ids[token] for token in SPECIAL_TOKENS}
        return list(vocabulary.tokens), None, special
    path = folder / "tokenizer.json"
    try:
        content = parse_json(read_text(folder, "tokenizer.json"))
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
