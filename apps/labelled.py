"""A labelled table → examples to learn from and to be examined on, and what is wrong with it."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass

from apps.tables import RefusedError, Table, as_cell, read_rows
from apps.texts.languages import Language
from zh_albert.tasks.classification.examples import TextExample
from zh_albert.tasks.texts import has_content, text_key

MAX_ROWS = 2_000
MAX_CHARACTERS = 1_000  # of a text
MAX_LABELS = 50
MIN_TEXTS = 4  # of a label
_DEV_SHARE = 5  # one text in five is for the examination
LABEL_COLUMNS = ("label", "标签", "类别", "分类", "category", "class")


@dataclass(frozen=True, slots=True)
class Labelled:
    """What a table teaches.

    Attributes:
        table: The table.
        text: The column of the texts.
        label: The column of the labels.
        train: To learn from.
        dev: Kept back: never learned from, only examined on.
        counts: Texts of each label, both parts together.
        problems: What was left out and why, a sentence each.
    """

    table: Table
    text: str
    label: str
    train: list[TextExample]
    dev: list[TextExample]
    counts: Counter[str]
    problems: list[str]


def read_labelled(say: Language, table: Table, text: str, label: str) -> Labelled:
    """Read a table's examples. Rows that cannot be learned from are left out and counted.

    Args:
        say: The page's language.
        table: The file.
        text: The column of the texts.
        label: The column of the labels.

    Raises:
        RefusedError: If there are too many rows, or fewer than two labels with enough texts.
    """
    if table.rows > MAX_ROWS:
        raise RefusedError(say.finetuning.many_rows.filled(rows=table.rows, limit=MAX_ROWS))
    if text == label:
        raise RefusedError(say.finetuning.same_column)
    by_label: dict[str, list[TextExample]] = defaultdict(list)
    known: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    for _, row in read_rows(say, table.path):
        content, name = row.get(text), as_cell(row.get(label)).strip()
        if not isinstance(content, str) or not has_content(content):
            left_out[say.finetuning.without_text] += 1
        elif not name:
            left_out[say.finetuning.without_label] += 1
        elif len(content) > MAX_CHARACTERS:
            left_out[say.finetuning.long_text] += 1
        elif (key := text_key(content)) in known:
            same = known[key] == name
            left_out[say.finetuning.twice if same else say.finetuning.contradicting] += 1
        else:
            known[key] = name
            by_label[name].append(TextExample(content, name))
    for name in [name for name, texts in by_label.items() if len(texts) < MIN_TEXTS]:
        left_out[say.finetuning.rare_label] += len(by_label.pop(name))
    if len(by_label) < 2:
        raise RefusedError(say.finetuning.few_labels.filled(least=MIN_TEXTS))
    if len(by_label) > MAX_LABELS:
        raise RefusedError(say.finetuning.many_labels.filled(limit=MAX_LABELS))
    train, dev = _split(by_label)
    counts = Counter({name: len(texts) for name, texts in by_label.items()})
    limits = {"limit": f"{MAX_CHARACTERS:,}", "least": MIN_TEXTS}
    problems = [text.format(count=f"{n:,}", **limits) for text, n in left_out.items()]
    return Labelled(table, text, label, train, dev, counts, problems)


def _split(
    by_label: dict[str, list[TextExample]],
) -> tuple[list[TextExample], list[TextExample]]:
    """Keep one text in five of each label back; the same ones every time."""
    rng = random.Random(1)
    train, dev = list[TextExample](), list[TextExample]()
    for _, texts in sorted(by_label.items()):
        rng.shuffle(texts)
        kept = max(1, len(texts) // _DEV_SHARE)
        dev += texts[:kept]
        train += texts[kept:]
    return train, dev
