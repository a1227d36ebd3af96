"""Learning from a trained tagger: the tags it holds for possible at each token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from zh_albert.distillation.soft_targets import (
    Answers,
    TeacherConfig,
    ask_once,
    find_teacher,
    refuse_other_tokens,
)
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.runtimes.exported import with_runtimes
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.tag_head import TagHead
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.ner.tags import tag_names
from zh_albert.training.events import Observer


def find_tagger(config: TeacherConfig, student: TextTagger) -> Path:
    """Find the teacher and check that it can teach: the same tokens, types and kind of head.

    Raises:
        ConfigError: If the student's head has no tags.
        CheckpointError: If there is no such model, it is for another task, or it has other types
            of entities, another vocabulary, or a head without tags.
    """
    if not isinstance(student.head, TagHead):
        raise ConfigError(f"a teacher teaches tags: model.head={student.head_name} has none")
    folder, metadata = find_teacher(config, "ner")
    if metadata["head"] not in ("softmax", "crf"):
        raise CheckpointError(
            f"{folder}: expected a teacher whose head is softmax or crf, found {metadata['head']}"
        )
    if sorted(metadata["labels"]) != sorted(student.labels):
        raise CheckpointError(
            f"{folder}: expected a teacher of the training data's types "
            f"({', '.join(student.labels)}), found one of {', '.join(metadata['labels'])}; "
            "fine-tune it on these data"
        )
    refuse_other_tokens(folder, student.tokenizer)
    return folder


@dataclass(frozen=True)
class SoftTags:
    """What a teacher says of every token of the training passages.

    Attributes:
        answers: Its emissions, one for each token.
        passages: Those with entities first, then those without.
        shares: Their part in a passage's loss: the teacher's weight, 1 where nobody has marked the
            entities. Shape: (passages,).
    """

    answers: Answers
    passages: Sequence[Passage]
    shares: Tensor

    @classmethod
    def ask(
        cls,
        teacher: Path,
        student: TextTagger,
        passages: Sequence[Passage],
        *,
        shares: Sequence[float],
        known_as: str,
        folder: Path | None,
        progress: Observer,
    ) -> SoftTags:
        """Ask the teacher, unless it was asked before; see ``teaching.ask_once``."""
        opened: list[TextTagger] = []  # not before there is something left to ask

        def ask(some: list[int]) -> Tensor:
            if not opened:
                opened.append(with_runtimes(TextTagger.load(teacher), teacher))
            emissions = opened[0].emissions_of([passages[number].text for number in some])
            names = tag_names(opened[0].labels)
            columns = [names.index(name) for name in tag_names(student.labels)]
            return torch.cat(emissions)[:, columns]

        counts = [passage.tokens for passage in passages]
        answers = ask_once(
            ask,
            counts,
            len(tag_names(student.labels)),
            counts=counts,
            folder=folder,
            known_as=known_as,
            progress=progress,
        )
        return cls(answers, passages, torch.tensor(shares))

    def inputs(self, item: list[int]) -> dict[str, Tensor]:
        """Return what the loss needs of these passages."""
        counts = [self.passages[number].tokens for number in item]
        rows = torch.split(self.answers.of(item), counts)
        return {
            "soft_targets": pad_sequence(list(rows), batch_first=True),
            "soft_share": self.shares[item],
        }


def asked(texts: Sequence[str], student: TextTagger, batch_tokens: int) -> list[object]:
    """Return all that decides which passages the teacher is asked; see ``fingerprint``."""
    return [list(texts), asdict(student.window), batch_tokens, student.labels]
