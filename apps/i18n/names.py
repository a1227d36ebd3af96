"""The page's names of models, classes and types of entities: ``names.csv`` in this folder."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Names:
    """Names in one language; what has none keeps the name that the model gives it.

    Attributes:
        models: Names of the bundled models, in the order in which the page shows them.
        classes: Names of the classifiers' labels; of one model's label, ``model/label``.
        entities: Names of the taggers' types.
    """

    models: Mapping[str, str]
    classes: Mapping[str, str]
    entities: Mapping[str, str]

    def of_model(self, name: str) -> str:
        """Return a model's name on the page."""
        return self.models.get(name, name)

    def of_class(self, label: str, model: str = "") -> str:
        """Return a class's name on the page; some models have a name of their own for it.

        >>> CHINESE.of_class("news_finance"), CHINESE.of_class("退款")
        ('财经', '退款')
        >>> CHINESE.of_class("neutral", "sentiment"), CHINESE.of_class("neutral", "nli")
        ('中性', '中立')
        """
        return self.classes.get(f"{model}/{label}", self.classes.get(label, label))

    def of_entity(self, type_: str) -> str:
        """Return the name of a type of entities on the page.

        >>> CHINESE.of_entity("company"), CHINESE.of_entity("药品")
        ('公司', '药品')
        """
        return self.entities.get(type_, type_)


def _read_names(language: str) -> Names:
    with Path(__file__).with_name("names.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = ("model", "class", "entity")
    return Names(
        *({row["name"]: row[language] for row in rows if row["kind"] == kind} for kind in kinds)
    )


CHINESE, ENGLISH = _read_names("chinese"), _read_names("english")
