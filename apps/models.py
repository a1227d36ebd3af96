"""The models the page has, opened and sorted by what they do."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast

from apps.encoder_cache import EncoderCache
from apps.i18n.names import CHINESE
from zh_albert.checkpoints import resolve
from zh_albert.checkpoints.resolve import resolve_model
from zh_albert.checkpoints.store import load_config
from zh_albert.errors import ZhAlbertError
from zh_albert.inference.fill_mask import MASK, FillMask
from zh_albert.inference.loading import load
from zh_albert.tasks.classification.predictor import Classifier, MultiLabelClassifier, Regressor
from zh_albert.tasks.embedding.predictor import Embedder
from zh_albert.tasks.ner.predictor import Tagger
from zh_albert.tasks.reading.predictor import Reader

BulkModel = Classifier | MultiLabelClassifier | Regressor | Tagger | Reader
"""A model that answers whole files."""

_SENTENCE = "今天天气很好。"
_SMALL = "-nano"
_SHOWN = ("classification", "pair", "ner", "reading", "embedding", "encoder")  # tasks with a tab


@dataclass
class Models:
    """The models that the tabs need; a tab whose model is missing says so or is left out.

    Attributes:
        encoders: The encoder of each model, to look into.
        classifiers: Models of single texts, by name.
        pairs: Models of two sentences, by name: of their class, or of a value on a scale.
        taggers: Models of entities, by name.
        reader: The model that answers questions.
        embedder: The model of sentence vectors, for search.
        encoder: The model that fills masks, and whose training curves are shown.
        fast: Models that answer files only, by name: small ones, and those without a tab.
    """

    encoders: EncoderCache = field(default_factory=lambda: EncoderCache({}))
    classifiers: dict[str, Classifier] = field(default_factory=dict)
    pairs: dict[str, Classifier | Regressor] = field(default_factory=dict)
    taggers: dict[str, Tagger] = field(default_factory=dict)
    reader: Reader | None = None
    embedder: Embedder | None = None
    encoder: FillMask | None = None
    fast: dict[str, BulkModel] = field(default_factory=dict)

    @property
    def in_bulk(self) -> dict[str, BulkModel]:
        """The models that answer whole files, by name."""
        reader = {"reader": self.reader} if self.reader else {}
        return {**self.classifiers, **self.taggers, **reader, **self.pairs, **self.fast}


def bundled_models() -> tuple[list[str], list[str]]:
    """Return the bundled models that the page has a tab for, and the small ones, for files only.

    Both are in the order of their names on the page. One text is answered at once by either, and
    the large model knows more; of a file a small one saves two thirds of the time.
    """
    named = [name for name in CHINESE.models if name in resolve.bundled_models()]
    shown = [name for name in named if load_config(resolve_model(name))[1].get("name") in _SHOWN]
    fast = [name for name in shown if name.endswith(_SMALL)]
    return [name for name in shown if name not in fast], fast


def open_models(names: Sequence[str], fast: Sequence[str] = ()) -> Models:
    """Open models; of readers, embedders and encoders the last one is shown.

    A model of several labels, or of a value of single texts, answers files only. An encoder without
    a head is only looked into, and with a warning a model of another task, such as multiple choice.

    Args:
        names: Bundled names, folders or hub ids.
        fast: Bundled names of models that answer files only.

    Raises:
        CheckpointError: If a model cannot be opened.
    """
    folders: dict[str, Path] = {}
    for given in names:
        short = Path(given).name
        if short in ("", ".."):  # "." has no name
            short = Path(given).resolve().name
        # A name stands for one model: also where files are answered, by small ones as well.
        taken = short in folders or (short in fast and given != short)
        folders[given if taken else short] = resolve_model(given)
    models = Models(EncoderCache(folders))
    for name, folder in folders.items():
        _, task = load_config(folder)
        match load(str(folder)) if task.get("name") else None:
            case FillMask() as opened:
                models.encoder = opened
            case Tagger() as opened:
                models.taggers[name] = opened
            case Reader() as opened:
                models.reader = opened
            case Embedder() as opened:
                models.embedder = opened
            case Classifier() as opened if not opened.pairs:
                models.classifiers[name] = opened
            case Classifier() | Regressor() as opened if opened.pairs:
                models.pairs[name] = opened
            case MultiLabelClassifier() | Regressor() as opened:
                models.fast[name] = opened
            case None:
                pass
            case _:
                warnings.warn(
                    f"{name}: no tab asks a model of {task['name']}; the page only looks into it"
                    " (zh-albert predict answers)",
                    stacklevel=2,
                )
    models.fast |= {name: cast(BulkModel, load(name)) for name in fast}
    return models


def warm_up(models: Models) -> None:
    """Let every model answer once: the first answer takes seconds, so no visitor waits for it."""
    answers: list[Callable[[], object]] = [
        *(partial(model.members, _SENTENCE) for model in models.classifiers.values()),
        *(partial(model, [(_SENTENCE, _SENTENCE)]) for model in models.pairs.values()),
        *(partial(model, _SENTENCE) for model in models.taggers.values()),
        *([partial(models.reader, _SENTENCE, _SENTENCE)] if models.reader else []),
        *([partial(models.embedder, _SENTENCE)] if models.embedder else []),
        *([partial(models.encoder, MASK)] if models.encoder else []),
    ]
    for answer in answers:
        with suppress(ZhAlbertError, RuntimeError, MemoryError):  # the page will show it
            answer()
