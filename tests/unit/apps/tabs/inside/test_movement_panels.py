"""Which layers share parameters, in words."""

from __future__ import annotations

from apps.tabs.inside.movement_panels import sharing_of
from apps.tabs.inside.strings import CHINESE
from zh_albert.model.sharing import sharing_plan


def test_sharing_is_said_in_words() -> None:
    assert sharing_of(CHINESE, sharing_plan("all", 6)) == "6 层共用一组参数"
    assert sharing_of(CHINESE, sharing_plan("all", 6, 3)) == "6 层，3 组参数"
    assert sharing_of(CHINESE, sharing_plan("none", 6)) == "6 层，参数不共享"
    assert "1 组注意力参数，6 组前馈参数" in sharing_of(CHINESE, sharing_plan("attention", 6))
