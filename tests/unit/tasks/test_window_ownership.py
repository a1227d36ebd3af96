"""The window that decides a token."""

from __future__ import annotations

import itertools

from tests.helpers.entity_heads import (
    read,
)
from zh_albert.tasks.window_ownership import decided_by


def test_windows_decide_every_token_once_and_the_nearer_one_does() -> None:
    for tokens, length, stride in itertools.product(range(1, 40), (5, 8, 13), (0, 1, 2)):
        text = read(tokens, max_length=length, stride=stride)
        decided = decided_by(text.parts)
        for middle in range(2 * tokens - 1):
            [window] = [w for w, r in enumerate(decided) if middle in r]
            distance = [abs(part.start + part.stop - 1 - middle) for part in text.parts]
            assert distance[window] == min(distance)
            assert middle % 2 or middle // 2 in text.parts[window]
