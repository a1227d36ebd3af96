"""Only the answer to the latest event of a page is wanted."""

from __future__ import annotations

import pytest

pytest.importorskip("gradio")

from apps.gradio_page import latest
from apps.gradio_page.latest import Latest


def test_an_event_is_wanted_until_its_page_has_a_later_one() -> None:
    tab = Latest()
    assert tab.holds(["page", 1])
    assert tab.holds(["page", 1])
    assert tab.holds(["page", 3])
    assert not tab.holds(["page", 2]), "begun later, but done earlier"
    assert not tab.holds(["page", 1])
    assert tab.holds(["another page", 1])


@pytest.mark.parametrize("moment", [None, [], ["page"], ["page", "1"], {"page": 1}, 3])
def test_who_is_no_page_of_ours_is_answered(moment: object) -> None:
    assert Latest().holds(moment)


def test_pages_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latest, "_PAGES", 2)
    tab = Latest()
    for page in "abc":
        assert tab.holds([page, 5])
    assert tab.holds(["a", 1])
    assert not tab.holds(["c", 1])
