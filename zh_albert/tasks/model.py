"""Base class of the tasks' models: tokenizer, network, windows and runtime."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import torch
from torch import nn

from zh_albert.checkpoints.files import NGRAMS
from zh_albert.checkpoints.shared_ngrams import ngrams_file
from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.checkpoints.stored_model import same_random_numbers
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.checkpoints.verified import verified
from zh_albert.errors import CheckpointError, DataError
from zh_albert.model.config import AlbertConfig
from zh_albert.runtimes.exported import exported_runtime
from zh_albert.runtimes.onnx_graph import Graph
from zh_albert.runtimes.selection import plain_runtime
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import Tokenizer

Content = TypeVar("Content")
Encoded = TypeVar("Encoded")


class TaskModel(ABC, Generic[Content, Encoded]):
    """A model of one task.

    Attributes:
        config: Sizes of the encoder.
        tokenizer: Text → token ids.
        module: The network.
        window: Settings of the windows over long texts.
        metadata: The contents of the model card and of ``zh-albert models``: data, scores.
        runtime: Runs the network in prediction.
        ngrams: An n-gram model in an ensemble with the network, or None.
    """

    names: ClassVar[tuple[str, ...]]
    """The task's name in ``config.json``; several if the model serves several tasks."""
    required: ClassVar[frozenset[str]] = frozenset()
    """Settings that the ``config.json`` of a model of this task must have."""
    kept: ClassVar[tuple[str, ...]] = ()
    """Arguments of the class that ``config.json`` keeps; attributes have the same names."""
    plural: ClassVar[str] = "texts"
    """Name of the contents in errors."""

    ngrams: Any = None

    def __init__(
        self,
        config: AlbertConfig,
        tokenizer: Tokenizer,
        module: nn.Module,
        *,
        window: WindowConfig,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        window.refuse_longer_than(config)
        self.config, self.tokenizer, self.window = config, tokenizer, window
        self.metadata = dict(metadata or {})
        self.module: Any = module.eval()
        self.runtime = plain_runtime(self.module)

    @property
    def name(self) -> str:
        """The task's name."""
        return self.names[0]

    def no_content(self, content: Content) -> str:  # noqa: ARG002
        """Return the error text for a content for which ``encode_or_none`` returns None."""
        return "is empty (or only spaces and control characters)"

    @classmethod
    @abstractmethod
    def network(cls, config: AlbertConfig, settings: Mapping[str, Any]) -> nn.Module:
        """Build the untrained network that a folder's settings describe."""

    @staticmethod
    @abstractmethod
    def outputs(network: Any, graph: Graph) -> None:
        """Add the network to an ONNX graph; see ``GraphOutputs``."""

    @classmethod
    def from_settings(
        cls, config: AlbertConfig, tokenizer: Tokenizer, window: WindowConfig, given: dict[str, Any]
    ) -> Self:
        """Create an untrained model from entries of ``config.json``.

        Args:
            config: Sizes of the network.
            tokenizer: Its tokenizer.
            window: Its windows.
            given: The result of ``settings`` and the metadata.
        """
        own = {name: given.pop(name) for name in cls.kept if name in given}
        metadata = {key: value for key, value in given.items() if key not in ("name", "tags")}
        create: Any = cls
        model: Self = create(config, tokenizer, window=window, metadata=metadata, **own)
        return model

    def settings(self) -> dict[str, Any]:
        """Return the model's entries of ``config.json`` besides its window and metadata."""
        return {name: getattr(self, name) for name in self.kept}

    @abstractmethod
    def encode_or_none(
        self, contents: Sequence[Content], *, counted_from: int = 0
    ) -> list[Encoded | None]:
        """Tokenize and cut into windows; None stands for a content with nothing to read.

        Args:
            contents: The model's inputs.
            counted_from: Number of the first content, for errors.

        Raises:
            DataError: If an element has another form.
        """

    def encode(self, contents: Sequence[Content], *, counted_from: int = 0) -> list[Encoded]:
        """Tokenize and cut into windows.

        Raises:
            DataError: If an element has another form or no content; its index is named.
        """
        encoded = self.encode_or_none(contents, counted_from=counted_from)
        for index, (content, one) in enumerate(zip(contents, encoded, strict=True), counted_from):
            if one is None:
                problem = self.no_content(content)
                raise DataError(f"{self.plural}[{index}] {problem}; leave it out")
        return [one for one in encoded if one is not None]

    def ngrams_settings(self) -> dict[str, float]:
        """Return the entries of ``config.json`` for the n-gram model."""
        raise NotImplementedError(f"{type(self).__name__} has no n-grams")

    def load_ngrams(self, file: Path, settings: Mapping[str, float]) -> None:  # noqa: ARG002
        """Read the n-gram model of a folder."""
        raise CheckpointError(f"{file}: a model for {self.name} has no n-grams; get it again")

    def save(
        self,
        folder: Path,
        *,
        card: str,
        dtype: torch.dtype = torch.float16,
        bits: int = 8,
        group: int | None = None,
    ) -> None:
        """Write the model folder; see ``checkpoints.store.save_model``."""
        task = {"name": self.name, **self.settings(), **asdict(self.window), **self.metadata}
        files = {**self.tokenizer.save_files(), "README.md": card.encode()}
        if self.ngrams is not None:
            task["ngrams"] = self.ngrams_settings()
            files[NGRAMS] = self.ngrams.to_bytes(exact=dtype == torch.float32)
        save_model(
            folder,
            model=self.module,
            config=self.config,
            files=files,
            task=task,
            dtype=dtype,
            bits=bits,
            group=group,
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open a model folder; its export runs the network if there is one, else PyTorch.

        Raises:
            CheckpointError: If it is not a model folder, damaged, or one for another task.
            MissingExtraError: If a library required by the model is not installed.
        """
        with verified(folder):
            config, settings = load_config(folder)
            cls.refuse_other(folder, settings)
            # A folder written by transformers has no windows: use the encoder's whole length.
            longest = config.max_position_embeddings
            window = WindowConfig(
                max_length=settings.pop("max_length", longest),
                stride=settings.pop("stride", longest // 4),
            )
            ngrams = settings.pop("ngrams", None)
            tokenizer = matching_tokenizer(folder, config)
            with same_random_numbers():
                model = cls.from_settings(config, tokenizer, window, settings)
            load_weights(model.module, folder)
            model.module.eval()
            exported = exported_runtime(folder, model.module, cls.outputs)
            model.runtime = exported or model.runtime
            if ngrams:
                model.load_ngrams(ngrams_file(folder, ngrams), ngrams)
            return model

    @classmethod
    def refuse_other(cls, folder: Path, settings: Mapping[str, Any]) -> None:
        """Check that a folder holds a model of this task.

        Raises:
            CheckpointError: If it does not.
        """
        if settings.get("name") in cls.names:
            if missing := sorted(cls.required - settings.keys()):
                raise CheckpointError(
                    f"{folder}: config.json lacks {', '.join(missing)}, needed by a model for "
                    f"{settings['name']}; export or train the folder again"
                )
            return
        raise CheckpointError(
            f"{folder}: expected a model for {' or '.join(cls.names)}, found one for "
            f"{settings.get('name') or 'no task (an encoder)'}; {cls.advice()}"
        )

    @classmethod
    def advice(cls) -> str:
        """Return advice on how to get a model of this task, for errors."""
        return f"fine-tune it first: zh-albert finetune --task {cls.names[0]} --init …"
