"""The fill-mask tab's panels: candidates, and words as buttons."""

from __future__ import annotations

import re

from apps.tabs.fill_mask.panels import Gap, Word, fill_panel, words_panel
from apps.tabs.fill_mask.strings import CHINESE
from tests.helpers.panel_reader import PanelReader
from zh_albert.inference.fill_mask import Candidate


def test_the_hidden_word_is_marked_among_the_candidates() -> None:
    candidates = [Candidate("公园", 0.61234), Candidate("山里", 0.2), Candidate("网上", 0.0001)]
    right = fill_panel(CHINESE, "去公园", [Gap(1, 3, "公园", "公园", candidates)], 0.01)
    wrong = fill_panel(CHINESE, "去山里", [Gap(1, 3, "山里", "山里", candidates)], 0.01)
    typed = fill_panel(CHINESE, "去[MASK]", [Gap(1, 7, "[MASK]", "[MASK]", candidates)], 0.01)

    assert PanelReader(right).bars == [61.2, 20.0, 0.0]
    assert "&lt;0.1%" in right
    assert "猜中：公园" in right
    assert '<mark class="za-put za-right">公园</mark>' in right
    assert "原词：山里" in wrong
    assert wrong.count('<span class="za-raw">原词</span>') == 1
    assert "猜中" not in typed
    assert "原词" not in typed


def test_capitals_are_no_other_word() -> None:
    gap = Gap(0, 6, "iPhone", "iphone", [Candidate("iphone", 0.5)])
    assert gap.is_guessed


def test_words_that_stand_twice_are_two() -> None:
    words = [Word(0, 1, "人"), Word(1, 2, "人")]
    panel = words_panel(CHINESE, "人人", words, words[1:])
    assert re.findall(r'aria-pressed="(\w+)"', panel) == ["false", "true"]
