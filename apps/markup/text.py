"""Text → HTML that shows it and does nothing else, whatever the text holds."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable, Iterable

from apps.i18n.notice import Notice

_SYMBOLS = {" ": "␣", "\u3000": "␣", "\n": "↵", "\r": "␍", "\t": "⇥", "\x7f": "␡"}
# Letters, marks and symbols by category, but invisible.
_BLANK = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
# Gradio reads values as templates (`${…}`, `{{…}}`, `@children`) before the browser sees them.
_ENTITIES = {ord(c): f"&#{ord(c)};" for c in "$`{}@"}


def escape(text: str) -> str:
    r"""Return text as HTML, fit for an element's content and for a quoted attribute.

    Characters that HTML or JSON cannot carry become U+FFFD.

    >>> escape('<b title="${x}">'), escape("\ud800\0")
    ('&lt;b title=&quot;&#36;&#123;x&#125;&quot;&gt;', '��')
    """
    clean = "".join("\ufffd" if _unfit(character) else character for character in text)
    return html.escape(clean).translate(_ENTITIES)


def symbol(character: str) -> str | None:
    r"""Return the sign for an invisible character; None for a visible one.

    >>> symbol("字"), symbol(" "), symbol("\0"), symbol("\u200b")
    (None, '␣', '␀', 'U+200B')
    """
    known = _SYMBOLS.get(character)
    if known:
        return known
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    selector = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF
    if selector or code in _BLANK or unicodedata.category(character)[0] in "CZ":
        return f"U+{code:04X}"
    return None


def shown(text: str) -> str:
    """Return text as HTML in which every character is visible.

    An invisible character becomes an ``<i>`` with a sign; its ``data-c`` is the code point. A line
    break gets a sign and also breaks the line.
    """
    parts = []
    for character in text:
        sign = symbol(character)
        if sign is None:
            parts.append(escape(character))
        else:
            code = f"{ord(character):X}"
            parts.append(f'<i class="za-gap" data-c="{code}" title="U+{code:0>4}">{sign}</i>')
            if character == "\n":
                parts.append("<br>")
    return "".join(parts)


def plain(text: str) -> str:
    r"""Return text for one line without markup: invisible characters but spaces become signs.

    >>> plain("a b\n<")
    'a b↵&lt;'
    """
    return escape("".join(c if c in " \u3000" else symbol(c) or c for c in text))


def spliced(
    text: str, pieces: Iterable[tuple[int, int, str]], between: Callable[[str], str]
) -> str:
    """Return a text in which spans are replaced by HTML.

    Args:
        text: The text.
        pieces: The first character of each span, the one after its last, and its HTML; in order.
        between: Text between spans → HTML.

    >>> spliced("1<2", [(2, 3, "<b>3</b>")], escape)
    '1&lt;<b>3</b>'
    """
    parts, position = [], 0
    for start, end, replacement in pieces:
        parts += [between(text[position:start]), replacement]
        position = end
    return "".join([*parts, between(text[position:])])


def element(text: str, tag: str = "div", kind: str = "") -> str:
    """Return an element with a text.

    >>> element("1 < 2", "p", "za-caption")
    '<p class="za-caption">1 &lt; 2</p>'
    """
    style = f' class="{kind}"' if kind else ""
    return f"<{tag}{style}>{escape(text)}</{tag}>"


def notice(what: Notice, *, alarm: bool = True) -> str:
    """Return a panel that says why there is no result, and what to do.

    Args:
        what: The two sentences.
        alarm: Whether something is wrong; screen readers then say it at once.
    """
    kind, role = ("za-alarm", "alert") if alarm else ("za-calm", "status")
    return panel(
        f'<section class="za-notice {kind}" role="{role}">'
        f"{element(what.problem, kind='za-problem')}{element(what.remedy)}</section>"
    )


def panel(body: str) -> str:
    """Return HTML as a panel: the style sheet applies to panels only."""
    return f'<div class="za">{body}</div>'


def _unfit(character: str) -> bool:
    return unicodedata.category(character) == "Cs" or (character < " " and character not in "\t\n")
