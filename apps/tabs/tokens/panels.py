"""A text's tokens, words and masks → HTML."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from apps.markup.sections import caption, section, tiles
from apps.markup.text import element, panel, plain, shown, spliced
from apps.tabs.tokens.strings import TokenStrings

MAX_DRAWN = 2000  # characters; a browser gets slow over many more boxes


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text and its tokens.

    Attributes:
        text: The visitor's own string.
        ids: The ids of its tokens.
        tokens: The tokens, as rows of the vocabulary.
        offsets: The characters of each token in ``text``.
        words: Token ranges, side by side.
        unknown: The id of ``[UNK]``.
    """

    text: str
    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]
    words: list[range]
    unknown: int


@dataclass(slots=True)
class _Box:
    """Tokens of the same characters; nearly always one."""

    start: int
    end: int
    tokens: list[int]


def tokens_panel(strings: TokenStrings, tokenized: TokenizedText, masked: Collection[int]) -> str:
    """Return counts, the tokens grouped by words, and the text with its masks.

    Args:
        strings: The tab's strings.
        tokenized: The text and its tokens.
        masked: Positions of the tokens to mask.
    """
    hidden = frozenset(masked)
    text, length = tokenized.text, len(tokenized.text)
    shortened = more = ""
    if length > MAX_DRAWN:  # the counts are of the whole text
        shortened = strings.shortened.format(shown=f"{MAX_DRAWN:,}", total=f"{length:,}")
        more = '<span class="za-more">……</span>'
    counts = [
        (f"{length:,}", strings.characters),
        (f"{len(tokenized.ids):,}", strings.tokens_counted),
        (f"{len(tokenized.words):,}", strings.words_counted),
        (f"{100 * len(hidden) / max(len(tokenized.ids), 1):.1f}%", strings.masked_share),
    ]
    words = list(_words(tokenized))
    tokens = _draw_tokens(strings, tokenized, words, hidden) + more
    masks = _draw_masks(text, words, hidden) + more
    return panel(
        tiles(counts)
        + caption(shortened, "za-short")
        + _flow(strings.tokens, strings.tokens_hint, "za-tokens", tokens)
        + _legend(strings)
        + _flow(strings.masked_text, strings.masked_hint, "za-mask", masks)
    )


def _flow(title: str, hint: str, kind: str, body: str) -> str:
    flow = f'<div class="za-flow {kind}">{body}</div>'
    return section(f"{element(title, 'h3')}{flow}{caption(hint)}")


def _legend(strings: TokenStrings) -> str:
    word = '<span class="za-tok">词</span></span>'
    entries = [
        (f'<span class="za-word za-w0">{word}', strings.legend_word),
        (f'<span class="za-word za-masked">{word}', strings.legend_masked),
        ('<span class="za-tok za-unk">?</span>', strings.legend_unknown),
        ('<i class="za-gap">␣</i>', strings.legend_dropped),
    ]
    items = "".join(f"<li>{sample}{element(name, 'span')}</li>" for sample, name in entries)
    return f'<ul class="za-legend" aria-hidden="true">{items}</ul>'


def _draw_tokens(
    strings: TokenStrings,
    tokenized: TokenizedText,
    words: list[list[_Box]],
    hidden: frozenset[int],
) -> str:
    parts, position = [], 0
    for number, boxes in enumerate(words):
        parts.append(shown(tokenized.text[position : boxes[0].start]))
        position = boxes[0].start
        kind = "za-masked" if boxes[0].tokens[0] in hidden else f"za-w{number % 2}"
        parts.append(f'<span class="za-word {kind}">')
        for box in boxes:
            parts.append(shown(tokenized.text[position : box.start]))
            parts.append(_token(strings, tokenized, box))
            position = box.end
        parts.append("</span>")
    return "".join([*parts, shown(tokenized.text[position:MAX_DRAWN])])


def _token(strings: TokenStrings, tokenized: TokenizedText, box: _Box) -> str:
    ids, tokens = tokenized.ids, tokenized.tokens
    unknown = tokenized.unknown in (ids[token] for token in box.tokens)
    names = " + ".join(f"{tokens[token]} · id {ids[token]}" for token in box.tokens)
    place = strings.place.format(start=box.start, end=box.end)
    drawn = shown(tokenized.text[box.start : min(box.end, MAX_DRAWN)])
    return (
        f'<span class="za-tok{" za-unk" if unknown else ""}" title="{plain(names)} · {place}">'
        f'<span class="za-slice">{drawn}</span>'
        f"{'<small>[UNK]</small>' if unknown else ''}</span>"
    )


def _draw_masks(text: str, words: list[list[_Box]], hidden: frozenset[int]) -> str:
    def drawn(box: _Box) -> str:
        original = plain(text[box.start : box.end][:100])
        mask = f'<span class="za-hidden" title="{original}">[MASK]</span>'
        masks = mask * sum(token in hidden for token in box.tokens)
        kept = "" if box.tokens[0] in hidden else shown(text[box.start : min(box.end, MAX_DRAWN)])
        return masks + kept

    boxes = ((box.start, box.end, drawn(box)) for boxes in words for box in boxes)
    return spliced(text[:MAX_DRAWN], boxes, shown)


def _words(tokenized: TokenizedText) -> Iterator[list[_Box]]:
    """Yield the boxes of each word that begins within what is drawn."""
    for word in tokenized.words:
        boxes: list[_Box] = []
        for token in word:
            start, end = tokenized.offsets[token]
            if boxes and start < boxes[-1].end:  # tokens of the same characters share a box
                boxes[-1].end = max(boxes[-1].end, end)
                boxes[-1].tokens.append(token)
            elif start < MAX_DRAWN:
                boxes.append(_Box(start, end, [token]))
        if boxes:
            yield boxes
