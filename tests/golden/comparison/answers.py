"""The answers of models, asked as a library: run by each checkout in a process of its own.

Run: python tests/golden/comparison/answers.py PLAN.json, with PYTHONPATH naming the checkout
The plan names models, what they are asked and how they are run; see ``ask``. What each is answered
goes to standard output, one JSON object a comparison, as soon as it is there.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Question(NamedTuple):
    """A question with choices, as ``stream`` takes it."""

    context: str
    question: str
    choices: tuple[str, ...]
    group: str | None = None


Answers = list[tuple[str, str]]
"""What was asked, and the answer as JSON."""


def plain(answer: Any) -> Any:
    """Return an answer as JSON can hold it: numbers to the last bit, errors as their text."""
    if isinstance(answer, Exception):
        return {type(answer).__name__: str(answer)}
    if isinstance(answer, list):
        return [plain(one) for one in answer]
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        return dataclasses.asdict(answer)
    return [float(number).hex() for number in answer]  # a vector


def answered(asked: Sequence[Any], answers: Sequence[Any]) -> Answers:
    """Put what was asked and the answers side by side."""
    shown = [json.dumps(one)[:160] for one in asked]
    return [(a, json.dumps(plain(b))) for a, b in zip(shown, answers, strict=True)]


def of_stream(predictor: Any, asked: Sequence[Any]) -> list[Any]:
    """Return the answers of a stream, errors in their places."""
    return list(predictor.stream(iter(asked)))


def of_list(predictor: Any, kind: str, asked: Sequence[Any], **further: Any) -> list[Any]:
    """Return the answers of one call."""
    if kind == "questions":
        questions, contexts = ([pair[part] for pair in asked] for part in (0, 1))
        return list(predictor(questions, contexts, **further))
    return list(predictor(list(asked), **further))


def of_one(predictor: Any, kind: str, one: Any) -> Any:
    """Return the answer of a call for one text alone, or why there is none."""
    further = {"top_k": 3} if kind in ("questions", "masks") else {}
    try:
        return of_list(predictor, kind, [one], **further)[0]
    except ValueError as error:
        return error


def ask(model: Mapping[str, Any], inputs: Mapping[str, list[Any]]) -> Iterator[tuple[str, Answers]]:
    """Ask a model in each way.

    Args:
        model: ``name``, ``path``, ``kind`` of what it is asked, and ``runs``: each with a name,
            settings of ``load``, and ``every``, ``start``: which part of the inputs it is asked.
        inputs: By their kind.
    """
    from zh_albert import load

    kind = model["kind"]
    everything = inputs[kind]
    if kind == "choices":
        everything = [Question(a, b, tuple(c)) for a, b, c in everything]
    elif kind in ("pairs", "questions"):
        everything = [tuple(pair) for pair in everything]
    for run in model["runs"]:
        predictor: Any = load(model["path"], **renamed(load, run["settings"]))
        asked = everything[run["start"] :: run["every"]]
        name = f"{model['name']}, {run['name']}"
        streamed = of_stream(predictor, asked)
        yield f"{name}, stream", answered(asked, streamed)
        good = [a for a, b in zip(asked, streamed, strict=True) if not isinstance(b, Exception)]
        if kind == "choices":  # a call refuses what has one choice only
            good = [question for question in good if len(question.choices) > 1]
        yield f"{name}, list", answered(good, of_list(predictor, kind, good))
        some = asked[:: max(1, len(asked) // run["alone"])]
        yield f"{name}, one by one", answered(some, [of_one(predictor, kind, one) for one in some])


def renamed(load: Callable[..., Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by the names that a checkout's ``load`` has for them."""
    there = inspect.signature(load).parameters
    names = {"engine": "runtime"} if "runtime" in there else {}
    return {names.get(name, name): value for name, value in settings.items()}


def main() -> None:
    warnings.simplefilter("ignore")
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for model in plan["models"]:
        for name, answers in ask(model, plan["inputs"]):
            print(json.dumps([name, answers]), flush=True)


if __name__ == "__main__":
    main()
