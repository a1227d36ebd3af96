"""A labelled table → examples for training and evaluation, and what is wrong with it."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass

from apps.tables import RefusedError, Table, as_cell, read_rows
from apps.tabs.finetuning.strings import FinetuningStrings
from zh_albert.files.notes import listening
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.fields import label_name
from zh_albert.tasks.texts import has_content, text_key

MAX_ROWS = 2_000
MAX_CHARACTERS = 1_000  # of a text
MAX_LABELS = 50
MIN_TEXTS = 4  # of a label
_DEV_SHARE = 5  # one text in five is for the evaluation


@dataclass(frozen=True, slots=True)
class Dataset:
    """The examples of a labelled table.

    Attributes:
        table: The table.
        columns: The columns of the texts and of the labels.
        train: For training.
        dev: For evaluation; never trained on.
        counts: Texts of each label, both parts together.
        problems: What was left out and why, a sentence each.
    """

    table: Table
    columns: tuple[str, str]
    train: list[TextExample]
    dev: list[TextExample]
    counts: Counter[str]
    problems: list[str]


def read_dataset(strings: FinetuningStrings, table: Table, text: str, label: str) -> Dataset:
    """Read a table's examples. Rows that are no good for training are left out and counted.

    Args:
        strings: The tab's strings.
        table: The file.
        text: The column of the texts.
        label: The column of the labels.

    Raises:
        RefusedError: If there are too many rows, or fewer than two labels with enough texts.
    """
    if table.rows > MAX_ROWS:
        raise RefusedError(strings.many_rows.filled(rows=table.rows, limit=MAX_ROWS))
    if text == label:
        raise RefusedError(strings.same_column)
    by_label: dict[str, list[TextExample]] = defaultdict(list)
    known: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    with listening():  # the notes are shown with the table
        rows = [row for _, row in read_rows(strings.page.tables, table.path)]
    for row in rows:
        if isinstance(row, RefusedError):
            left_out[strings.unread] += 1
            continue
        content, name = row.get(text), label_name(as_cell(row.get(label)))
        if not isinstance(content, str) or not has_content(content):
            left_out[strings.without_text] += 1
        elif not name:
            left_out[strings.without_label] += 1
        elif len(content) > MAX_CHARACTERS:
            left_out[strings.long_text] += 1
        elif (key := text_key(content)) in known:
            same = known[key] == name
            left_out[strings.twice if same else strings.contradicting] += 1
        else:
            known[key] = name
            by_label[name].append(TextExample(content, name))
    for name in [name for name, texts in by_label.items() if len(texts) < MIN_TEXTS]:
        left_out[strings.rare_label] += len(by_label.pop(name))
    if len(by_label) < 2:
        raise RefusedError(strings.few_labels.filled(least=MIN_TEXTS))
    if len(by_label) > MAX_LABELS:
        raise RefusedError(strings.many_labels.filled(limit=MAX_LABELS))
    train, dev = _split(by_label)
    counts = Counter({name: len(texts) for name, texts in by_label.items()})
    limits = {"limit": f"{MAX_CHARACTERS:,}", "least": MIN_TEXTS}
    problems = [text.format(count=f"{n:,}", **limits) for text, n in left_out.items()]
    return Dataset(table, (text, label), train, dev, counts, problems)


def _split(by_label: dict[str, list[TextExample]]) -> tuple[list[TextExample], list[TextExample]]:
    """Keep one text in five of each label back; the same ones every time."""
    rng = random.Random(1)
    train, dev = list[TextExample](), list[TextExample]()
    for _, texts in sorted(by_label.items()):
        rng.shuffle(texts)
        kept = max(1, len(texts) // _DEV_SHARE)
        dev += texts[:kept]
        train += texts[kept:]
    return train, dev
