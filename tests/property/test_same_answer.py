"""An answer is that of the text alone: other texts, their order and threads change no bit of it."""

from __future__ import annotations

import pytest

from tests.helpers.same_answers import differing
from zh_albert.checkpoints.resolve import bundled_models


@pytest.mark.slow
@pytest.mark.parametrize("name", bundled_models())
def test_an_answer_is_that_of_the_text_alone(name: str) -> None:
    assert differing(name, 100, 20)[1] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", bundled_models())
def test_answers_are_those_of_the_texts_alone(name: str) -> None:
    assert differing(name, 2000, 200)[1] == []
