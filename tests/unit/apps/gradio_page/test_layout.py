"""The parts that tabs are laid out from."""

from __future__ import annotations

import pytest

pytest.importorskip("gradio")

from apps.gradio_page.layout import models_or_all
from apps.i18n.page import CHINESE


def test_choices_offer_both_models_only_if_there_are_two() -> None:
    assert [value for _, value in models_or_all(CHINESE, {"sentiment": 0})] == ["sentiment"]
    assert models_or_all(CHINESE, {}) == []
    assert models_or_all(CHINESE, {"a": 0, "b": 0, "c": 0})[0] == (CHINESE.all_models, "")
