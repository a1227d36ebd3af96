"""Text as HTML: every character is visible, and none of it is markup."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from apps.i18n.page import CHINESE
from apps.markup.text import escape, notice, shown
from tests.helpers.panel_reader import HOSTILE, check_is_only_text


def test_characters_with_nothing_to_see_get_a_sign() -> None:
    assert "␣" in shown(" ")
    assert "␀" in shown("\0")
    assert "↵" in shown("\n")
    assert "<br>" in shown("\n")
    assert "U+FE0F" in shown("\ufe0f")
    assert escape("\ud800") == "\ufffd"


@given(text=st.text(st.characters(codec=None), max_size=60))  # lone surrogates too
@example(text=HOSTILE)
def test_the_reason_of_a_notice_is_only_text(text: str) -> None:
    check_is_only_text(notice(CHINESE.failed.filled(reason=text)))
