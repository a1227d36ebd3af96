"""The job of the fine-tuning tab: the library's own job, its events kept for the curves."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path

from apps.jobs import StoppedError, TableJob
from apps.tabs.finetuning.dataset import Dataset
from zh_albert.files.textio import atomic_write
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.finetune import FinetuneConfig, ModelConfig, finetune
from zh_albert.tasks.classification.predictor import Classifier
from zh_albert.tasks.windows import WindowConfig
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Evaluation, Event, Progress
from zh_albert.training.run_folder import release

MAX_EPOCHS = 30
DEFAULT_EPOCHS = 10


class FinetuningJob(TableJob):
    """The training of a classifier; its output is the model folder as one file.

    Args:
        dataset: The examples.
        encoder: The folder of the encoder that training starts from.
        epochs: Passes over the texts.
        name: The name of the output, without its ending.

    Attributes:
        progress: The latest event of the training loop; None before the first.
        losses: Updates and their losses.
        accuracies: Updates and the accuracies on the dev texts.
        best: The best accuracy; None before the first.
        classifier: The trained model, once the job has ended; also after a stop, if there was an
            evaluation before it.
    """

    def __init__(self, dataset: Dataset, encoder: Path, epochs: int, name: str) -> None:
        super().__init__(dataset.table, dataset.columns, epochs)
        self.dataset, self.epochs = dataset, epochs
        self.progress: Progress | None = None
        self.losses: list[tuple[int, float]] = []
        self.accuracies: list[tuple[int, float]] = []
        self.best: float | None = None
        self.classifier: Classifier | None = None
        self._encoder, self._name = encoder, name

    @property
    def chance(self) -> float:
        """The accuracy of always answering the most frequent label."""
        counts = Counter(example.label for example in self.dataset.dev)
        return max(counts.values()) / len(self.dataset.dev)

    def work(self) -> None:
        """Train, and pack the model folder."""
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
                self.dataset.train,
                self.dataset.dev,
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
            self.outputs = [_packed(folder, self.folder / f"{self._name}.zip")]
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
    """Pack the files of a model folder, without those of its training."""
    with atomic_write(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            if path.is_file():
                archive.write(path, f"{target.stem}/{path.name}")
    return target
