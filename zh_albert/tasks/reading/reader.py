"""A reader as one thing: tokenizer, encoder with its head, windows, when it gives no answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.errors import CheckpointError, DataError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.readers import SpanReader
from zh_albert.runtimes.exported import exported_runtimes
from zh_albert.runtimes.selection import plain_runtimes
from zh_albert.tasks.reading.examples import AnswerSpan
from zh_albert.tasks.reading.questions import (
    EncodedQuestion,
    encode_question,
    question_outputs,
    refuse_narrow,
)
from zh_albert.tasks.reading.spans import Reading, read_window
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.encoding import Encoding
from zh_albert.tokenization.simplified import encode_simplified, simplifier
from zh_albert.tokenization.tokenizer import Tokenizer

NO_QUESTION = "is empty (or only spaces and control characters): there is nothing to answer"
_POOL = 512  # questions read together: bounds the texts in tokens that wait


class TextReader:
    """Questions and texts → answers.

    Attributes:
        module: The network.
        tokenizer: Text → token ids.
        window: See ``WindowConfig``; no answer has more than ``stride`` tokens.
        simplify: Read traditional characters as simplified ones (needs OpenCC).
        threshold: Log-odds that an answer must have; None: it always answers. See
            ``spans.Reading``.
        runtimes: What runs the network when it predicts.
        metadata: What the model card and ``zh-albert models`` tell: data, scores.
    """

    def __init__(
        self,
        config: AlbertConfig,
        tokenizer: Tokenizer,
        *,
        window: WindowConfig,
        simplify: bool = False,
        threshold: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        window.refuse_longer_than(config)
        refuse_narrow(window)
        if simplify:
            simplifier()  # if it is missing, this is the time to say so
        self.config, self.tokenizer, self.window = config, tokenizer, window
        self.simplify, self.threshold = simplify, threshold
        self.metadata = dict(metadata or {})
        self.module = SpanReader(config).eval()
        self.runtimes = plain_runtimes(self.module)

    def encode(
        self, pairs: Sequence[tuple[str, str]], *, counted_from: int = 0
    ) -> list[EncodedQuestion]:
        """Tokenize questions and their texts; a text that several ask about is read once.

        Raises:
            DataError: If one is no string, or a question holds nothing to read; the first pair is
                number ``counted_from``.
        """
        for index, pair in enumerate(pairs, start=counted_from):
            for name, text in zip(("questions", "contexts"), pair, strict=True):
                if not isinstance(text, str):
                    raise DataError(
                        f"{name}[{index}]: expected a string, found {type(text).__name__}: "
                        f"{text!r:.50}"
                    )
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        encodings = dict(zip(texts, self._encodings(texts), strict=True))
        for index, (question, _) in enumerate(pairs, start=counted_from):
            if not encodings[question].ids:
                raise DataError(f"questions[{index}] {NO_QUESTION}; leave it out")
        return [encode_question(encodings[q], encodings[c], self.window) for q, c in pairs]

    def _encodings(self, texts: Sequence[str]) -> list[Encoding]:
        if self.simplify:
            return encode_simplified(self.tokenizer, texts)
        return self.tokenizer.encode_batch(texts)

    def has_tokens(self, text: str) -> bool:
        """Say whether a text holds anything to read."""
        return bool(self.tokenizer.encode(text).ids)

    def predict(
        self, pairs: Sequence[tuple[str, str]], *, top_k: int = 1, batch_tokens: int | None = None
    ) -> list[list[tuple[AnswerSpan, float]]]:
        """Return the best ``top_k`` answers to each question, best first, with probabilities.

        ``NO_ANSWER`` is one of them where the reader may decline, and where there is no text.

        Args:
            pairs: Question and context; contexts of any length, also empty.
            top_k: How many answers, at least 1; there can be fewer.
            batch_tokens: Padded tokens of one forward pass; None: what is fastest.

        Raises:
            DataError: If one is no string, or a question holds nothing to read.
        """
        result = []
        for start in range(0, len(pairs), _POOL):
            questions = self.encode(pairs[start : start + _POOL], counted_from=start)
            readings = self.read(questions, keep=top_k, batch_tokens=batch_tokens)
            result += [reading.answers(self.threshold)[:top_k] for reading in readings]
        return result

    def read(
        self,
        questions: Sequence[EncodedQuestion],
        *,
        keep: int = 1,
        batch_tokens: int | None = None,
    ) -> list[Reading]:
        """Return what is found for each question, whether it is enough to answer or not."""
        readings = [Reading() for _ in questions]
        outputs = question_outputs(
            questions,
            self.runtimes,
            self.config,
            self.tokenizer.special,
            batch_tokens=batch_tokens,
        )
        longest = self.window.stride
        for places, logits in outputs:
            for row, (q, w) in zip(logits, places, strict=True):
                found = read_window(row, questions[q], w, longest=longest, keep=keep)
                readings[q].add(*found, keep=keep)
        return readings

    def save(self, folder: Path, *, card: str, dtype: torch.dtype = torch.float16) -> None:
        """Write the model folder; see ``checkpoints.store.save_model``."""
        task = {
            "name": "reading",
            "simplify": self.simplify,
            "threshold": self.threshold,
            **asdict(self.window),
            **self.metadata,
        }
        files = {**self.tokenizer.save_files(), "README.md": card.encode()}
        save_model(
            folder, model=self.module, config=self.config, files=files, task=task, dtype=dtype
        )

    @classmethod
    def load(cls, folder: Path) -> TextReader:
        """Open a model folder; what was exported into it runs the network, else PyTorch.

        Raises:
            CheckpointError: If it is none, or a model for something else.
            MissingExtraError: If it reads traditional characters and OpenCC is not installed.
        """
        config, task = load_config(folder)
        if task.get("name") != "reading" or not {"max_length", "stride"} <= task.keys():
            raise CheckpointError(
                f"{folder}: expected a model for reading, found one for "
                f"{task.get('name') or 'no task (an encoder)'}; fine-tune it first: "
                "zh-albert finetune --task reading --init …"
            )
        task.pop("name")
        window = WindowConfig(max_length=task.pop("max_length"), stride=task.pop("stride"))
        reader = cls(
            config,
            matching_tokenizer(folder, config),
            window=window,
            simplify=task.pop("simplify", False),
            threshold=task.pop("threshold", None),
            metadata=task,
        )
        load_weights(reader.module, folder)
        reader.module.eval()
        reader.runtimes = exported_runtimes(folder, reader.module) or reader.runtimes
        return reader
