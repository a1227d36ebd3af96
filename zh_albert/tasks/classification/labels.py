"""What a label can be, and how each head reads it."""

from __future__ import annotations

from zh_albert.errors import DataError

Label = str | tuple[str, ...] | int | float
"""A class, any number of classes, or a value on a scale."""


def kind_of(label: Label) -> str:
    """Return a word for the kind of a label.

    >>> [kind_of(label) for label in ("好", ("好", "快"), 3.5)]
    ['string', 'list', 'number']
    """
    match label:
        case str():
            return "string"
        case tuple():
            return "list"
        case _:
            return "number"


def class_name(label: Label) -> str:
    """Return the name of a class; a number's is how it is written, without an empty fraction.

    >>> class_name(1), class_name(1.0), class_name(0.5)
    ('1', '1', '0.5')

    Raises:
        DataError: If it is a list.
    """
    if isinstance(label, tuple):
        raise DataError(f"expected one class each, found the list {list(label)}")
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


def class_names(label: Label) -> tuple[str, ...]:
    """Return the names of a list of classes, or of one.

    Raises:
        DataError: If it is a number.
    """
    if isinstance(label, int | float):
        raise DataError(f"expected lists of classes, found the number {label}")
    return (label,) if isinstance(label, str) else label


def value_of(label: Label) -> float:
    """Return a value on a scale.

    Raises:
        DataError: If it is no number.
    """
    if not isinstance(label, int | float):
        raise DataError(
            f"expected numbers, found {label!r:.80}; names want a model of classes "
            "(model.head=classes)"
        )
    return float(label)
