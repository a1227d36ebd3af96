"""Fine-tuning behind the page: the library's own job, its events kept for the curves."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path

from apps.jobs import Job, StoppedError
from apps.labelled import Labelled
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.finetune import FinetuneConfig, ModelConfig, finetune
from zh_albert.tasks.classification.predictor import Classifier
from zh_albert.tasks.windows import WindowConfig
from zh_albert.textio import atomic_write
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Evaluation, Event, Progress
from zh_albert.training.run_folder import release

MAX_EPOCHS = 30
DEFAULT_EPOCHS = 10


class FinetuningJob(Job):
    """Teaches a classifier.

    Args:
        data: What it learns from.
        encoder: The folder of the encoder it starts from.
        epochs: Passes over the texts.
        name: Of the file that can be downloaded, without its ending.

    Attributes:
        progress: The latest event of the loop; None before the first.
        losses: Update and loss, as training goes on.
        accuracies: Update and share of right answers on the texts kept back.
        best: The best of these; None before the first.
        classifier: What was learned, when it is over; also after a stop, if there was an
            examination before it.
        packed: The model folder as one file, when it is over.
    """

    def __init__(self, data: Labelled, encoder: Path, epochs: int, name: str) -> None:
        super().__init__()
        self.data = data
        self.progress: Progress | None = None
        self.losses: list[tuple[int, float]] = []
        self.accuracies: list[tuple[int, float]] = []
        self.best: float | None = None
        self.classifier: Classifier | None = None
        self.packed: Path | None = None
        self.epochs = epochs
        self._encoder, self._name = encoder, name

    @property
    def chance(self) -> float:
        """The share of right answers of one who always says the most frequent label."""
        counts = Counter(example.label for example in self.data.dev)
        return max(counts.values()) / len(self.data.dev)

    def work(self) -> None:
        """Train, and pack what was learned."""
        folder = self.folder / "model"
        # Small batches, at a rate that suits them: from 6 to all of 18 right on messages.csv.
        config = FinetuneConfig(
            model=ModelConfig(pooling="mean"),
            window=WindowConfig(max_length=128, stride=32),
            train=TrainConfig(epochs=self.epochs, peak_lr=5e-4, batch_tokens=512),
        )
        stopped = None
        try:
            finetune(
                self.data.train,
                self.data.dev,
                config,
                init=self._encoder,
                out=folder,
                observers=[self._listen],
            )
        except StoppedError as error:
            stopped = error
        finally:
            release(folder)
        if (folder / "config.json").is_file():  # the best weights so far
            self.classifier = Classifier(TextClassifier.load(folder))
            self.packed = _packed(folder, self.folder / f"{self._name}.zip")
        if stopped:
            raise stopped

    def _listen(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.progress = event
            self.losses.append((event.update, event.loss))
        elif isinstance(event, Evaluation):
            accuracy = event.metrics["accuracy"]
            self.accuracies.append((event.update, accuracy))
            self.best = max(accuracy, self.best or 0)
        self.check()


def _packed(folder: Path, target: Path) -> Path:
    """Put the files of a model folder into one, without those of its training."""
    with atomic_write(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            if path.is_file():
                archive.write(path, f"{target.stem}/{path.name}")
    return target
