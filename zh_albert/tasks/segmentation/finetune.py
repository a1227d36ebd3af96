"""Fine-tuning a word segmenter: segmented texts and an encoder in, a model folder out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from zh_albert.model.config import AlbertConfig
from zh_albert.tasks import run
from zh_albert.tasks.config import JobConfig, NetworkConfig
from zh_albert.tasks.evaluation import timed
from zh_albert.tasks.job import FineTuningJob
from zh_albert.tasks.segmentation.card import segmenter_card
from zh_albert.tasks.segmentation.examples import SegmentationExample, WordSpan
from zh_albert.tasks.segmentation.metrics import word_metrics
from zh_albert.tasks.segmentation.segmenter import Head, TextSegmenter
from zh_albert.tasks.segmentation.tags import BEGIN, END, SINGLE, tags_of
from zh_albert.tasks.tagging.cuts import cuts, longest_part
from zh_albert.tasks.tagging.linear_probe import probe_emissions
from zh_albert.tasks.tagging.merging import deciding, merged
from zh_albert.tasks.tagging.metrics import entropy
from zh_albert.tasks.windows import EncodedText, encode_windows, pad_windows
from zh_albert.tokenization.encoding import INPUT_NAMES
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.training.batching import SeededBatch, Size
from zh_albert.training.events import Observer
from zh_albert.training.loop import Batch, LossOutput


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    head: Head = "crf"  # "softmax" opens in transformers


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """All settings of a fine-tuning run except the data and the encoder it starts from."""

    model: ModelConfig = field(default_factory=ModelConfig)


class SegmentationJob(FineTuningJob[SegmentationExample, TextSegmenter]):
    """Fine-tuning of a word segmenter."""

    metric_names = ("f1", "precision", "recall")
    model_type = TextSegmenter
    config_type = FinetuneConfig
    card = staticmethod(segmenter_card)

    def build(self, sizes: AlbertConfig, tokenizer: Tokenizer) -> TextSegmenter:
        """See ``FineTuningJob``."""
        window, head = self.config.window, self.config.model.head
        return TextSegmenter(sizes, tokenizer, window=window, head=head)

    def encode(self, progress: Observer) -> Sequence[Size]:  # noqa: ARG002
        """See ``FineTuningJob``; a text that exceeds a batch is cut between words."""
        window, special = self.model.window, self.model.tokenizer.special
        limit = longest_part(window, self.config.train.batch_tokens)
        self.texts: list[EncodedText] = []
        self.tags: list[Tensor] = []
        encodings = self.model.tokenizer.encode_batch([one.text for one in self.examples])
        for example, encoding in zip(self.examples, encodings, strict=True):
            tags = tags_of(example.words, encoding.offsets)
            for part in cuts(len(encoding), _words(tags), limit):
                self.texts.append(encode_windows(encoding.part(part), special, window))
                self.tags.append(torch.tensor(tags[part.start : part.stop]))
        return [text.size for text in self.texts]

    def load(self, item: SeededBatch) -> Batch:
        """See ``FineTuningJob``."""
        texts = [self.texts[number] for number in item.texts]
        inputs = pad_windows(
            [w for text in texts for w in text.windows], self.model.config.pad_token_id
        )
        inputs |= deciding(texts, inputs["mask"].shape[1])
        inputs["tags"] = pad_sequence([self.tags[number] for number in item.texts], True)
        weight = float(sum(text.text_tokens for text in texts))
        return Batch(inputs, weight=weight, tokens=sum(text.tokens for text in texts))

    def loss(self, network: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        """Return the negative log-probability of the tags, in nats, summed over the tokens."""
        scores = network(*(inputs[name] for name in INPUT_NAMES))
        return LossOutput(self.model.module.losses(*merged(scores, inputs), inputs["tags"]).sum())

    def probe(self, progress: Observer) -> None:  # noqa: ARG002
        """See ``FineTuningJob``."""
        batches: Iterator[dict[str, Tensor]] = (self.load(item).inputs for item in self.plan(0))
        probe_emissions(self.model.module, batches)

    def chance_loss(self) -> float:
        """See ``FineTuningJob``: the entropy of the tags."""
        return entropy(tag for tags in self.tags for tag in tags.tolist())

    def evaluate(self) -> dict[str, Any]:
        """See ``FineTuningJob``."""
        return evaluate(self.model, self.dev)


JOB = SegmentationJob
finetune = partial(run.finetune, JOB)


def evaluate(segmenter: TextSegmenter, examples: Sequence[SegmentationExample]) -> dict[str, Any]:
    """Return ``word_metrics``, ``examples`` and ``seconds`` (of prediction)."""
    texts, gold = [example.text for example in examples], [example.words for example in examples]

    def predict() -> list[list[WordSpan]]:
        return segmenter.words_in(texts, segmenter.encode(texts))

    return timed(examples, predict, lambda found: word_metrics(gold, found))


def _words(tags: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and the last token of each word."""
    firsts = [token for token, tag in enumerate(tags) if tag in (BEGIN, SINGLE)]
    lasts = [token for token, tag in enumerate(tags) if tag in (END, SINGLE)]
    return list(zip(firsts, lasts, strict=True))
