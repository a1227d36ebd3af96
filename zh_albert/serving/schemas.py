"""What each kind of model is sent and what it sends back, as types that OpenAPI shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, FailFast, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from zh_albert.inference.fill_mask import BEAMS, MASK, RUN, FillMask, Spot
from zh_albert.inference.loading import Predictor
from zh_albert.tasks.choice.examples import Question
from zh_albert.tasks.choice.predictor import Choice, Chooser
from zh_albert.tasks.classification.predictor import (
    Classification,
    Classifier,
    Estimate,
    Labelling,
    MultiLabelClassifier,
    Regressor,
)
from zh_albert.tasks.embedding.predictor import Embedder
from zh_albert.tasks.ner.predictor import Entity, Tagger
from zh_albert.tasks.reading.predictor import Answer, Reader
from zh_albert.tasks.texts import Content


def _string(value: Any) -> str:
    if not isinstance(value, str):
        found = {"kind": type(value).__name__}
        raise PydanticCustomError("string", "expected a string, found {kind}", found)
    return value


# pydantic's own check refuses half a surrogate pair, which every model here can read.
Text = Annotated[str, PlainValidator(_string), WithJsonSchema({"type": "string"})]


class PairItem(BaseModel):
    """Two texts to compare."""

    text_a: Text
    text_b: Text

    def content(self) -> tuple[str, str]:
        """Return what the model reads."""
        return self.text_a, self.text_b


class QuestionItem(BaseModel):
    """A question and the text that may answer it."""

    question: Text
    context: Text

    def content(self) -> tuple[str, str]:
        """Return what the model reads."""
        return self.question, self.context


class ChoiceItem(BaseModel):
    """A question with two choices or more; of one group no choice is taken twice."""

    context: Text
    question: Text
    choices: Annotated[list[Text], Field(min_length=2), FailFast()]
    group: Text | None = None

    def content(self) -> Question:
        """Return what the model reads."""
        return Question(self.context, self.question, tuple(self.choices), self.group)


class Entities(BaseModel):
    """The entities of one text; ``text[start:end]`` of the text is the entity's ``text``."""

    entities: list[Entity]


class Spots(BaseModel):
    """The spots of one text that were masked, each with what could stand there."""

    spots: list[Spot]


class Vector(BaseModel):
    """The vector of one text."""

    vector: list[float]


Item = TypeVar("Item")
Row = TypeVar("Row")


class Asked(BaseModel, Generic[Item]):
    """What to answer, in order."""

    texts: Annotated[list[Item], Field(min_length=1), FailFast()]


class Texts(Asked[Text]):
    """Texts, of any length each."""


class Pairs(Asked[PairItem]):
    """Pairs of texts."""


class Questions(Asked[QuestionItem]):
    """Questions, each with its context."""


class Choices(Asked[ChoiceItem]):
    """Questions, each with its choices."""


class Answers(BaseModel, Generic[Row]):
    """One answer for each text, in order: the lines of ``zh-albert predict``."""

    answers: list[Row]


@dataclass(frozen=True, slots=True)
class Kind:
    """How to talk to a model.

    Attributes:
        request: The form of a body.
        response: The form of what is sent back.
        example: One of the texts, as JSON.
    """

    request: type[BaseModel]
    response: type[BaseModel]
    example: Any


def kind_of(predictor: Predictor) -> Kind:
    """Return how to talk to a model."""
    review = "房间很干净,服务也好"
    match predictor:
        case FillMask():
            return Kind(Texts, Answers[Spots], f"去{MASK}{MASK}散步")
        case Tagger():
            return Kind(Texts, Answers[Entities], "浙江大学在杭州")
        case Embedder():
            return Kind(Texts, Answers[Vector], review)
        case Reader():
            asked = {"question": "李华去了哪里?", "context": "李华昨天去了杭州。"}
            return Kind(Questions, Answers[Answer], asked)
        case Chooser():
            asked = {"context": "今天下雨。", "question": "天气怎样?"}
            return Kind(Choices, Answers[Choice], {**asked, "choices": ["晴", "雨"]})
    response: type[BaseModel] = Answers[Classification]
    match predictor:
        case MultiLabelClassifier():
            response = Answers[Labelling]
        case Regressor():
            response = Answers[Estimate]
    if predictor.pairs:
        pair = {"text_a": "怎么退货", "text_b": "如何办理退货"}
        return Kind(Pairs, response, pair)
    return Kind(Texts, response, review)


def name_of(predictor: Predictor) -> str:
    """Return what a model does, in a word or two."""
    names: dict[type, str] = {
        Classifier: "classifier",
        MultiLabelClassifier: "multi-label classifier",
        Regressor: "regressor",
        Chooser: "multiple choice",
        Embedder: "sentence vectors",
        Tagger: "tagger",
        Reader: "reader",
        FillMask: "fill-mask",
    }
    return names[type(predictor)]


def example_of(predictor: Predictor) -> Any:
    """Return something the model can answer, as ``predictor.stream`` takes it."""
    kind = kind_of(predictor)
    body: Any = kind.request.model_validate({"texts": [kind.example]})
    return content_of(body.texts[0])


def content_of(item: Any) -> Any:
    """Return what ``predictor.stream`` takes of one of the texts."""
    return item if isinstance(item, str) else item.content()


def characters_read(content: Content | Question, predictor: Predictor | None) -> int:
    """Return how many characters a model reads for one answer: about what it costs.

    Each choice is read with the whole question. A spot to fill is read in its window once, and
    for each further mask beside it once more in every filling that is followed.

    >>> characters_read(Question("今天下雨。", "天气?", ("晴", "雨")), None)
    18
    """
    match content:
        case Question(context=context, question=question, choices=choices):
            return len(choices) * (len(context) + len(question)) + sum(map(len, choices))
        case (first, second):
            return len(first) + len(second)
    if not (isinstance(predictor, FillMask) and isinstance(content, str)):
        return len(content)
    masks = [len(run[0]) // len(MASK) for run in RUN.finditer(content)]
    readings = sum(1 + BEAMS * (count - 1) for count in masks)
    window: int = predictor.max_length
    return len(content) + readings * min(len(content), window)
