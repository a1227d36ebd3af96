"""A text classifier as one thing: tokenizer, encoder with its head, class names, windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.errors import CheckpointError, ConfigError, DataError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.heads import SequenceClassifier
from zh_albert.tasks.batching import Size, sorted_batches
from zh_albert.tokenization.encoding import ModelInput, build_input, pad, windows
from zh_albert.tokenization.tokenizer import Tokenizer, load_tokenizer


@dataclass(frozen=True, kw_only=True)
class WindowConfig:
    """How texts longer than the model's window are read: in overlapping windows, never cut."""

    max_length: int = 128  # tokens of one window, [CLS] and [SEP] among them
    stride: int = 32  # tokens that neighbouring windows share

    def __post_init__(self) -> None:
        if not 0 <= self.stride < self.max_length - 2:
            raise ConfigError(
                f"stride ({self.stride}) must be >= 0 and less than max_length - 2 "
                f"({self.max_length - 2})"
            )


@dataclass(frozen=True, slots=True)
class EncodedText:
    """One text's windows as the model reads them."""

    windows: list[ModelInput]

    @property
    def size(self) -> Size:
        """What the text costs in a batch."""
        return Size(rows=len(self.windows), length=max(map(len, self.windows)))

    @property
    def tokens(self) -> int:
        """Tokens of all windows."""
        return sum(map(len, self.windows))


NO_CONTENT = "is empty (or only spaces and control characters): there is nothing to classify"


