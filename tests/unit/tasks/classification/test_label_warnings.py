"""What is said of labels before training."""

from __future__ import annotations

from zh_albert.tasks.classification.label_warnings import label_warnings


def test_classes_that_look_like_one_are_named_with_their_counts() -> None:
    names = ["Good"] * 6 + ["ｇｏｏｄ"] * 5 + ["go od"] * 7 + ["bad"] * 9
    assert list(label_warnings(names)) == [
        "separate classes, though only case, width or blanks differ: "
        "'Good' (6), 'ｇｏｏｄ' (5), 'go od' (7)"
    ]


def test_many_classes_with_few_texts_are_named_in_one_line() -> None:
    [warning] = label_warnings([f"class {number}" for number in range(30)] + ["many"] * 5)
    assert warning.startswith("classes with fewer than 5 texts, of which little can be learned: ")
    assert "'class 19' (1) and 10 more" in warning
    assert "many" not in warning


def test_nothing_is_said_of_good_labels() -> None:
    assert not list(label_warnings(["a", "b"] * 5))
