"""The classifier: tokenizer, network, head, n-gram model and windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.heads import Pooling, SequenceClassifier
from zh_albert.runtimes.onnx_network import sequence_logits
from zh_albert.tasks.batched_inference import predicted_outputs
from zh_albert.tasks.classification.differences.comparison import compare
from zh_albert.tasks.classification.ensemble import tuned, untuned
from zh_albert.tasks.classification.head_selection import head_from
from zh_albert.tasks.classification.heads import LabelHead
from zh_albert.tasks.classification.ngrams import NgramClassifier
from zh_albert.tasks.fields import Label
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.texts import Content, refuse_non_pairs, refuse_non_strings
from zh_albert.tasks.windows import (
    EncodedText,
    WindowConfig,
    encode_mirrored,
    encode_pair,
    encode_windows,
)
from zh_albert.tokenization.tokenizer import Tokenizer


class TextClassifier(TaskModel[Content, EncodedText]):
    """A classifier or regressor: texts, or pairs of texts → class probabilities, or values.

    The network's logits of a long text are averaged over its windows, weighted by their tokens.

    Attributes:
        head: The head, which interprets the logits.
        pairs: Whether the inputs are pairs of texts.
        symmetric: Whether pairs are read in both orders and the logits averaged, so that the order
            makes no difference.
        different_at_most: Highest value of a pair that looks alike and surely says different
            things (see ``differences``); None: no limit.
        different_adds: Of classes: what is added to their logits for such a pair.
        ngrams: An n-gram model, the second ensemble member, or None. Its margins (in regression its
            value), times ``ngrams_weight``, are added to the network's logits.
        ngrams_weight: Factor of the margins.
        calibration_scale: Factor of the sum, which calibrates the probabilities.
    """

    names = ("classification", "pair")
    required = frozenset({"labels", "pooling"})
    outputs = staticmethod(sequence_logits)

    ngrams: NgramClassifier | None

    def __init__(
        self,
        config: AlbertConfig,
        tokenizer: Tokenizer,
        head: LabelHead,
        *,
        window: WindowConfig,
        pairs: bool = False,
        symmetric: bool = False,
        different_at_most: float | None = None,
        different_adds: Mapping[str, float] | None = None,
        pooling: Pooling = "first",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        network = SequenceClassifier(config, len(head.labels), pooling=pooling)
        super().__init__(config, tokenizer, network, window=window, metadata=metadata)
        self.head, self.pooling = head, pooling
        self.pairs, self.symmetric = pairs, symmetric
        self.different_at_most, self.different_adds = different_at_most, different_adds or {}
        self.ngrams_weight, self.calibration_scale = untuned(head)

    @property
    def name(self) -> str:
        """The task's name."""
        return self.names[self.pairs]

    @property
    def looks_for_differences(self) -> bool:
        """Whether pairs that look alike are searched for differences."""
        return self.different_at_most is not None or bool(self.different_adds)

    @property
    def labels(self) -> list[str]:
        """Names of the logits."""
        return self.head.labels

    def no_content(self, content: Content) -> str:
        """See ``TaskModel``; of a pair it names the empty texts."""
        subject = "is empty"
        if self.pairs:
            named = zip(("text_a", "text_b"), content, strict=True)
            empty = [name for name, text in named if not self.tokenizer.encode(text).ids]
            subject = f"has an empty {' and '.join(empty)}"
        return f"{subject} (or only spaces and control characters): there is nothing to classify"

    def encode_or_none(
        self, contents: Sequence[Content], *, counted_from: int = 0
    ) -> list[EncodedText | None]:
        """See ``TaskModel``."""
        special, encode = self.tokenizer.special, self.tokenizer.encode_batch
        if not self.pairs:
            refuse_non_strings(contents, counted_from=counted_from)
            return [
                encode_windows(text, special, self.window) if text.ids else None
                for text in encode(cast(Sequence[str], contents))
            ]
        refuse_non_pairs(contents, counted_from=counted_from)
        firsts, seconds = (encode([pair[side] for pair in contents]) for side in (0, 1))
        read = encode_mirrored if self.symmetric else encode_pair
        encoded = [
            read(first, second, special, self.window) if first.ids and second.ids else None
            for first, second in zip(firsts, seconds, strict=True)
        ]
        if not self.looks_for_differences:
            return encoded
        return [
            own and replace(own, differs=compare(*pair).surely)
            for own, pair in zip(encoded, contents, strict=True)
        ]

    def scores(self, texts: Sequence[Content]) -> NDArray[np.float32]:
        """Return class probabilities, or values, in the order of the texts.

        Args:
            texts: Texts of any length; see ``encode`` for errors.

        Returns:
            The head's scores. Shape: (texts, labels).
        """
        return self.scores_of(self.encode(texts))

    def scores_of(self, encoded: Sequence[EncodedText]) -> NDArray[np.float32]:
        """Return class probabilities, or values, of encoded texts; see ``scores``."""
        return self.head.scores(self.logits_of(encoded))

    def logits_of(self, encoded: Sequence[EncodedText]) -> Tensor:
        """Return the logits of encoded texts. Shape: (texts, labels)."""
        return self._added(encoded, *self._members(encoded))

    def member_scores(
        self, encoded: Sequence[EncodedText]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32] | None]:
        """Return the scores of encoded texts by the ensemble and by each of its members.

        For a single class per text, the ensemble's probabilities are the normalized product of the
        members' probabilities.

        Returns:
            Scores of the ensemble, of the network, and of the n-gram model or None. Shape of each:
            (texts, labels).
        """
        logits, margins = self._members(encoded)
        together = self.head.scores(self._added(encoded, logits, margins))
        if margins is None:
            return together, together, None
        scale = self.calibration_scale
        return (
            together,
            self.head.scores(scale * logits),
            self.head.scores(scale * self.ngrams_weight * margins),
        )

    def tuned_scores(
        self,
        encoded: Sequence[EncodedText],
        gold: Sequence[Label],
        metric: str,
        weight: float | None = None,
    ) -> NDArray[np.float32]:
        """Tune the decision parameters on labelled texts, and return their scores.

        They are the head's threshold, and the weight and scale of the ensemble; see
        ``ensemble.tuned``, also for ``metric`` and ``weight``.
        """
        logits, margins = self._members(encoded)
        if margins is not None:
            self.ngrams_weight, self.calibration_scale = tuned(
                self.head, logits, margins, gold, metric, weight
            )
        found = self.head.scores(self._added(encoded, logits, margins))
        self.head.tune(gold, found)
        return found

    def _members(self, encoded: Sequence[EncodedText]) -> tuple[Tensor, Tensor | None]:
        """Return the network's logits and the n-gram model's margins. Shape: (texts, labels)."""
        width = len(self.labels)
        logits = predicted_outputs(self.runtime, encoded, width=width, config=self.config)
        margins = torch.from_numpy(self.ngrams.margins(encoded)) if self.ngrams else None
        return logits, margins

    def _added(
        self, encoded: Sequence[EncodedText], logits: Tensor, margins: Tensor | None
    ) -> Tensor:
        if margins is not None:
            logits = self.calibration_scale * (logits + self.ngrams_weight * margins)
        if not self.looks_for_differences:
            return logits
        surely = torch.tensor([text.differs for text in encoded])[:, None]
        if self.different_at_most is not None:
            highest = self.head.targets([self.different_at_most])
            return logits - surely * (logits - highest).clamp(min=0)
        return logits + surely * torch.tensor(
            [self.different_adds.get(n, 0.0) for n in self.labels]
        )

    @classmethod
    def network(cls, config: AlbertConfig, settings: Mapping[str, Any]) -> nn.Module:
        """See ``TaskModel``."""
        labels = settings.get("labels")
        if not isinstance(labels, list):
            raise CheckpointError(f"there are no labels for the classifier, but {labels!r}")
        return SequenceClassifier(config, len(labels), pooling=settings.get("pooling", "first"))

    @classmethod
    def from_settings(
        cls, config: AlbertConfig, tokenizer: Tokenizer, window: WindowConfig, given: dict[str, Any]
    ) -> Self:
        """See ``TaskModel``."""
        head = head_from(given)
        for name in ("head", "labels", *head.settings()):
            given.pop(name, None)
        return cls(
            config,
            tokenizer,
            head,
            window=window,
            pairs=given.pop("name") == "pair",
            symmetric=given.pop("symmetric", False),
            different_at_most=given.pop("different_at_most", None),
            different_adds=given.pop("different_adds", None),
            pooling=given.pop("pooling"),
            metadata=given,
        )

    def settings(self) -> dict[str, Any]:
        """See ``TaskModel``."""
        head = {"head": self.head.name, "labels": self.labels, **self.head.settings()}
        # The window stands before ``symmetric``, as in the folders of earlier versions.
        symmetric = {**asdict(self.window), "symmetric": True} if self.symmetric else {}
        different = {
            "different_at_most": self.different_at_most,
            "different_adds": dict(self.different_adds) or None,
        }
        given = {name: value for name, value in different.items() if value is not None}
        return {**head, "pooling": self.pooling, **symmetric, **given}

    def ngrams_settings(self) -> dict[str, float]:
        """See ``TaskModel``."""
        return {"weight": self.ngrams_weight, "scale": self.calibration_scale}

    def load_ngrams(self, file: Path, settings: Mapping[str, float]) -> None:
        """See ``TaskModel``."""
        self.ngrams = NgramClassifier.load(file, len(self.labels))
        self.ngrams_weight = float(settings["weight"])
        self.calibration_scale = float(settings["scale"])
