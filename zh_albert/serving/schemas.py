"""Pydantic types of request and response bodies, shown in OpenAPI."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast, Field, create_model

Row = TypeVar("Row")
_MOST_ANSWERS = 100  # to a question


class Answers(BaseModel, Generic[Row]):
    """One answer for each content, in order; the rows of ``zh-albert predict``."""

    answers: list[Row]


@cache
def request_type(name: str, item: Any, *, ranks: bool = False) -> type[BaseModel]:
    """Return the type of a request's body, ``{"texts": [...]}``; cached by its arguments.

    A field that it does not know is refused.

    Args:
        name: The type's name.
        item: The type of each of the texts.
        ranks: Whether the model takes ``top_k``.
    """
    many = Annotated[list[item], Field(min_length=1), FailFast()]
    count = Annotated[int, Field(strict=True, ge=1, le=_MOST_ANSWERS)]
    options: dict[str, Any] = {"top_k": (count | None, None)} if ranks else {}
    config, about = ConfigDict(extra="forbid"), "Contents to answer, in order."
    return create_model(name, __config__=config, __doc__=about, texts=many, **options)


def response_type(row: Any) -> type[BaseModel]:
    """Return the type of a response's body; ``row``: the type of each answer."""
    return Answers[row]
