"""The tasks by name, with what the command line needs of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from zh_albert.errors import CheckpointError
from zh_albert.tasks.choice import baseline as choice_baseline
from zh_albert.tasks.choice import examples as choice_examples
from zh_albert.tasks.choice import finetune as choice
from zh_albert.tasks.choice.chooser import TextChooser
from zh_albert.tasks.classification import baseline as classification_baseline
from zh_albert.tasks.classification import examples as classification_examples
from zh_albert.tasks.classification import finetune as classification
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.embedding import baseline as embedding_baseline
from zh_albert.tasks.embedding import examples as embedding_examples
from zh_albert.tasks.embedding import finetune as embedding
from zh_albert.tasks.embedding.embedder import TextEmbedder
from zh_albert.tasks.job import JobConfig
from zh_albert.tasks.ner import baseline as ner_baseline
from zh_albert.tasks.ner import examples as ner_examples
from zh_albert.tasks.ner import finetune as ner
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.reading import baseline as reading_baseline
from zh_albert.tasks.reading import examples as reading_examples
from zh_albert.tasks.reading import finetune as reading
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.training.events import Observer
from zh_albert.training.resume import RunState
from zh_albert.training.stages import silent, watched


class Task(NamedTuple):
    """One task; the examples of its functions are those its reader makes."""

    config: type[JobConfig]
    """Settings of a fine-tuning run."""
    read: Callable[[Path], list[Any]]
    """A task file → examples."""
    finetune: Callable[..., tuple[Any, RunState]]
    """Examples, dev examples, settings → a model folder; see ``classification.finetune``."""
    load: Callable[[Path], Any]
    """A model folder → the model."""
    evaluate_file: Callable[[Any, Path], dict[str, Any]]
    """A model and a task file → scores."""
    score_baseline: Callable[[Sequence[Any], Sequence[Any]], dict[str, Any]]
    """Examples and dev examples → scores of what a user would pick instead."""
    metric: str = "accuracy"
    """The score that counts, one of those of ``evaluate_file``."""
    best_score: float = 1.0
    """Its highest value."""
    read_unlabelled: Callable[[Path], list[Any]] | None = None
    """A file of texts for a teacher → what ``finetune`` takes as ``unlabelled``; None: nothing."""

    def score(self, folder: Path, file: Path, *, progress: Observer = silent) -> dict[str, Any]:
        """Score a model folder on a task file, with the runtimes that it opens with.

        Args:
            folder: Of a model for this task.
            file: Labelled examples.
            progress: Is told how far it is.

        Raises:
            CheckpointError: If the folder cannot be read.
            DataError: If the file cannot be, or has labels that the model does not know.
        """
        model = self.load(folder)
        model.runtimes = watched(model.runtimes, f"tokens of {file.name}", progress)
        return self.evaluate_file(model, file)


TASKS: Mapping[str, Task] = MappingProxyType(
    {
        "classification": Task(
            config=classification.FinetuneConfig,
            read=classification_examples.read_text_examples,
            finetune=classification.finetune,
            load=TextClassifier.load,
            evaluate_file=classification.evaluate_file,
            score_baseline=classification_baseline.score_baseline,
            read_unlabelled=classification_examples.read_unlabelled_texts,
        ),
        "pair": Task(
            config=classification.FinetuneConfig,
            read=classification_examples.read_pair_examples,
            finetune=classification.finetune,
            load=TextClassifier.load,
            evaluate_file=classification.evaluate_file,
            score_baseline=classification_baseline.score_baseline,
            read_unlabelled=classification_examples.read_unlabelled_pairs,
        ),
        "choice": Task(
            config=choice.FinetuneConfig,
            read=choice_examples.read_choice_examples,
            finetune=choice.finetune,
            load=TextChooser.load,
            evaluate_file=choice.evaluate_file,
            score_baseline=choice_baseline.score_baseline,
        ),
        "embedding": Task(
            config=embedding.FinetuneConfig,
            read=embedding_examples.read_embedding_examples,
            finetune=embedding.finetune,
            load=TextEmbedder.load,
            evaluate_file=embedding.evaluate_file,
            score_baseline=embedding_baseline.score_baseline,
            metric="spearman",
        ),
        "ner": Task(
            config=ner.FinetuneConfig,
            read=ner_examples.read_entity_examples,
            finetune=ner.finetune,
            load=TextTagger.load,
            evaluate_file=ner.evaluate_file,
            score_baseline=ner_baseline.score_baseline,
            metric="f1",
            read_unlabelled=ner_examples.read_unlabelled_texts,
        ),
        "reading": Task(
            config=reading.FinetuneConfig,
            read=reading_examples.read_reading_examples,
            finetune=reading.finetune,
            load=TextReader.load,
            evaluate_file=reading.evaluate_file,
            score_baseline=reading_baseline.score_baseline,
            metric="f1",
            best_score=100.0,
        ),
    }
)


def task_of(folder: Path, metadata: Mapping[str, Any]) -> Task:
    """Return the task of a model folder.

    Args:
        folder: Named in the error.
        metadata: What its ``config.json`` says of the task; see ``checkpoints.store.load_config``.

    Raises:
        CheckpointError: If it is a model for none of the tasks.
    """
    name = str(metadata.get("name", "no task (an encoder)"))
    if name not in TASKS:
        raise CheckpointError(
            f"{folder}: expected a model for {' or '.join(TASKS)}, found one for "
            f"{name}; fine-tune it first: zh-albert finetune --init …"
        )
    return TASKS[name]
