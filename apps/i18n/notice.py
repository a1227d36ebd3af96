"""A notice: why there is no result, and what to do."""

from __future__ import annotations

from typing import NamedTuple


class Notice(NamedTuple):
    """Two sentences: why there is no result, and what to do."""

    problem: str
    remedy: str

    def filled(self, **values: str | int) -> Notice:
        """Fill in the blanks of both sentences."""
        return Notice(self.problem.format(**values), self.remedy.format(**values))
