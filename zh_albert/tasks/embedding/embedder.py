"""Sentence vectors as one thing: tokenizer, encoder, windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.errors import CheckpointError, DataError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.heads import MeanEncoder
from zh_albert.runtimes.exported import exported_runtimes
from zh_albert.runtimes.selection import plain_runtimes
from zh_albert.tasks.texts import refuse_non_strings
from zh_albert.tasks.window_outputs import predicted_outputs
from zh_albert.tasks.windows import EncodedText, WindowConfig, encode_windows
from zh_albert.tokenization.tokenizer import Tokenizer

NO_CONTENT = "is empty (or only spaces and control characters): it has no vector"


class TextEmbedder:
    """Texts → vectors: the mean over the tokens of the last layer.

    Attributes:
        module: The network. A long text's vector is the mean over its windows, by their tokens.
        runtimes: What runs the network when it predicts.
        tokenizer: Text → token ids.
        window: See ``WindowConfig``.
        metadata: What the model card and ``zh-albert models`` tell: data, scores.
    """

    def __init__(
        self,
        config: AlbertConfig,
        tokenizer: Tokenizer,
        *,
        window: WindowConfig,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        window.refuse_longer_than(config)
        self.config, self.tokenizer, self.window = config, tokenizer, window
        self.metadata = dict(metadata or {})
        self.module = MeanEncoder(config).eval()
        self.runtimes = plain_runtimes(self.module)

    def encode(self, texts: Sequence[str]) -> list[EncodedText]:
        """Tokenize and cut into windows.

        Raises:
            DataError: If an element is not a string, or empty; its index is named.
        """
        encoded = self.encode_or_none(texts)
        for index, text in enumerate(encoded):
            if text is None:
                raise DataError(f"texts[{index}] {NO_CONTENT}; leave it out")
        return [text for text in encoded if text is not None]

    def encode_or_none(self, texts: Sequence[str]) -> list[EncodedText | None]:
        """Tokenize and cut into windows; None stands for an empty text.

        Raises:
            DataError: If an element is not a string.
        """
        refuse_non_strings(texts)
        return [
            encode_windows(encoding, self.tokenizer.special, self.window) if encoding.ids else None
            for encoding in self.tokenizer.encode_batch(texts)
        ]

    def vectors(
        self, texts: Sequence[str], *, normalize: bool = False, batch_tokens: int | None = None
    ) -> NDArray[np.float32]:
        """Return a vector for each text, in order. Shape: (texts, hidden).

        Args:
            texts: Any length each; see ``encode`` for what is refused.
            normalize: Give all of them length 1, so that dot products are cosines.
            batch_tokens: Padded tokens of one forward pass; None: what is fastest.
        """
        return self.vectors_of(self.encode(texts), normalize=normalize, batch_tokens=batch_tokens)

    def vectors_of(
        self,
        encoded: Sequence[EncodedText],
        *,
        normalize: bool = False,
        batch_tokens: int | None = None,
    ) -> NDArray[np.float32]:
        """Return the vectors of encoded texts; see ``vectors``."""
        merged = predicted_outputs(
            self.runtimes,
            encoded,
            width=self.config.hidden_size,
            config=self.config,
            batch_tokens=batch_tokens,
        )
        return np.asarray(torch.nn.functional.normalize(merged, dim=-1) if normalize else merged)

    def similarities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the cosine of each pair's vectors. Shape: (pairs,)."""
        both = [text for side in (0, 1) for text in (pair[side] for pair in pairs)]
        first, second = np.split(self.vectors(both, normalize=True), 2)
        cosines: NDArray[np.float32] = (first * second).sum(-1)
        return cosines

    def save(self, folder: Path, *, card: str, dtype: torch.dtype = torch.float16) -> None:
        """Write the model folder; see ``checkpoints.store.save_model``."""
        task = {"name": "embedding", **asdict(self.window), **self.metadata}
        files = {**self.tokenizer.save_files(), "README.md": card.encode()}
        save_model(
            folder, model=self.module, config=self.config, files=files, task=task, dtype=dtype
        )

    @classmethod
    def load(cls, folder: Path) -> TextEmbedder:
        """Open a model folder; what was exported into it runs the network, else PyTorch.

        Raises:
            CheckpointError: If it is none, or a model for something else.
        """
        config, task = load_config(folder)
        if task.pop("name", None) != "embedding":
            raise CheckpointError(
                f"{folder}: expected a model for sentence vectors; make one with zh-albert "
                "finetune --task embedding --init …, or take the means of any encoder: "
                "AlbertEmbedder(init=…).encode(texts)"
            )
        window = WindowConfig(max_length=task.pop("max_length"), stride=task.pop("stride"))
        tokenizer = matching_tokenizer(folder, config)
        embedder = cls(config, tokenizer, window=window, metadata=task)
        load_weights(embedder.module, folder)
        embedder.runtimes = exported_runtimes(folder, embedder.module) or embedder.runtimes
        return embedder
