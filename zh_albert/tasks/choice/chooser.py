"""A multiple-choice model as one thing: tokenizer, encoder with its head, windows."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.errors import CheckpointError, DataError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.heads import ChoiceScorer
from zh_albert.runtimes.exported import exported_runtimes
from zh_albert.runtimes.selection import plain_runtimes
from zh_albert.tasks.choice.examples import Question
from zh_albert.tasks.window_outputs import predicted_outputs
from zh_albert.tasks.windows import EncodedText, WindowConfig, encode_pair
from zh_albert.tokenization.encoding import Encoding
from zh_albert.tokenization.tokenizer import Tokenizer

NO_CONTENT = (
    "has an empty context or choice (or only spaces and control characters): there is nothing "
    "to choose"
)


class TextChooser:
    """Questions → the probability of each of their choices.

    A choice is read as ``[CLS] context [SEP] question [SEP] choice [SEP]``, the context as the
    first text of a pair and the rest as the second, and gets one logit; the softmax over a
    question's logits compares its choices. Long contexts are read in windows; see ``encode_pair``.

    Attributes:
        module: The network.
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
        pooling: Literal["first", "mean"] = "first",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        window.refuse_longer_than(config)
        self.config, self.tokenizer = config, tokenizer
        self.window, self.pooling = window, pooling
        self.metadata = dict(metadata or {})
        self.module = ChoiceScorer(config, pooling=pooling).eval()
        self.runtimes = plain_runtimes(self.module)

    def encode(self, questions: Sequence[Question]) -> list[list[EncodedText]]:
        """Tokenize and cut into windows: a text for each choice of each question.

        Raises:
            DataError: If a question has no content; its index is named.
        """
        encoded = self.encode_or_none(questions)
        for index, choices in enumerate(encoded):
            if choices is None:
                raise DataError(f"questions[{index}] {NO_CONTENT}; leave it out")
        return [choices for choices in encoded if choices is not None]

    def encode_or_none(self, questions: Sequence[Question]) -> list[list[EncodedText] | None]:
        """Tokenize and cut into windows; None stands for a question without content."""
        special, encode = self.tokenizer.special, self.tokenizer.encode_batch
        contexts = encode([question.context for question in questions])
        asked = encode([question.question for question in questions])
        every = iter(encode([choice for question in questions for choice in question.choices]))
        encoded: list[list[EncodedText] | None] = []
        for question, context, lead in zip(questions, contexts, asked, strict=True):
            choices = list(itertools.islice(every, len(question.choices)))
            if not context.ids or not all(choice.ids for choice in choices):
                encoded.append(None)
                continue
            head = [*lead.ids, special.sep] if lead.ids else []
            seconds = [Encoding([*head, *choice.ids], []) for choice in choices]
            encoded.append([encode_pair(context, one, special, self.window) for one in seconds])
        return encoded

    def probabilities(
        self, questions: Sequence[Question], *, batch_tokens: int | None = None
    ) -> list[NDArray[np.float32]]:
        """Return the probability of each choice of each question. Shape of each: (choices,).

        Args:
            questions: See ``encode`` for what is refused.
            batch_tokens: Padded tokens of one forward pass; None: what is fastest.
        """
        return self.probabilities_of(self.encode(questions), batch_tokens=batch_tokens)

    def probabilities_of(
        self, encoded: Sequence[Sequence[EncodedText]], *, batch_tokens: int | None = None
    ) -> list[NDArray[np.float32]]:
        """Return the probabilities of encoded questions; see ``probabilities``."""
        logits = self.logits_of(encoded, batch_tokens=batch_tokens)
        parts = torch.split(logits[:, 0], [len(choices) for choices in encoded])
        return [np.asarray(part.softmax(0)) for part in parts]

    def logits_of(
        self, encoded: Sequence[Sequence[EncodedText]], *, batch_tokens: int | None = None
    ) -> Tensor:
        """Return the logit of every choice of every question. Shape: (choices of all, 1)."""
        return predicted_outputs(
            self.runtimes,
            [choice for choices in encoded for choice in choices],
            width=1,
            config=self.config,
            batch_tokens=batch_tokens,
            odds=True,
        )

    def save(self, folder: Path, *, card: str, dtype: torch.dtype = torch.float16) -> None:
        """Write the model folder; see ``checkpoints.store.save_model``."""
        task = {"name": "choice", "pooling": self.pooling, **asdict(self.window), **self.metadata}
        files = {**self.tokenizer.save_files(), "README.md": card.encode()}
        save_model(
            folder, model=self.module, config=self.config, files=files, task=task, dtype=dtype
        )

    @classmethod
    def load(cls, folder: Path) -> TextChooser:
        """Open a model folder; what was exported into it runs the network, else PyTorch.

        Raises:
            CheckpointError: If it is none, or a model for something else.
        """
        config, task = load_config(folder)
        if task.get("name") != "choice" or "pooling" not in task:
            raise CheckpointError(
                f"{folder}: expected a model for choice, found one for "
                f"{task.get('name') or 'no task (an encoder)'}; fine-tune it first: "
                "zh-albert finetune --task choice --init …"
            )
        # A folder that transformers wrote names no window: take the encoder's whole length.
        longest = config.max_position_embeddings
        task = {"max_length": longest, "stride": longest // 4, **task}
        _, pooling = (task.pop(key) for key in ("name", "pooling"))
        window = WindowConfig(max_length=task.pop("max_length"), stride=task.pop("stride"))
        tokenizer = matching_tokenizer(folder, config)
        chooser = cls(config, tokenizer, window=window, pooling=pooling, metadata=task)
        load_weights(chooser.module, folder)
        chooser.module.eval()
        chooser.runtimes = exported_runtimes(folder, chooser.module) or chooser.runtimes
        return chooser
