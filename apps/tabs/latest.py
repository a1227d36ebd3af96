"""What a person did last decides what a tab shows, whichever answer comes last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from apps.tabs.wiring import QUIETLY

NOW = "(...values) => zaNow(values)"
"""The script of an event whose last input is a moment; see ``page.js``."""
_TYPED, _ASKED = (f"(...values) => zaNow(values, '{kind}')" for kind in ("typed", "asked"))
_PAGES = 10_000  # remembered; a page that is forgotten only may see an answer that comes late


class Latest:
    """The answers of a tab, of which a page only shows the one to its latest event.

    Every event carries its moment: which page it comes from, and its number there. Gradio starts
    and ends answers in any order, and what it cancels may have been sent already.

    Attributes:
        moment: A box that nobody sees: the last input of every event.
        in_turn: For other quick events that fill the same: none of them overtakes another.
    """

    def __init__(self) -> None:
        self.moment = gr.JSON(visible=False)
        self._asked_at = gr.JSON(visible=False)
        self._newest: OrderedDict[str, int] = OrderedDict()
        self._remembering = threading.Lock()
        # What is quick takes turns: two answers on their way could overtake each other.
        self.in_turn: Any = {"concurrency_id": f"latest {id(self)}", "concurrency_limit": 1}

    def holds(self, moment: object) -> bool:
        """Note a moment, and say whether its page has not done anything since."""
        match moment:
            case [str(page), int(number)]:
                pass
            case _:  # no page of ours asks
                return True
        with self._remembering:
            newest = self._newest[page] = max(number, self._newest.get(page, 0))
            self._newest.move_to_end(page)
            while len(self._newest) > _PAGES:
                self._newest.popitem(last=False)
        return number == newest

    def on_typing(
        self, triggers: Sequence[Any], answer: Callable[..., Any], boxes: Sequence[Any], shown: Any
    ) -> None:
        """Answer while somebody types: one after the other, and only what stands there last.

        Args:
            triggers: ``change`` rather than ``input``, which comes with keys only: not with an
                input method, not when pasting.
            answer: From what is in the boxes to what is shown.
            boxes: What it reads.
            shown: What it fills.
        """
        gr.on(
            list(triggers),
            self._only_latest(answer),
            [*boxes, self.moment],
            shown,
            js=_TYPED,
            trigger_mode="always_last",
            **self.in_turn,
            **QUIETLY,
        )

    def on_asking(
        self,
        triggers: Sequence[Any],
        answer: Callable[..., Any],
        boxes: Sequence[Any],
        shown: Any,
        *,
        announce: Callable[..., str] | None = None,
        api_name: str,
    ) -> None:
        """Answer a button or Enter; typing goes on being answered meanwhile.

        Args:
            triggers: When.
            answer: From what is in the boxes to what is shown.
            boxes: What it reads.
            shown: What it fills.
            announce: What to show until a long text is read; nothing for a short one.
            api_name: Of the answer.
        """
        answered = self._only_latest(answer)
        how: Any = {"show_progress": "hidden", "trigger_mode": "multiple", "api_name": api_name}
        if announce is None:
            asked = [*boxes, self.moment]
            gr.on(list(triggers), answered, asked, shown, js=_ASKED, **self.in_turn, **how)
            return

        def announced(*given: Any) -> tuple[Any, ...]:
            *values, moment = given
            told = announce(*values) if self.holds(moment) else ""
            return told or gr.skip(), moment

        # Two steps and no generator, of which Gradio prints a traceback now and then.
        gr.on(
            list(triggers),
            announced,
            [*boxes, self.moment],
            [shown, self._asked_at],
            js=_ASKED,
            trigger_mode="multiple",
            **self.in_turn,
            **QUIETLY,
        ).success(
            answered,
            [*boxes, self._asked_at],
            shown,
            concurrency_limit=4,  # a long text given up by the user goes on for a while
            **how,
        )

    def _only_latest(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        def answered(*given: Any) -> Any:
            *values, moment = given
            result = answer(*values) if self.holds(moment) else None
            return result if result is not None and self.holds(moment) else gr.skip()

        return answered
