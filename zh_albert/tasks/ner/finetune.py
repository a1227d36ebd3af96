"""Fine-tuning a tagger: texts with entities and an encoder in, a model folder out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from zh_albert.distillation.soft_targets import refuse_other_tokens
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.token_tagger import TokenTagger
from zh_albert.tasks import run
from zh_albert.tasks.config import JobConfig, NetworkConfig
from zh_albert.tasks.evaluation import noted, timed
from zh_albert.tasks.job import FineTuningJob
from zh_albert.tasks.ner.card import tagger_card
from zh_albert.tasks.ner.examples import EntityExample, type_names, types_in
from zh_albert.tasks.ner.global_pointer_head import GlobalPointerHead
from zh_albert.tasks.ner.head_probes import probe_borders, probe_pairs
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.metrics import entity_metrics
from zh_albert.tasks.ner.networks import GlobalPointerTagger, Head, SpanTagger
from zh_albert.tasks.ner.ngrams import NgramTagger
from zh_albert.tasks.ner.tag_head import TagHead
from zh_albert.tasks.ner.tagger import Found, TextTagger
from zh_albert.tasks.ner.tags import Scheme, TagSet
from zh_albert.tasks.ner.training_texts import training_passages
from zh_albert.tasks.tagging.linear_probe import probe_emissions
from zh_albert.tasks.taught import Questions
from zh_albert.tasks.texts import refuse_unseen
from zh_albert.tasks.windows import pad_windows
from zh_albert.tokenization.encoding import INPUT_NAMES
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.training.batching import SeededBatch, Size, seeded_batches
from zh_albert.training.events import Observer, Warned
from zh_albert.training.loop import Batch, LossOutput


@dataclass(frozen=True, kw_only=True)
class ModelConfig(NetworkConfig):
    """The network around (or in place of) a trained encoder."""

    head: Head = "crf"  # "softmax" opens in transformers; "global_pointer" nests entities
    # Tags of "softmax" and "crf"; with "bio", pipelines of transformers find whole entities, too.
    scheme: Scheme = "bioes"
    # An ensemble with a small tagger over n-grams; None: if the head is "crf".
    ngrams: bool | None = None
    # No entity goes on behind a line end, or blanks between two Chinese characters.
    split_at_breaks: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ngrams and self.head != "crf":
            raise ConfigError(f'ngrams = true needs head = "crf", found "{self.head}"')
        if self.scheme != "bioes" and self.head not in ("softmax", "crf"):
            raise ConfigError(
                f'scheme = "{self.scheme}" needs head = "softmax" or "crf", whose scores are those '
                f'of tags; found "{self.head}"'
            )


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig(JobConfig):
    """All settings of a fine-tuning run except the data and the encoder it starts from.

    A teacher is possible only for heads with tags.
    """

    model: ModelConfig = field(default_factory=ModelConfig)


class TaggingJob(FineTuningJob[EntityExample, TextTagger]):
    """Fine-tuning of an entity tagger.

    Entities that cannot be trained unchanged are counted in a warning event; see
    ``alignment.SkippedEntities``. Scores always count all of them.

    Raises:
        ConfigError: If the head cannot learn from a teacher.
        CheckpointError: If the teacher has other types, other tokens, or a head without tags.
        DataError: If there are no entities, or dev has types that training lacks.
    """

    metric_names = ("f1", "precision", "recall")
    takes_unlabelled = True
    model_type = TextTagger
    config_type = FinetuneConfig
    card = staticmethod(tagger_card)

    def settle(self) -> None:
        """See ``FineTuningJob``."""
        if self.started is not None:
            self.types, self._tag_set = list(self.started.tag_set.types), self.started.tag_set
            refuse_unseen(types_in(self.examples), self.types, "the training examples", "types")
        else:
            self.types = type_names(self.examples)
            self._tag_set = TagSet.of(self.types, self.config.model.scheme)
        refuse_unseen(types_in(self.dev), self.types, "the dev examples", "types")

    def build(self, sizes: AlbertConfig, tokenizer: Tokenizer) -> TextTagger:
        """See ``FineTuningJob``."""
        model = self.config.model
        return TextTagger(
            sizes,
            tokenizer,
            self.types,
            window=self.config.window,
            head=model.head,
            tags=self._tag_set.names,
            split_at_breaks=model.split_at_breaks,
        )

    def encode(self, progress: Observer) -> Sequence[Size]:
        """See ``FineTuningJob``; the entities of unlabelled texts are left out."""
        batch_tokens = self.config.train.batch_tokens
        passages, skipped = training_passages(self.model, self.examples, batch_tokens=batch_tokens)
        if warning := str(skipped):
            progress(Warned(update=0, text=warning))
        further = [EntityExample(example.text, ()) for example in self.unlabelled]
        others, _ = training_passages(self.model, further, batch_tokens=batch_tokens)
        self.labelled, self.passages = passages, passages + others
        return [passage.text.size for passage in self.passages]

    def unlabelled_instances(self) -> int:
        """See ``FineTuningJob``."""
        return len(self.passages) - len(self.labelled)

    def load(self, item: SeededBatch) -> Batch:
        """See ``FineTuningJob``."""
        passages = [self.passages[number] for number in item.texts]
        inputs = self._inputs(passages) | self.soft_inputs(item.texts)
        weight = self.model.head.weight(passages)
        return Batch(inputs, weight=weight, tokens=sum(p.text.tokens for p in passages))

    def _inputs(self, passages: Sequence[Passage]) -> dict[str, Tensor]:
        windows = [window for passage in passages for window in passage.text.windows]
        inputs = pad_windows(windows, self.model.config.pad_token_id)
        return inputs | self.model.head.targets(passages, inputs["mask"].shape[1])

    def loss(self, network: nn.Module, inputs: dict[str, Tensor]) -> LossOutput:
        """See ``FineTuningJob``; see ``EntityHead.loss``."""
        scores, head = network(*(inputs[name] for name in INPUT_NAMES)), self.model.head
        if "soft_targets" not in inputs:
            return LossOutput(head.loss(scores, inputs))
        assert isinstance(head, TagHead)
        return LossOutput(head.loss(scores, inputs, self.config.teacher))

    def fit_ngrams(self, progress: Observer) -> None:
        """See ``FineTuningJob``."""
        settings = self.config.model
        if settings.head == "crf" and settings.ngrams is not False:
            seed, tags = self.config.train.seed, self._tag_set
            self.model.ngrams = NgramTagger.fit(self.labelled, tags, seed=seed, progress=progress)

    def probe(self, progress: Observer) -> None:  # noqa: ARG002
        """See ``FineTuningJob``."""
        network, head, batches = self.model.module, self.model.head, self._labelled_batches()
        match network:
            case TokenTagger():
                probe_emissions(network, batches)
            case SpanTagger():
                probe_borders(network, batches)
            case GlobalPointerTagger():
                assert isinstance(head, GlobalPointerHead)
                probe_pairs(network, head, batches)

    def _labelled_batches(self) -> Iterator[dict[str, Tensor]]:
        """Yield the inputs of the first epoch's batches of labelled passages."""
        train, sizes = self.config.train, self.sizes[: len(self.labelled)]
        for batch in seeded_batches(sizes, train.batch_tokens, seed=train.seed, epoch=0):
            yield self._inputs([self.labelled[number] for number in batch.texts])

    def chance_loss(self) -> float | None:
        """See ``FineTuningJob``; None with soft targets, for which that of the tags is no bound."""
        return None if self.teachers else self.model.head.chance_loss(self.labelled)

    def check_teacher(self, folder: Path, settings: Mapping[str, Any]) -> None:
        """See ``FineTuningJob``."""
        if not isinstance(self.model.head, TagHead):
            raise ConfigError(f"a teacher teaches tags: model.head={self.model.head_name} has none")
        if settings["head"] not in ("softmax", "crf"):
            raise CheckpointError(
                f"{folder}: expected a teacher whose head is softmax or crf, found "
                f"{settings['head']}"
            )
        theirs = TextTagger.tags_in(folder, settings)
        if sorted(theirs.types) != sorted(self.types):
            raise CheckpointError(
                f"{folder}: expected a teacher of the training data's types "
                f"({', '.join(self.types)}), found one of {', '.join(theirs.types)}; "
                "fine-tune it on these data"
            )
        if sorted(theirs.names) != sorted(self._tag_set.names):
            raise CheckpointError(
                f"{folder}: expected a teacher of the tags {', '.join(self._tag_set.names)}, "
                f"found one of {', '.join(theirs.names)}; set model.scheme to that of the teacher"
            )
        refuse_other_tokens(folder, self.model.tokenizer)

    def asked(self) -> list[object]:
        """See ``FineTuningJob``."""
        window, batch_tokens = asdict(self.config.window), self.config.train.batch_tokens
        return [list(super().asked()), window, batch_tokens, self.types]

    def questions(self) -> Questions:
        """See ``FineTuningJob``: the emissions of every token."""
        counts = [passage.tokens for passage in self.passages]
        return Questions(counts, len(self._tag_set.names), counts)

    def teacher_logits(self, teacher: TextTagger, instances: list[int]) -> Tensor:
        """See ``FineTuningJob``."""
        emissions = teacher.emissions_of([self.passages[number].text for number in instances])
        names = teacher.tag_set.names
        return torch.cat(emissions)[:, [names.index(name) for name in self._tag_set.names]]

    def shaped(self, logits: Tensor, chosen: list[int]) -> Tensor:
        """See ``FineTuningJob``. Shape: (texts, tokens, tags)."""
        counts = [self.passages[number].tokens for number in chosen]
        return pad_sequence(list(torch.split(logits, counts)), batch_first=True)

    def evaluate(self) -> dict[str, Any]:
        """See ``FineTuningJob``."""
        return evaluate(self.model, self.dev, tune=True)


_NONE_FOUND = (
    "no entity is found in any of the dev texts. Try more epochs (train.epochs), a higher rate "
    "(train.peak_lr), or check that the offsets of training entities are right"
)

JOB = TaggingJob
finetune = partial(run.finetune, JOB)


def evaluate(
    tagger: TextTagger, examples: Sequence[EntityExample], *, tune: bool = False
) -> dict[str, Any]:
    """Return ``entity_metrics``, ``examples`` and ``seconds`` (of prediction).

    With ``tune`` also ``one_sided``, a warning, if no entity is found.

    Args:
        tagger: The tagger to score.
        examples: Examples to score it on.
        tune: First tune the n-gram share on them.
    """
    gold = [example.entities for example in examples]

    def predict() -> Found:
        encoded = tagger.encode([example.text for example in examples])
        return tagger.tuned_entities(encoded, gold) if tune else tagger.entities_of(encoded)

    def score(found: Found) -> dict[str, Any]:
        warning = _NONE_FOUND if tune and any(gold) and not any(found) else ""
        entities = [[entity for entity, _ in spans] for spans in found]
        return entity_metrics(gold, entities) | noted(warning)

    return timed(examples, predict, score)
