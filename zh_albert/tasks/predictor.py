"""Base class of predictors: answers to any number of contents, in order, with errors in place."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, SupportsIndex, TypeVar

from pydantic import PlainValidator, TypeAdapter, WithJsonSchema
from pydantic_core import PydanticCustomError

from zh_albert.errors import DataError
from zh_albert.prefetch import map_prefetched
from zh_albert.tasks.chunks import as_list, chunks
from zh_albert.tasks.fields import checked_string, refuse_missing_fields
from zh_albert.tasks.model import TaskModel

Content = TypeVar("Content")
Encoded = TypeVar("Encoded")
Answer = TypeVar("Answer")

_OF_THE_FOLDER = ("origin", "folder", "tokenizer")  # opened again rather than sent


def _string(value: Any) -> str:
    if not isinstance(value, str):
        found = {"kind": type(value).__name__}
        raise PydanticCustomError("string", "expected a string, found {kind}", found)
    return value


# pydantic's own check refuses lone surrogates, which the models here accept.
Text = Annotated[str, PlainValidator(_string), WithJsonSchema({"type": "string"})]
"""A text in a request."""


def text_of(row: dict[str, Any], source: Path | str, line: int) -> str:
    """Return the text of a row of a task file, ``{"text"}``; it may be empty.

    Raises:
        DataError: If it is missing, or no string.
    """
    refuse_missing_fields(row, ("text",), source, line, form='{"text": …}')
    return checked_string(row, "text", source, line)


@dataclass(frozen=True)
class RequestForm:
    """The form of a model's requests.

    Attributes:
        name: The name of a request's type.
        item: The type of one content in a request, for pydantic.
        example: A content as a request writes it.
        blank: The content that a blank line of a file stands for.
    """

    name: str = "Texts"
    item: Any = Text
    example: Any = "房间很干净，服务也好"
    blank: Any = ""

    def content(self, item: Any) -> Any:
        """Convert an item of a request to a predictor's content."""
        return item if isinstance(item, str) else item.content()

    def example_content(self) -> Any:
        """Return the example as a predictor's content."""
        return self.content(TypeAdapter(self.item).validate_python(self.example))


