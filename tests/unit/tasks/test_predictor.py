"""What all predictors share: chunks, order, errors in their places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.helpers.micro import CONFIG
from zh_albert import load
from zh_albert.errors import DataError
from zh_albert.tasks.choice.chooser import TextChooser
from zh_albert.tasks.choice.examples import Question
from zh_albert.tasks.choice.predictor import Chooser
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.heads import LabelSet, OneClass, Value
from zh_albert.tasks.classification.predictor import predictor_of
from zh_albert.tasks.embedding.embedder import TextEmbedder
from zh_albert.tasks.embedding.predictor import Embedder
from zh_albert.tasks.ner.predictor import Tagger
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.predictor import AnyPredictor, Predictor, RequestForm, text_of
from zh_albert.tasks.reading.predictor import Reader
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.segmentation.predictor import Segmenter
from zh_albert.tasks.segmentation.segmenter import TextSegmenter
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer

TOKENIZER, WINDOW = default_tokenizer(), WindowConfig(max_length=16, stride=4)
TEXTS = ["房间很干净", "服务也好", "李华昨天去了杭州" * 4, "差", "早餐一般,下次还来"]
PAIRS = [(text, text[::-1]) for text in TEXTS]
QUESTIONS = [Question(text, "怎么样?", ("好", "坏", "一般")) for text in TEXTS]


def classifier(head: Any, *, pairs: bool = False) -> AnyPredictor:
    return predictor_of(TextClassifier(CONFIG, TOKENIZER, head, window=WINDOW, pairs=pairs))


MAKERS: dict[str, Callable[[], AnyPredictor]] = {
    "one class": lambda: classifier(OneClass(["a", "b", "c"])),
    "classes": lambda: classifier(LabelSet(["a", "b", "c"])),
    "value": lambda: classifier(Value(2.0, 1.0, ["value"])),
    "pairs": lambda: classifier(OneClass(["a", "b"]), pairs=True),
    "vectors": lambda: Embedder(TextEmbedder(CONFIG, TOKENIZER, window=WINDOW)),
    "entities": lambda: Tagger(TextTagger(CONFIG, TOKENIZER, ["地", "人"], window=WINDOW)),
    "words": lambda: Segmenter(TextSegmenter(CONFIG, TOKENIZER, window=WINDOW)),
    "reader": lambda: Reader(TextReader(CONFIG, TOKENIZER, window=WINDOW)),
    "chooser": lambda: Chooser(TextChooser(CONFIG, TOKENIZER, window=WINDOW)),
}
CONTENTS: dict[str, Sequence[Any]] = {"pairs": PAIRS, "reader": PAIRS, "chooser": QUESTIONS}
EMPTY: dict[str, Any] = {
    "pairs": ("好", " "),
    "reader": ("\x00", "好"),
    "chooser": Question("", "怎么样?", ("好", "坏")),
}
ANSWERS_EVERY_TEXT = ("entities", "words")


@cache
def predictor(name: str) -> AnyPredictor:
    return MAKERS[name]()


def ask(name: str, contents: Sequence[Any]) -> list[Any]:
    if name == "reader":
        questions, contexts = [list(side) for side in zip(*contents, strict=True)]
        return predictor(name)(questions, contexts)  # type: ignore[call-arg]
    return list(predictor(name)(contents))


def rows(name: str, answers: Sequence[Any]) -> list[dict[str, Any]]:
    return [predictor(name).row(answer) for answer in answers]


@pytest.fixture(params=[2, 2048])
def chunk_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    for kind in (Predictor, Reader, Chooser):
        monkeypatch.setattr(kind, "chunk_size", request.param)
    return int(request.param)


@pytest.mark.usefixtures("chunk_size")
@pytest.mark.parametrize("name", MAKERS)
def test_a_call_and_a_stream_answer_alike(name: str) -> None:
    contents = CONTENTS.get(name, TEXTS)
    answers = ask(name, contents)
    assert len(answers) == len(contents)
    assert rows(name, list(predictor(name).stream(iter(contents)))) == rows(name, answers)


@pytest.mark.usefixtures("chunk_size")
@pytest.mark.parametrize("name", [name for name in MAKERS if name not in ANSWERS_EVERY_TEXT])
def test_a_content_without_anything_to_read_keeps_its_place_in_a_stream(name: str) -> None:
    contents, empty = CONTENTS.get(name, TEXTS), EMPTY.get(name, " ")
    there = list(predictor(name).stream([empty, *contents[:3], empty, empty, *contents[3:]]))
    wrong = [index for index, answer in enumerate(there) if isinstance(answer, DataError)]
    assert wrong == [0, 4, 5]
    assert str(there[0]).startswith(f"the {predictor(name).noun} ")
    found = [answer for answer in there if not isinstance(answer, DataError)]
    assert len(found) == len(contents)
    for answer, alone in zip(found, ask(name, contents), strict=True):
        assert type(answer) is type(alone)
        if name == "vectors":
            np.testing.assert_allclose(answer, alone, atol=1e-5)
        if name in ("one class", "pairs"):
            assert answer.scores == pytest.approx(alone.scores, abs=1e-5)


@pytest.mark.parametrize(
    ("pair", "empty"),
    [((" ", "好"), "text_a"), (("好", ""), "text_b"), (("\0", " "), "text_a and text_b")],
)
def test_the_empty_texts_of_a_pair_are_named(pair: tuple[str, str], empty: str) -> None:
    [error] = predictor("pairs").stream([pair])
    assert str(error).startswith(f"the pair has an empty {empty} (or only spaces")
    with pytest.raises(DataError, match=rf"^texts\[1\] has an empty {empty} \(.*; leave it out"):
        ask("pairs", [("好", "好"), pair])


@pytest.mark.parametrize("name", ANSWERS_EVERY_TEXT)
def test_where_nothing_can_be_found_is_no_error(name: str) -> None:
    assert list(predictor(name).stream(["", " \n"])) == ask(name, ["", " \n"]) == [[], []]


@pytest.mark.usefixtures("chunk_size")
@pytest.mark.parametrize("name", [name for name in MAKERS if name not in ANSWERS_EVERY_TEXT])
def test_an_error_of_a_call_counts_over_chunks(name: str) -> None:
    contents, empty = CONTENTS.get(name, TEXTS), EMPTY.get(name, " ")
    with pytest.raises(DataError, match=r"\[5\] .*; leave it out"):
        ask(name, [*contents, empty])


@pytest.mark.usefixtures("chunk_size")
@pytest.mark.parametrize("name", ["one class", "vectors", "entities", "words"])
def test_what_is_no_text_is_named_by_its_index(name: str) -> None:
    with pytest.raises(DataError, match=r"texts\[5\]: expected a string, found int: 7"):
        ask(name, [*TEXTS, 7])


@pytest.mark.parametrize("name", MAKERS)
def test_nothing_has_no_answers(name: str) -> None:
    assert list(predictor(name).stream([])) == []
    if name != "reader":
        assert len(ask(name, [])) == 0


def test_a_string_is_one_text() -> None:
    assert predictor("one class")("好") == predictor("one class")(["好"])
    assert list(predictor("words").stream("好")) == predictor("words")(["好"])


def test_a_stream_reads_no_more_than_it_needs_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Predictor, "chunk_size", 2)
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "好"

    stream = predictor("one class").stream(endless())
    next(stream)
    assert taken < 20


@pytest.mark.parametrize("name", MAKERS)
def test_what_a_stream_gives_before_it_fails_is_answered(name: str) -> None:
    def failing() -> Iterator[Any]:
        yield from CONTENTS.get(name, TEXTS)[:2]
        raise ConnectionError

    answers = predictor(name).stream(failing())
    assert not isinstance(next(answers), DataError)
    assert not isinstance(next(answers), DataError)
    with pytest.raises(ConnectionError):
        next(answers)


def test_a_question_with_one_choice_is_refused_in_a_stream_as_in_a_call() -> None:
    asked = [QUESTIONS[0], Question("好", "什么?", ("好",))]
    problem = r"questions\[1\]: expected two choices or more, found \['好'\]"
    for answer in (predictor("chooser"), lambda given: list(predictor("chooser").stream(given))):
        with pytest.raises(DataError, match=problem):
            answer(asked)


@pytest.mark.parametrize("name", MAKERS)
def test_the_example_of_a_request_can_be_answered(name: str) -> None:
    model = predictor(name)
    [answer] = model.stream([model.form.example_content()])
    assert not isinstance(answer, DataError)
    assert model.row(answer).keys() == model.unanswered.keys()
    assert model.characters(model.form.example_content()) > 0


def test_a_row_of_a_file_is_a_text_that_may_be_empty() -> None:
    assert text_of({"text": ""}, "a.jsonl", 3) == ""
    with pytest.raises(DataError, match=r"a\.jsonl.*line 3.*\"text\" is missing"):
        text_of({"texts": "好"}, "a.jsonl", 3)
    with pytest.raises(DataError, match=r'a\.jsonl.*line 3.*"text" must be a string, found 5'):
        text_of({"text": 5}, "a.jsonl", 3)


def test_items_of_a_request_become_contents() -> None:
    assert RequestForm().content("好") == "好"
    assert predictor("pairs").form.example_content() == ("怎么退货", "如何办理退货")


@pytest.mark.parametrize("name", ["sentiment", "ner"])
def test_a_generator_is_answered_as_its_list_is(name: str) -> None:
    model, texts = load(name), ["房间很干净", "李华去了[MASK][MASK]"]
    assert model(text for text in texts) == model(texts)
    assert len(model(texts)) == 2
