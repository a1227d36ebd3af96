"""Pydantic types of request and response bodies, shown in OpenAPI."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, FailFast, Field, create_model

Row = TypeVar("Row")


class Answers(BaseModel, Generic[Row]):
    """One answer for each content, in order; the rows of ``zh-albert predict``."""

    answers: list[Row]


@cache
def request_type(name: str, item: Any) -> type[BaseModel]:
    """Return the type of a request's body, ``{"texts": [...]}``; cached by its arguments.

    Args:
        name: The type's name.
        item: The type of each of the texts.
    """
    many = Annotated[list[item], Field(min_length=1), FailFast()]
    return create_model(name, __doc__="Contents to answer, in order.", texts=many)


def response_type(row: Any) -> type[BaseModel]:
    """Return the type of a response's body; ``row``: the type of each answer."""
    return Answers[row]
