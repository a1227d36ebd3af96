"""The page's names of models, classes and types of entities."""

from __future__ import annotations

from apps.i18n.names import CHINESE


def test_all_fifteen_news_classes_have_their_own_name() -> None:
    names = [name for label, name in CHINESE.classes.items() if label.startswith("news_")]
    assert len(set(names)) == 15
