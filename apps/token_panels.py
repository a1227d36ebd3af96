"""A text's tokens, words and masks → HTML: pure functions, tested without a browser."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from apps.markup import element, escape, page, plain, shown
from apps.texts.languages import Language

MAX_DRAWN = 2000  # characters; a browser gets slow over many more boxes


@dataclass(frozen=True, slots=True)
class CutText:
    """A text and its tokens.

    Attributes:
        text: The user's own string.
        ids: The tokens.
        rows: Their rows of the vocabulary.
        offsets: Their characters in ``text``.
        words: Token ranges, side by side.
        unknown: The id of ``[UNK]``.
    """

    text: str
    ids: list[int]
    rows: list[str]
    offsets: list[tuple[int, int]]
    words: list[range]
    unknown: int


@dataclass(slots=True)
class _Box:
    """Tokens that stand for the same characters; nearly always one."""

    start: int
    end: int
    tokens: list[int]


def tokens_panel(
    say: Language, cut: CutText, masked: Collection[int], *, limit: int = MAX_DRAWN
) -> str:
    """Show counts, the tokens grouped by words, and the text with its masks.

    Args:
        say: The page's language.
        cut: The text and its tokens.
        masked: Positions of the tokens to mask.
        limit: Characters drawn; the counts are of the whole text.
    """
    hidden = frozenset(masked)
    shortened = ""
    if len(cut.text) > limit:
        filled = say.tokens.shortened.format(shown=f"{limit:,}", total=f"{len(cut.text):,}")
        shortened = element(filled, "p", "za-short")
    return page(
        _counts(say, cut, hidden)
        + shortened
        + _section(
            say.tokens.tokens,
            say.tokens.tokens_hint,
            "za-tokens",
            _draw_tokens(say, cut, hidden, limit),
        )
        + _legend(say)
        + _section(
            say.tokens.masked_text,
            say.tokens.masked_hint,
            "za-mask",
            _draw_masks(cut, hidden, limit),
        )
    )


def _counts(say: Language, cut: CutText, hidden: frozenset[int]) -> str:
    share = 100 * len(hidden) / max(len(cut.ids), 1)
    tiles = [
        (f"{len(cut.text):,}", say.tokens.characters),
        (f"{len(cut.ids):,}", say.tokens.tokens_counted),
        (f"{len(cut.words):,}", say.tokens.words_counted),
        (f"{share:.1f}%", say.tokens.masked_share),
    ]
    items = "".join(
        f'<li><strong class="za-count">{value}</strong>{element(name)}</li>'
        for value, name in tiles
    )
    return f'<ul class="za-counts">{items}</ul>'


def _section(title: str, hint: str, kind: str, body: str) -> str:
    return (
        f'<section class="za-section">{element(title, "h3")}'
        f'<div class="za-flow {kind}">{body}</div>{element(hint, "p", "za-caption")}</section>'
    )


def _legend(say: Language) -> str:
    entries = [
        (
            '<span class="za-word za-w0"><span class="za-tok">词</span></span>',
            say.tokens.legend_word,
        ),
        (
            '<span class="za-word za-masked"><span class="za-tok">词</span></span>',
            say.tokens.legend_masked,
        ),
        ('<span class="za-tok za-unk">?</span>', say.tokens.legend_unknown),
        ('<i class="za-gap">␣</i>', say.tokens.legend_dropped),
    ]
    items = "".join(f"<li>{sample}{element(name, 'span')}</li>" for sample, name in entries)
    return f'<ul class="za-legend" aria-hidden="true">{items}</ul>'


def _draw_tokens(say: Language, cut: CutText, hidden: frozenset[int], limit: int) -> str:
    parts, position = [], 0
    for number, boxes in enumerate(_words(cut)):
        if boxes[0].start >= limit:
            break
        parts.append(shown(cut.text[position : boxes[0].start]))
        position = boxes[0].start
        kind = "za-masked" if boxes[0].tokens[0] in hidden else f"za-w{number % 2}"
        parts.append(f'<span class="za-word {kind}">')
        for box in boxes:
            if box.start >= limit:
                break
            parts.append(shown(cut.text[position : box.start]))
            parts.append(_token(say, cut, box, limit))
            position = box.end
        parts.append("</span>")
    return _finish(parts, cut.text, position, limit)


def _token(say: Language, cut: CutText, box: _Box, limit: int) -> str:
    unknown = cut.unknown in (cut.ids[token] for token in box.tokens)
    names = " + ".join(f"{cut.rows[token]} · id {cut.ids[token]}" for token in box.tokens)
    where = say.tokens.place.format(start=box.start, end=box.end)
    return (
        f'<span class="za-tok{" za-unk" if unknown else ""}" title="{plain(names)} · {where}">'
        f'<span class="za-slice">{shown(cut.text[box.start : min(box.end, limit)])}</span>'
        f"{'<small>[UNK]</small>' if unknown else ''}</span>"
    )


def _draw_masks(cut: CutText, hidden: frozenset[int], limit: int) -> str:
    parts, position = [], 0
    for boxes in _words(cut):
        for box in boxes:
            if box.start >= limit:
                break
            parts.append(shown(cut.text[position : box.start]))
            for token in box.tokens:
                if token in hidden:
                    original = plain(cut.text[box.start : box.end][:100])
                    parts.append(f'<span class="za-hidden" title="{original}">[MASK]</span>')
            if box.tokens[0] not in hidden:
                parts.append(shown(cut.text[box.start : min(box.end, limit)]))
            position = box.end
    return _finish(parts, cut.text, position, limit)


def _finish(parts: list[str], text: str, position: int, limit: int) -> str:
    parts.append(shown(text[position:limit]))
    if len(text) > limit:
        parts.append(f'<span class="za-more">{escape("……")}</span>')
    return "".join(parts)


def _words(cut: CutText) -> Iterator[list[_Box]]:
    """Yield the boxes of each word; tokens that share characters share a box."""
    for word in cut.words:
        boxes: list[_Box] = []
        for token in word:
            start, end = cut.offsets[token]
            if boxes and start < boxes[-1].end:
                boxes[-1].end = max(boxes[-1].end, end)
                boxes[-1].tokens.append(token)
            else:
                boxes.append(_Box(start, end, [token]))
        yield boxes