class TextClassifier:
    """Texts → class probabilities.

    Attributes:
        module: The network. Its logits are merged over a long text's windows, each weighing by
            its share of the tokens; a text that fits one window is read as without windows.
        tokenizer: Text → token ids.
        labels: Class names, in the order of the logits.
        window: See ``WindowConfig``.
        facts: What the model card and ``zh-albert models`` tell: data, scores.
    """

    def __init__(
        self,
        config: AlbertConfig,
        tokenizer: Tokenizer,
        labels: Sequence[str],
        *,
        window: WindowConfig,
        pooling: Literal["first", "mean"] = "first",
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        if window.max_length > config.max_position_embeddings:
            raise ConfigError(
                f"max_length ({window.max_length}) must not exceed the encoder's "
                f"max_position_embeddings ({config.max_position_embeddings})"
            )
        self.config, self.tokenizer = config, tokenizer
        self.labels, self.window, self.pooling = list(labels), window, pooling
        self.facts = dict(facts or {})
        self.module = SequenceClassifier(config, len(self.labels), pooling=pooling).eval()

    def encode(self, texts: Sequence[str]) -> list[EncodedText]:
        """Tokenize and cut into windows.

        Raises:
            DataError: If an element is not a string or holds nothing to classify.
        """
        encoded = self.encode_or_none(texts)
        for index, text in enumerate(encoded):
            if text is None:
                raise DataError(f"texts[{index}] {NO_CONTENT}; leave it out")
        return [text for text in encoded if text is not None]

    def encode_or_none(self, texts: Sequence[str]) -> list[EncodedText | None]:
        """Tokenize and cut into windows; None stands for a text that holds nothing to classify.

        Raises:
            DataError: If an element is not a string.
        """
        for index, text in enumerate(texts):
            if not isinstance(text, str):
                raise DataError(
                    f"texts[{index}]: expected a string, found {type(text).__name__}: {text!r:.50}"
                )
        special, room = self.tokenizer.special, self.window.max_length - 2
        result: list[EncodedText | None] = []
        for encoding in self.tokenizer.encode_batch(texts):
            if not encoding.ids:
                result.append(None)
                continue
            parts = [
                encoding.part(tokens) for tokens in windows(encoding, room, self.window.stride)
            ]
            result.append(EncodedText([build_input(special, part.ids) for part in parts]))
        return result

    def collate(self, texts: Sequence[EncodedText]) -> dict[str, Tensor]:
        """Pad the windows of several texts into one batch.

        Returns:
            ``token_ids``, ``type_ids``, ``mask``: Shape: (windows, length). ``owner``: the text of
            each window; ``share``: its share of the text's tokens. Shape: (windows,).
        """
        inputs = pad(
            [window for text in texts for window in text.windows], self.config.pad_token_id
        )
        owner = [index for index, text in enumerate(texts) for _ in text.windows]
        share = [len(window) / text.tokens for text in texts for window in text.windows]
        tensors = {name: torch.from_numpy(value) for name, value in inputs._asdict().items()}
        return {**tensors, "owner": torch.tensor(owner), "share": torch.tensor(share)}

    def probabilities(
        self, texts: Sequence[str], *, batch_tokens: int = 2048
    ) -> NDArray[np.float32]:
        """Return class probabilities, in the order of the texts. Shape: (texts, labels).

        Args:
            texts: Any length each; see ``encode`` for what is refused.
            batch_tokens: Tokens of one forward pass; about 2,048 is fastest on a CPU.
        """
        return self.probabilities_of(self.encode(texts), batch_tokens=batch_tokens)

    def probabilities_of(
        self, encoded: Sequence[EncodedText], *, batch_tokens: int = 2048
    ) -> NDArray[np.float32]:
        """Return class probabilities of encoded texts; see ``probabilities``."""
        result = np.zeros((len(encoded), len(self.labels)), dtype=np.float32)
        device = next(self.module.parameters()).device
        with torch.inference_mode():
            for chosen, inputs in self._batches(encoded, batch_tokens):
                moved = {name: value.to(device) for name, value in inputs.items()}
                logits = merged_logits(self.module, moved, len(chosen))
                result[chosen] = logits.float().softmax(-1).cpu().numpy()
        return result

    def _batches(
        self, encoded: Sequence[EncodedText], batch_tokens: int
    ) -> Iterator[tuple[list[int], dict[str, Tensor]]]:
        for chosen in sorted_batches([text.size for text in encoded], batch_tokens):
            yield chosen, self.collate([encoded[index] for index in chosen])

    def save(self, folder: Path, *, card: str, dtype: torch.dtype = torch.float16) -> None:
        """Write the model folder; see ``checkpoints.store.save_model``."""
        task = {
            "name": "classification",
            "labels": self.labels,
            "pooling": self.pooling,
            **asdict(self.window),
            **self.facts,
        }
        files = {**self.tokenizer.save_files(), "README.md": card.encode()}
        save_model(
            folder, model=self.module, config=self.config, files=files, task=task, dtype=dtype
        )

    @classmethod
    def load(cls, folder: Path) -> TextClassifier:
        """Open a model folder.

        Raises:
            CheckpointError: If it is none, or a model for something else.
        """
        config, task = load_config(folder)
        if task.get("name") != "classification" or not {"labels", "pooling"} <= task.keys():
            raise CheckpointError(
                f"{folder}: expected a model for classification, found one for "
                f"{task.get('name') or 'no task (an encoder)'}; fine-tune it first: "
                "zh-albert finetune --task classification --init …"
            )
        # A folder that transformers wrote names no window: take the encoder's whole length.
        task = {
            "max_length": config.max_position_embeddings,
            "stride": config.max_position_embeddings // 4,
            **task,
        }
        _, labels, pooling = (task.pop(key) for key in ("name", "labels", "pooling"))
        window = WindowConfig(max_length=task.pop("max_length"), stride=task.pop("stride"))
        tokenizer = matching_tokenizer(folder, config)
        classifier = cls(config, tokenizer, labels, window=window, pooling=pooling, facts=task)
        load_weights(classifier.module, folder)
        classifier.module.eval()
        return classifier


def matching_tokenizer(folder: Path, config: AlbertConfig) -> Tokenizer:
    """Read a folder's tokenizer.

    Raises:
        CheckpointError: If it is not the one the weights were trained with: its rows would stand
            for other tokens, without any other sign of it.
    """
    tokenizer = load_tokenizer(folder)
    if tokenizer.vocab_size != config.vocab_size:
        raise CheckpointError(
            f"{folder}: the vocabulary file has {tokenizer.vocab_size} rows, the model "
            f"{config.vocab_size}: it is cut or belongs to another model; get the folder again"
        )
    return tokenizer


def merged_logits(module: nn.Module, inputs: Mapping[str, Tensor], texts: int) -> Tensor:
    """Run the network and merge the windows of each text.

    Args:
        module: A ``SequenceClassifier``.
        inputs: What ``TextClassifier.collate`` made.
        texts: Texts in the batch.

    Returns:
        Logits. Shape: (texts, labels).
    """
    logits: Tensor = module(inputs["token_ids"], inputs["type_ids"], inputs["mask"])
    weighted = logits.float() * inputs["share"][:, None]
    return weighted.new_zeros(texts, logits.shape[-1]).index_add(0, inputs["owner"], weighted)
