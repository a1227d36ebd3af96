"""The head that labels ask for."""

from __future__ import annotations

import pytest

from zh_albert.errors import DataError
from zh_albert.tasks.classification.head_selection import head_for
from zh_albert.tasks.classification.heads import LabelSet, OneClass, Value


def test_a_number_is_a_class_or_a_value_but_never_by_guess() -> None:
    with pytest.raises(DataError, match=r"the first is 3.*model.head=regression.*head=classes"):
        head_for([3, 4], None)
    assert head_for([3, 4, 3], "classes").labels == ["3", "4"]
    assert isinstance(head_for([3, 4, 3], "regression"), Value)


def test_strings_and_lists_choose_their_head() -> None:
    assert isinstance(head_for(["a", "b"], None), OneClass)
    assert isinstance(head_for([("a",), ()], None), LabelSet)
    assert head_for(["a", "b"], "multi_label").labels == ["a", "b"]


@pytest.mark.parametrize(
    ("labels", "name", "problem"),
    [
        (["a", 3], None, "of one kind, found number and string"),
        ([("a",), ("b",)], "classes", "expected one class each, found the list"),
        (["a", "b"], "regression", "expected numbers, found 'a'; names want a model of cl"),
        ([1, 2], "multi_label", "expected lists of classes, found the number 1"),
        ([2, 2.0], "regression", "at least two different labels, found one value"),
        ([(), ()], None, "found only empty lists"),
        (["a", "a"], None, "found one class: 'a'"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels: list[object], name: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        head_for(labels, name)  # type: ignore[arg-type]
