"""What is said of labels before training."""

from __future__ import annotations

from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.classification.label_remarks import label_remarks, remarks_on


def test_classes_that_look_like_one_are_named_with_their_counts() -> None:
    names = ["Good"] * 6 + ["ｇｏｏｄ"] * 5 + ["go od"] * 7 + ["bad"] * 9
    _, remark = remarks_on(names)
    assert remark == (
        "separate classes, though only case, width or blanks differ: "
        "'Good' (6), 'ｇｏｏｄ' (5), 'go od' (7)"
    )


def test_many_classes_with_few_texts_are_named_in_one_line() -> None:
    _, remark = remarks_on([f"class {number}" for number in range(30)] + ["many"] * 5)
    assert remark.startswith("classes with fewer than 5 texts, of which little can be learned: ")
    assert "'class 19' (1) and 10 more" in remark
    assert "many" not in remark


def test_good_labels_are_counted() -> None:
    examples = [TextExample("好", ("a", "b")), TextExample("好", ("a",))] * 5
    assert list(label_remarks(examples)) == ["2 classes: 'a' (10), 'b' (5)"]


def test_one_label_in_a_list_is_told() -> None:
    examples = [TextExample("好", ("a",)), TextExample("好", ("b",))] * 5
    _, remark = label_remarks(examples)
    assert remark.startswith("each text has one label, in a list")


def test_values_are_no_classes() -> None:
    assert not list(label_remarks([TextExample("好", 1.5), TextExample("好", 2.0)]))
