"""The answers of the tab of semantic search."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from apps.i18n.notice import Notice
from apps.markup.text import notice
from apps.tabs.search.panels import search_panel
from apps.tabs.search.strings import SearchStrings
from apps.text_answers import QuestionAnswers, timed
from zh_albert.tasks.embedding.predictor import Embedder
from zh_albert.tasks.embedding.search import SemanticSearch

MAX_LINES = 2_000
_SHOWN = 10  # lines of an answer
_KEPT = 8  # collections whose vectors are kept


class SearchAnswers(QuestionAnswers[SearchStrings]):
    """The panels with the lines, the second text, that are nearest to a question, the first one.

    Args:
        strings: The tab's strings.
        embedder: The model.
    """

    def __init__(self, strings: SearchStrings, embedder: Embedder) -> None:
        super().__init__(strings)
        self._embedder = embedder
        self._searches: OrderedDict[str, SemanticSearch] = OrderedDict()
        self._keeping = threading.Lock()

    def problem(self, texts: Sequence[str]) -> Notice | None:
        """Return a notice where the question or the lines are missing, or lines are too many."""
        question, lines = texts
        if not lines.strip():
            return self.strings.no_lines
        if (count := len(lines_of(lines))) > MAX_LINES:
            return self.strings.too_many.filled(count=f"{count:,}", limit=f"{MAX_LINES:,}")
        return None if question.strip() else self.strings.no_question

    def typed(self, *boxes: str | None) -> str:
        """See ``TextAnswers``: lines that were read once do not count as long any more."""
        _, lines = (box or "" for box in boxes[:2])
        known = lines in self._searches and all((box or "").strip() for box in boxes[:2])
        return self.asked(*boxes) if known else super().typed(*boxes)

    def panel(self, texts: Sequence[str], chosen: str) -> str:  # noqa: ARG002
        """Return the nearest lines; a notice if none can be read."""
        question, lines = texts
        search = self._search(lines)
        hits, seconds = timed(search, question, top_k=_SHOWN)
        if not hits:
            return notice(self.strings.page.unreadable)
        return search_panel(self.strings, question, hits, search, seconds)

    def _search(self, lines: str) -> SemanticSearch:
        """Return the search in these lines, whose vectors are made once."""
        found = self._searches.get(lines)
        if found is None:
            found = SemanticSearch(self._embedder, lines_of(lines))
        with self._keeping:
            self._searches[lines] = found
            self._searches.move_to_end(lines)
            while len(self._searches) > _KEPT:
                self._searches.popitem(last=False)
        return found


def lines_of(text: str) -> list[str]:
    r"""Return the lines that are not blank, without the blanks around them.

    >>> lines_of(" 一\n\n二\r\n")
    ['一', '二']
    """
    return [line.strip() for line in text.splitlines() if line.strip()]
