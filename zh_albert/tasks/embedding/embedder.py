"""The embedding model: tokenizer, encoder and windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.heads import MeanEncoder
from zh_albert.runtimes.onnx_network import mean_vectors
from zh_albert.tasks.batched_inference import predicted_outputs
from zh_albert.tasks.chunks import as_count
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.texts import refuse_non_strings
from zh_albert.tasks.windows import EncodedText, WindowConfig, encode_windows
from zh_albert.tokenization.tokenizer import Tokenizer


class TextEmbedder(TaskModel[str, EncodedText]):
    """An embedding model: texts → vectors, the mean over the tokens of the last layer.

    A long text's vector is the mean over its windows, by their tokens.

    Attributes:
        widths: The first so many numbers of a vector are a vector, too: it was trained so.
    """

    names = ("embedding",)
    kept = ("widths",)
    outputs = staticmethod(mean_vectors)

    def __init__(
        self,
        config: AlbertConfig,
        tokenizer: Tokenizer,
        *,
        window: WindowConfig,
        widths: Sequence[int] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(config, tokenizer, MeanEncoder(config), window=window, metadata=metadata)
        self.widths = tuple(widths)

    def no_content(self, content: str) -> str:
        """See ``TaskModel``."""
        return f"{super().no_content(content)}: it has no vector"

    def encode_or_none(
        self, contents: Sequence[str], *, counted_from: int = 0
    ) -> list[EncodedText | None]:
        """See ``TaskModel``."""
        refuse_non_strings(contents, counted_from=counted_from)
        return [
            encode_windows(encoding, self.tokenizer.special, self.window) if encoding.ids else None
            for encoding in self.tokenizer.encode_batch(contents)
        ]

    def vectors_of(
        self, encoded: Sequence[EncodedText], *, normalize: bool = False, width: int | None = None
    ) -> NDArray[np.float32]:
        """Return a vector for each encoded text, in order. Shape: (texts, width).

        Args:
            encoded: Texts that ``encode`` cut.
            normalize: Scale them to length 1, so that dot products are cosines.
            width: The first so many numbers of each; None: all.

        Raises:
            ConfigError: If a vector has fewer.
        """
        kept, whole = self.checked_width(width), self.config.hidden_size
        merged = predicted_outputs(self.runtime, encoded, width=whole, config=self.config)
        merged = merged[:, :kept]
        return np.asarray(torch.nn.functional.normalize(merged, dim=-1) if normalize else merged)

    def checked_width(self, width: int | None) -> int | None:
        """Return how many numbers of each vector are kept; None: all.

        Raises:
            ConfigError: If a vector has fewer.
            DataError: If it is no whole number above 0.
        """
        if width is None:
            return None
        kept, whole = as_count(width, "width"), self.config.hidden_size
        if kept > whole:
            raise ConfigError(f"width must be from 1 to {whole}, the vectors' width; got {width}")
        return kept

    def cosines(
        self, pairs: Sequence[tuple[str, str]], widths: Sequence[int] = ()
    ) -> list[NDArray[np.float32]]:
        """Return the cosines of pairs: of vectors cut to each width, last of whole ones.

        Shape of each: (pairs,).
        """
        both = [text for side in (0, 1) for text in (pair[side] for pair in pairs)]
        vectors = self.vectors_of(self.encode(both))
        found = []
        for width in (*widths, None):
            cut = vectors[:, :width].astype(np.float64)
            first, second = np.split(cut / np.linalg.norm(cut, axis=-1, keepdims=True), 2)
            # Rounded from double precision, for equal vectors have a cosine of exactly 1: ranks
            # count any difference.
            found.append((first * second).sum(-1).astype(np.float32))
        return found

    @classmethod
    def network(cls, config: AlbertConfig, settings: Mapping[str, Any]) -> nn.Module:  # noqa: ARG003
        """See ``TaskModel``."""
        return MeanEncoder(config)

    @classmethod
    def advice(cls) -> str:
        """See ``TaskModel``."""
        return (
            "make one with zh-albert finetune --task embedding --init …, or take the means of any "
            "encoder: AlbertEmbedder(init=…).encode(texts)"
        )
