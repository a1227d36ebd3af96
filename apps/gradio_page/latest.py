"""The answer to what a visitor did last is the one shown, whichever answer comes last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from apps.gradio_page.layout import QUIETLY

NOW = "(...values) => zaNow(values)"
"""The script of an event whose last input is its moment; see ``page.js``."""
_TYPED, _ASKED = (f"(...values) => zaNow(values, '{kind}')" for kind in ("typed", "asked"))
_PAGES = 10_000  # remembered; a forgotten page may see a late answer


class Latest:
    """The events of a tab: each open page shows only the answer to its latest one.

    Every event carries its moment: the page it comes from, and its number there. Gradio starts and
    ends answers in any order, and an answer that it cancels may have been sent already.

    Attributes:
        moment: An invisible box: the last input of every event.
        in_turn: Settings of other quick events that fill the same boxes, so that none of them
            overtakes another.
    """

    def __init__(self) -> None:
        self.moment = gr.JSON(visible=False)
        self._asked_at = gr.JSON(visible=False)
        self._newest: OrderedDict[str, int] = OrderedDict()
        self._remembering = threading.Lock()
        # Quick answers take turns: two on their way could overtake each other.
        self.in_turn: Any = {"concurrency_id": f"latest {id(self)}", "concurrency_limit": 1}

    def holds(self, moment: object) -> bool:
        """Note a moment, and return whether it is the latest of its page."""
        match moment:
            case [str(page), int(number)]:
                pass
            case _:  # not from the page: a program that uses the API
                return True
        with self._remembering:
            newest = self._newest[page] = max(number, self._newest.get(page, 0))
            self._newest.move_to_end(page)
            while len(self._newest) > _PAGES:
                self._newest.popitem(last=False)
        return number == newest

    def on_typing(
        self,
        triggers: list[Any],
        answer: Callable[..., Any],
        boxes: Sequence[Any],
        shown: Any,
        *,
        api_name: str | None = None,
        checked: bool = True,
    ) -> None:
        """Answer while somebody types: one answer after the other, and only the last text.

        Args:
            triggers: ``change`` rather than ``input``, which keys trigger, but not pasting or
                an input method.
            answer: From the values of the boxes to the values shown.
            boxes: The boxes it reads.
            shown: The boxes it fills.
            api_name: The name of the answer in the page's API, if it has one.
            checked: Whether Gradio refuses values that a box cannot hold, with an error of its own;
                else ``answer`` has to take any.
        """
        answered = self._only_latest(answer)
        how = QUIETLY | {"js": _TYPED, "trigger_mode": "always_last", "preprocess": checked}
        if api_name:
            how |= {"api_name": api_name, "api_visibility": "public"}
        gr.on(triggers, answered, [*boxes, self.moment], shown, **self.in_turn, **how)

    def on_asking(
        self,
        triggers: list[Any],
        answer: Callable[..., Any],
        boxes: Sequence[Any],
        shown: Any,
        *,
        announce: Callable[..., str] | None = None,
        api_name: str,
    ) -> None:
        """Answer a button or Enter; meanwhile typing is still answered.

        Args:
            triggers: A button's ``click``, a box's ``submit``.
            answer: From the values of the boxes to the values shown.
            boxes: The boxes it reads.
            shown: The boxes it fills.
            announce: Shown until a long text is read; nothing for a short one.
            api_name: The name of the answer in the page's API.
        """
        answered = self._only_latest(answer)
        asked: Any = {"js": _ASKED, "trigger_mode": "multiple", **self.in_turn}
        how: Any = {"show_progress": "hidden", "api_name": api_name}
        inputs = [*boxes, self.moment]
        if announce is None:
            gr.on(triggers, answered, inputs, shown, **asked, **how)
            return

        def announced(*given: Any) -> tuple[Any, ...]:
            *values, moment = given
            told = announce(*values) if self.holds(moment) else ""
            return told or gr.skip(), moment

        # Two steps, not a generator: Gradio sometimes prints a traceback of one. The second one
        # does not wait for its turn: a long text that was given up is still read for a while.
        first = gr.on(triggers, announced, inputs, [shown, self._asked_at], **asked, **QUIETLY)
        how |= {"trigger_mode": "multiple", "concurrency_limit": 4}
        first.success(answered, [*boxes, self._asked_at], shown, **how)

    def _only_latest(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        def answered(*given: Any) -> Any:
            *values, moment = given
            result = answer(*values) if self.holds(moment) else None
            if result is None or not self.holds(moment):
                return gr.skip()
            return stamped(result, moment)

        return answered


def stamped(answer: Any, moment: object) -> Any:
    """Return an answer whose panels say which event it belongs to, for ``answers.js``.

    >>> stamped(('<div class="za"></div>', 3, ""), ["page", 7])
    ('<div class="za"></div><i hidden data-moment="7"></i>', 3, '')
    """
    match moment:
        case [str(), int(number)]:
            stamp = f'<i hidden data-moment="{number}"></i>'
        case _:  # a program that uses the API
            return answer
    if not isinstance(answer, tuple):
        return answer + stamp
    panels = (isinstance(one, str) and one.startswith("<") for one in answer)
    stamps = zip(answer, panels, strict=True)
    return tuple(one + stamp if is_panel else one for one, is_panel in stamps)
