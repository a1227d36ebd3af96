"""A text's tokens, words and masks → HTML: pure functions, tested without a browser."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from apps import texts
from apps.markup import bilingual, escape, page, plain, shown
from apps.texts import Wording

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


def tokens_panel(cut: CutText, masked: Collection[int], *, limit: int = MAX_DRAWN) -> str:
    """Show counts, the tokens grouped by words, and the text with its masks.

    Args:
        cut: The text and its tokens.
        masked: Positions of the tokens to mask.
        limit: Characters drawn; the counts are of the whole text.
    """
    hidden = frozenset(masked)
    shortened = ""
    if len(cut.text) > limit:
        filled = texts.SHORTENED.filled(shown=f"{limit:,}", total=f"{len(cut.text):,}")
        shortened = bilingual(filled, "p", "za-short")
    return page(
        _counts(cut, hidden)
        + shortened
        + _section(texts.TOKENS, texts.TOKENS_HINT, "za-tokens", _draw_tokens(cut, hidden, limit))
        + _legend()
        + _section(texts.MASKED_TEXT, texts.MASKED_HINT, "za-mask", _draw_masks(cut, hidden, limit))
    )


def _counts(cut: CutText, hidden: frozenset[int]) -> str:
    share = 100 * len(hidden) / max(len(cut.ids), 1)
    tiles = [
        (f"{len(cut.text):,}", texts.CHARACTERS),
        (f"{len(cut.ids):,}", texts.TOKEN_COUNT),
        (f"{len(cut.words):,}", texts.WORD_COUNT),
        (f"{share:.1f}%", texts.MASKED_SHARE),
    ]
    items = "".join(
        f'<li><strong class="za-count">{value}</strong>{bilingual(name)}</li>'
        for value, name in tiles
    )
    return f'<ul class="za-counts">{items}</ul>'


def _section(title: Wording, hint: Wording, kind: str, body: str) -> str:
    return (
        f'<section class="za-section">{bilingual(title, "h3")}'
        f'<div class="za-flow {kind}">{body}</div>{bilingual(hint, "p", "za-caption")}</section>'
    )


def _legend() -> str:
    entries = [
        ('<span class="za-word za-w0"><span class="za-tok">词</span></span>', texts.LEGEND_WORD),
        (
            '<span class="za-word za-masked"><span class="za-tok">词</span></span>',
            texts.LEGEND_MASKED,
        ),
        ('<span class="za-tok za-unk">?</span>', texts.LEGEND_UNKNOWN),
        ('<i class="za-gap">␣</i>', texts.LEGEND_DROPPED),
    ]
    items = "".join(f"<li>{sample}{bilingual(name, 'span')}</li>" for sample, name in entries)
    return f'<ul class="za-legend" aria-hidden="true">{items}</ul>'


def _draw_tokens(cut: CutText, hidden: frozenset[int], limit: int) -> str:
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
            parts.append(_token(cut, box, limit))
            position = box.end
        parts.append("</span>")
    return _finish(parts, cut.text, position, limit)


def _token(cut: CutText, box: _Box, limit: int) -> str:
    unknown = cut.unknown in (cut.ids[token] for token in box.tokens)
    names = " + ".join(f"{cut.rows[token]} · id {cut.ids[token]}" for token in box.tokens)
    where = f"字符 characters {box.start}–{box.end}"
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
