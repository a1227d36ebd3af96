"""A classifier as one thing: tokenizer, encoder with its head, what the logits mean, windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zh_albert.checkpoints.files import NGRAMS
from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.errors import CheckpointError, DataError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.heads import SequenceClassifier
from zh_albert.runtimes.exported import exported_runtimes
from zh_albert.runtimes.selection import plain_runtimes
from zh_albert.tasks.classification.heads import HeadName, LabelHead, head_from
from zh_albert.tasks.classification.labels import Label
from zh_albert.tasks.classification.ngrams import NgramClassifier
from zh_albert.tasks.texts import Content, refuse_non_pairs, refuse_non_strings
from zh_albert.tasks.window_outputs import predicted_outputs
from zh_albert.tasks.windows import (
    EncodedText,
    WindowConfig,
    encode_mirrored,
    encode_pair,
    encode_windows,
)
from zh_albert.tokenization.tokenizer import Tokenizer

TASKS = ("classification", "pair")
# What the n-grams' opinion is worth in logits: to choose from on dev examples, and without any.
# Of many classes with few texts each the network is far too sure, and the SVM's margins are narrow.
_WEIGHTS: Mapping[HeadName, tuple[float, ...]] = {
    "classes": (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0, 32.0, 48.0),
    "regression": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.0, 4.0),
}
_WEIGHT: Mapping[HeadName, float] = {"classes": 5.0, "regression": 0.4}
# What both together are worth, to choose from.
_SCALES = tuple(round(1.1**power, 4) for power in range(-36, 8))  # 0.03 to 1.95


class TextClassifier:
    """Texts, or pairs of texts → class probabilities, or values.

    Attributes:
        module: The network. Its logits are merged over a long text's windows, each weighing by
            its share of the tokens; a text that fits one window is read as without windows.
        runtimes: What runs the network when it predicts.
        tokenizer: Text → token ids.
        head: What the logits mean.
        window: See ``WindowConfig``.
        pairs: Whether it reads pairs of texts.
        symmetric: Whether it reads them in both orders and averages the logits, so that the order
            makes no difference.
        ngrams: Adds its margins (of a value: its own), times ``ngrams_weight``, to the network's
            logits; or None.
        ngrams_weight: Logits that a margin of 1 is worth.
        calibration_scale: What the sum is multiplied by, so that probabilities mean what they say.
        metadata: What the model card and ``zh-albert models`` tell: data, scores.
    """

    def __init__(
        self,
        config: AlbertConfig,
        tokenizer: Tokenizer,
        head: LabelHead,
        *,
        window: WindowConfig,
        pairs: bool = False,
        symmetric: bool = False,
        pooling: Literal["first", "mean"] = "first",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        window.refuse_longer_than(config)
        self.config, self.tokenizer = config, tokenizer
        self.head, self.window, self.pooling = head, window, pooling
        self.pairs, self.symmetric = pairs, symmetric
        self.metadata = dict(metadata or {})
        self.module = SequenceClassifier(config, len(head.labels), pooling=pooling).eval()
        self.runtimes = plain_runtimes(self.module)
        self.ngrams: NgramClassifier | None = None
        self.ngrams_weight = _WEIGHT.get(head.name, 0.0)
        # Probabilities are those of a sum of logits, a value is a mean of two.
        self.calibration_scale = 1 / (1 + self.ngrams_weight) if head.name == "regression" else 1.0

    @property
    def labels(self) -> list[str]:
        """Names of the logits."""
        return self.head.labels

    @property
    def no_content(self) -> str:
        """What is wrong with a text that ``encode_or_none`` answers with None."""
        subject = "has an empty text" if self.pairs else "is empty"
        return f"{subject} (or only spaces and control characters): there is nothing to classify"

    def encode(self, texts: Sequence[Content]) -> list[EncodedText]:
        """Tokenize and cut into windows.

        Raises:
            DataError: If an element is not a string (a pair of strings, if that is what the model
                reads) or holds nothing to classify.
        """
        encoded = self.encode_or_none(texts)
        for index, text in enumerate(encoded):
            if text is None:
                raise DataError(f"texts[{index}] {self.no_content}; leave it out")
        return [text for text in encoded if text is not None]

    def encode_or_none(self, texts: Sequence[Content]) -> list[EncodedText | None]:
        """Tokenize and cut into windows; None stands for a text that holds nothing to classify.

        Raises:
            DataError: If an element is not a string (a pair of strings).
        """
        special, encode = self.tokenizer.special, self.tokenizer.encode_batch
        if not self.pairs:
            refuse_non_strings(texts)
            return [
                encode_windows(text, special, self.window) if text.ids else None
                for text in encode(cast(Sequence[str], texts))
            ]
        refuse_non_pairs(texts)
        firsts, seconds = (encode([pair[side] for pair in texts]) for side in (0, 1))
        read = encode_mirrored if self.symmetric else encode_pair
        return [
            read(first, second, special, self.window) if first.ids and second.ids else None
            for first, second in zip(firsts, seconds, strict=True)
        ]

    def scores(
        self, texts: Sequence[Content], *, batch_tokens: int | None = None
    ) -> NDArray[np.float32]:
        """Return class probabilities, or values, in the order of the texts.

        Args:
            texts: Any length each; see ``encode`` for what is refused.
            batch_tokens: Padded tokens of one forward pass; None: what is fastest.

        Returns:
            What the head makes of the logits. Shape: (texts, labels).
        """
        return self.scores_of(self.encode(texts), batch_tokens=batch_tokens)

    def scores_of(
        self, encoded: Sequence[EncodedText], *, batch_tokens: int | None = None
    ) -> NDArray[np.float32]:
        """Return class probabilities, or values, of encoded texts; see ``scores``."""
        return self.head.scores(self.logits_of(encoded, batch_tokens=batch_tokens))

    def logits_of(
        self, encoded: Sequence[EncodedText], *, batch_tokens: int | None = None
    ) -> Tensor:
        """Return what ``scores_of`` are made of. Shape: (texts, labels)."""
        return self._logits(*self._member_scores(encoded, batch_tokens))

    def scores_apart(
        self, encoded: Sequence[EncodedText]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32] | None]:
        """Return ``scores_of`` encoded texts, and what either part alone makes of them.

        For a choice of one class the product of the parts' probabilities, made to sum to 1, is
        that of both.

        Returns:
            Of both, of the network, and of the n-grams or None. Shape of each: (texts, labels).
        """
        logits, margins = self._member_scores(encoded, None)
        together = self.head.scores(self._logits(logits, margins))
        if margins is None:
            return together, together, None
        return (
            together,
            self.head.scores(self.calibration_scale * logits),
            self.head.scores(self.calibration_scale * self.ngrams_weight * margins),
        )

    def tuned_scores(
        self, encoded: Sequence[EncodedText], gold: Sequence[Label]
    ) -> NDArray[np.float32]:
        """Choose on labelled texts what is decided after training, and return their scores.

        That is a head's threshold; and what the n-grams weigh, by the score, and the sum of both
        members, by its cross-entropy: added up they are surer of themselves than they should be.
        """
        logits, margins = self._member_scores(encoded, None)
        if margins is not None:
            wanted = self.head.targets(gold)

            def score(weight: float) -> float:
                found = self.head.scores(logits + weight * margins)
                return self.head.metrics(gold, found)[self.head.metric]

            def loss(scale: float) -> float:
                added = logits + self.ngrams_weight * margins
                return float(self.head.losses(scale * added, wanted).mean())

            self.ngrams_weight = max(_WEIGHTS[self.head.name], key=score)
            self.calibration_scale = min(_SCALES, key=loss)
        found = self.head.scores(self._logits(logits, margins))
        self.head.tune(gold, found)
        return found

    def _member_scores(
        self, encoded: Sequence[EncodedText], batch_tokens: int | None
    ) -> tuple[Tensor, Tensor | None]:
        """Return the network's logits and the margins of the n-grams. Shape: (texts, labels)."""
        logits = predicted_outputs(
            self.runtimes,
            encoded,
            width=len(self.labels),
            config=self.config,
            batch_tokens=batch_tokens,
        )
        margins = torch.from_numpy(self.ngrams.margins(encoded)) if self.ngrams else None
        return logits, margins

    def _logits(self, logits: Tensor, margins: Tensor | None) -> Tensor:
        """Add both members up, if there are two."""
        if margins is None:
            return logits
        return self.calibration_scale * (logits + self.ngrams_weight * margins)

    def save(self, folder: Path, *, card: str, dtype: torch.dtype = torch.float16) -> None:
        """Write the model folder; see ``checkpoints.store.save_model``."""
        task = {
            "name": TASKS[self.pairs],
            "head": self.head.name,
            "labels": self.labels,
            **self.head.settings(),
            "pooling": self.pooling,
            **asdict(self.window),
            **({"symmetric": True} if self.symmetric else {}),
            **self.metadata,
        }
        files = {**self.tokenizer.save_files(), "README.md": card.encode()}
        if self.ngrams:
            task["ngrams"] = {"weight": self.ngrams_weight, "scale": self.calibration_scale}
            files[NGRAMS] = self.ngrams.to_bytes(exact=dtype == torch.float32)
        save_model(
            folder, model=self.module, config=self.config, files=files, task=task, dtype=dtype
        )

    @classmethod
    def load(cls, folder: Path) -> TextClassifier:
        """Open a model folder; what was exported into it runs the network, else PyTorch.

        Raises:
            CheckpointError: If it is none, or a model for something else.
        """
        config, task = load_config(folder)
        if task.get("name") not in TASKS or not {"labels", "pooling"} <= task.keys():
            raise CheckpointError(
                f"{folder}: expected a model for {' or '.join(TASKS)}, found one for "
                f"{task.get('name') or 'no task (an encoder)'}; fine-tune it first: "
                "zh-albert finetune --task classification --init …"
            )
        # A folder that transformers wrote names no window: take the encoder's whole length.
        task = {
            "max_length": config.max_position_embeddings,
            "stride": config.max_position_embeddings // 4,
            **task,
        }
        how = {
            "pairs": task.pop("name") == "pair",
            "symmetric": task.pop("symmetric", False),
            "pooling": task.pop("pooling"),
        }
        window = WindowConfig(max_length=task.pop("max_length"), stride=task.pop("stride"))
        head = head_from(task)
        ngrams = task.pop("ngrams", None)
        metadata = {k: v for k, v in task.items() if k not in ("head", "labels", *head.settings())}
        tokenizer = matching_tokenizer(folder, config)
        classifier = cls(config, tokenizer, head, window=window, metadata=metadata, **how)
        load_weights(classifier.module, folder)
        classifier.module.eval()
        classifier.runtimes = exported_runtimes(folder, classifier.module) or classifier.runtimes
        if ngrams:
            classifier.ngrams = NgramClassifier.load(folder / NGRAMS, len(head.labels))
            classifier.ngrams_weight = float(ngrams["weight"])
            classifier.calibration_scale = float(ngrams["scale"])
        return classifier