class Predictor(ABC, Generic[Content, Encoded, Answer]):
    """Base class of predictors: contents → one answer each; ``zh_albert.load`` returns one.

    A task implements the conversion of its model's outputs to answers (``answers``) and of answers
    to JSON (``row``); reading, chunks, order and errors are shared. What else is public here is for
    those who read files and requests for a model of any task: the command line and the server.

    Pickles and copies of an opened predictor hold its origin and public attributes, not its
    weights: it is opened again where they arrive.

    Attributes:
        task: The task's name.
        metadata: The contents of the model card and of ``zh-albert models``: data, scores.
    """

    kind: ClassVar[str]
    """The model's kind, in a word or two."""
    unanswered: ClassVar[Mapping[str, Any]]
    """The row of a content that could not be answered."""
    noun: str = "text"
    """Name of one content in errors."""
    chunk_size: ClassVar[int] = 2048
    """Contents answered together: bounds memory and the wait for the first answer."""
    reads_plain_lines: ClassVar[bool] = True
    """Whether a line of a text file can be a content."""
    written_as: ClassVar[Sequence[str]] = (".csv", ".xlsx", ".jsonl")
    """Endings of files that its answers can be written to."""
    ranks: ClassVar[bool] = False
    """Whether ``stream`` takes ``top_k``."""

    row_type: ClassVar[Any]
    """The type of a row, for pydantic."""

    form: RequestForm = RequestForm()
    """The form of its requests."""

    origin: Callable[[], AnyPredictor] | None = None
    """Opens the same model again, in any process; None: the model was made in memory."""

    def __init__(self, task: str, metadata: dict[str, Any]) -> None:
        self.task, self.metadata = task, metadata

    def __repr__(self) -> str:
        """Tell what it is, what was opened and what runs it.

        >>> from zh_albert import load
        >>> load("sentiment")
        <Classifier sentiment: onnxruntime int8>
        """
        opened = getattr(self.origin, "model", "in memory")
        return f"<{type(self).__name__} {opened}: {self.runs_in}>"

    @property
    @abstractmethod
    def runs_in(self) -> str:
        """Library and precision of the network's computation."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Send an opened model as its origin and what may have been set since."""
        if self.origin is None:
            return super().__reduce_ex__(protocol)
        settings = {
            name: value
            for name, value in vars(self).items()
            if not name.startswith("_") and name not in _OF_THE_FOLDER
        }
        return self.origin, (), settings

    @abstractmethod
    def answers(self, contents: Sequence[Content], encoded: Sequence[Encoded]) -> Sequence[Answer]:
        """Answer contents that are not empty; further arguments are specific to the task."""

    def row(self, answer: Any) -> dict[str, Any]:
        """Return the JSON object of one answer of ``stream``; errors are not answers."""
        return dataclasses.asdict(answer)

    def content_of(self, row: dict[str, Any], source: Path | str, line: int) -> Any:
        """Return the model's input from a row of a task file.

        Raises:
            DataError: If a field is missing or of another type.
        """
        return text_of(row, source, line)

    def characters(self, content: Any) -> int:
        """Return the characters the model reads for one content, an estimate of its cost."""
        return len(content) if isinstance(content, str) else sum(map(len, content))

    def as_one_request(self, contents: Sequence[Any], request: int) -> Sequence[Any] | None:  # noqa: ARG002
        """Return a request's contents, marked as its own, if their answers depend on each other.

        Args:
            contents: Contents of one request.
            request: Number of the request.

        Returns:
            None if the answers are independent.
        """
        return None

    def __call__(self, contents: str | Iterable[Content]) -> Any:
        """Answer contents, in order; a single string counts as a list of one.

        Raises:
            DataError: If one has another form or no content; its index is named.
        """
        return self._all(as_list(contents))

    def _all(self, contents: Sequence[Content], **options: Any) -> list[Any]:
        found: list[Any] = []
        for chunk in self._chunks(contents):
            encoded = self._encoded(chunk, len(found))
            found += self.answers(chunk, encoded, **options)
        return found

    @abstractmethod
    def _encoded(self, contents: list[Content], counted_from: int) -> list[Encoded]:
        """Encode contents, or raise the error of the first that cannot be answered."""

    @abstractmethod
    def _encoded_or_error(
        self, contents: list[Content], counted_from: int
    ) -> list[Encoded | DataError]:
        """Encode contents; an error stands for one that cannot be answered."""

    def stream(self, contents: Iterable[Content]) -> Iterator[Answer | DataError]:
        """Answer any number of contents in constant memory, in order.

        A content with nothing to read (empty, only spaces) yields an error in its place, so that
        one bad line does not stop a long file.

        Raises:
            DataError: If an element has another form.
        """
        return self._stream(contents)

    def _stream(self, contents: Iterable[Content], **options: Any) -> Iterator[Any]:
        counted = 0

        def encode(chunk: list[Content]) -> tuple[list[Content], list[Encoded | DataError]]:
            nonlocal counted
            encoded = self._encoded_or_error(chunk, counted)
            counted += len(chunk)
            return chunk, encoded

        # The next chunk is tokenized while the network reads this one.
        for chunk, encoded in map_prefetched(encode, self._chunks(contents)):
            readable: list[Content] = []
            there: list[Encoded] = []
            for content, one in zip(chunk, encoded, strict=True):
                if not isinstance(one, DataError):
                    readable.append(content)
                    there.append(one)
            found = iter(self.answers(readable, there, **options))
            for one in encoded:
                yield one if isinstance(one, DataError) else next(found)

    def _chunks(self, contents: Iterable[Content]) -> Iterator[list[Content]]:
        return chunks(contents, self.chunk_size)


class TaskPredictor(Predictor[Content, Encoded, Answer]):
    """Base class of the predictors of a task's model."""

    def __init__(self, model: TaskModel[Content, Encoded]) -> None:
        super().__init__(model.name, model.metadata)
        self._model = model

    @property
    def runs_in(self) -> str:
        """See ``Predictor``."""
        return self._model.runtime.open().name

    def _encoded(self, contents: list[Content], counted_from: int) -> list[Encoded]:
        return self._model.encode(contents, counted_from=counted_from)

    def _encoded_or_error(
        self, contents: list[Content], counted_from: int
    ) -> list[Encoded | DataError]:
        encoded = self._model.encode_or_none(contents, counted_from=counted_from)
        return [
            DataError(f"the {self.noun} {self._model.no_content(content)}") if one is None else one
            for content, one in zip(contents, encoded, strict=True)
        ]


AnyPredictor = Predictor[Any, Any, Any]
