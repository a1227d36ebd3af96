"""A language of the page: all of its strings, and how it writes counts and examples."""

from __future__ import annotations

from dataclasses import dataclass

from apps.texts import (
    batch,
    classification,
    entities,
    fill_mask,
    finetuning,
    inside,
    labels,
    opinions,
    page,
    pairs,
    reading,
    tables,
    tokens,
    training,
)
from apps.texts.examples import Example


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)  # there is one of each
class Language:
    """Everything the page says in one language.

    Attributes:
        code: For the ``lang`` of HTML.
        query: For the address: ``?lang=…``.
        units: What large counts are written in, the largest first: size and name.
        glosses_examples: Whether an example also says what it means.
    """

    code: str
    query: str
    units: tuple[tuple[float, str], ...]
    glosses_examples: bool
    page: page.PageTexts
    labels: labels.LabelTexts
    classification: classification.ClassificationTexts
    opinions: opinions.OpinionTexts
    entities: entities.EntityTexts
    reading: reading.ReadingTexts
    pairs: pairs.PairTexts
    fill_mask: fill_mask.FillTexts
    tokens: tokens.TokenTexts
    inside: inside.InsideTexts
    training: training.TrainingTexts
    batch: batch.BatchTexts
    finetuning: finetuning.FinetuningTexts
    tables: tables.TableTexts

    def caption(self, text: str, example: Example) -> str:
        """Return an example as its button shows it.

        Args:
            text: The example's text, perhaps with lines for what is hidden.
            example: The example.
        """
        return f"{text}\n{example.meaning}" if self.glosses_examples else text

    def count(self, number: float) -> str:
        """Write a large count short.

        >>> CHINESE.count(620), CHINESE.count(620_000), CHINESE.count(45_678_901)
        ('620', '62 万', '4,568 万')
        >>> CHINESE.count(134_000_000), ENGLISH.count(620_000), ENGLISH.count(45_678_901)
        ('1.34 亿', '620 K', '45.7 M')
        """
        for size, name in self.units:
            if number >= size:
                share = number / size
                return f"{share:.3g} {name}" if share < 999.5 else f"{share:,.0f} {name}"
        return f"{number:,.0f}"


CHINESE = Language(
    code="zh-CN",
    query="zh",
    units=((1e8, "亿"), (1e4, "万")),
    glosses_examples=False,
    page=page.CHINESE,
    labels=labels.CHINESE,
    classification=classification.CHINESE,
    opinions=opinions.CHINESE,
    entities=entities.CHINESE,
    reading=reading.CHINESE,
    pairs=pairs.CHINESE,
    fill_mask=fill_mask.CHINESE,
    tokens=tokens.CHINESE,
    inside=inside.CHINESE,
    training=training.CHINESE,
    batch=batch.CHINESE,
    finetuning=finetuning.CHINESE,
    tables=tables.CHINESE,
)
ENGLISH = Language(
    code="en",
    query="en",
    units=((1e9, "B"), (1e6, "M"), (1e3, "K")),
    glosses_examples=True,
    page=page.ENGLISH,
    labels=labels.ENGLISH,
    classification=classification.ENGLISH,
    opinions=opinions.ENGLISH,
    entities=entities.ENGLISH,
    reading=reading.ENGLISH,
    pairs=pairs.ENGLISH,
    fill_mask=fill_mask.ENGLISH,
    tokens=tokens.ENGLISH,
    inside=inside.ENGLISH,
    training=training.ENGLISH,
    batch=batch.ENGLISH,
    finetuning=finetuning.ENGLISH,
    tables=tables.ENGLISH,
)
