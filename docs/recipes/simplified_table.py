"""Write the table of traditional characters and phrases that tokenizers read as simplified ones.

    python docs/recipes/simplified_table.py zh_albert/tokenization/simplified.tsv

Characters are those that OpenCC converts to one other, from the writing of Taiwan, of Hong Kong or
of its own standard. Phrases are the shortest parts of jieba's words, written in each of these, that
OpenCC converts otherwise than character by character. Needs OpenCC (extra "corpora") and jieba.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import jieba
import opencc

from zh_albert.files.textio import atomic_write
from zh_albert.tokenization.characters import CHINESE_BLOCKS

KEPT = "么"  # OpenCC has 幺, which is right in few texts: 什么 stands in traditional ones, too


def characters() -> dict[str, str]:
    """Return each traditional character with its simplified one."""
    converters = [opencc.OpenCC(name) for name in ("tw2s", "t2s", "hk2s")]
    found: dict[str, str] = {}
    for first, last in CHINESE_BLOCKS:
        for character in map(chr, range(first, last + 1)):
            for converter in converters:
                simple = converter.convert(character)
                if simple != character and len(simple) == 1 and character not in KEPT:
                    found.setdefault(character, simple)
    return found


def phrases(table: dict[str, str]) -> dict[str, str]:
    """Return the phrases that are converted otherwise than by the table."""
    taiwan = opencc.OpenCC("tw2s")
    only_hong_kong = {c: s for c, s in table.items() if taiwan.convert(c) == c}

    def whole(text: str) -> str:
        converted: str = taiwan.convert(text)
        if len(converted) != len(text):
            return by_character(text)
        converted = "".join(c if c in KEPT else s for c, s in zip(text, converted, strict=True))
        return "".join(only_hong_kong.get(c, c) for c in converted)

    def by_character(text: str) -> str:
        return "".join(table.get(c, c) for c in text)

    jieba.initialize()
    writings = [opencc.OpenCC(name) for name in ("s2t", "s2tw", "s2hk")]
    found: dict[str, str] = {}
    for word in (word for word in jieba.dt.FREQ if len(word) > 1):
        for text in {writing.convert(word) for writing in writings}:
            if whole(text) == by_character(text):
                continue
            for length in range(2, len(text) + 1):
                parts = [text[n : n + length] for n in range(len(text) - length + 1)]
                if differing := {p: whole(p) for p in parts if whole(p) != by_character(p)}:
                    found |= differing
                    break
    return found


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    table = characters()
    rows = [*sorted(table.items()), *sorted(phrases(table).items())]
    with atomic_write(options.out) as file:
        file.write("".join(f"{traditional}\t{simple}\n" for traditional, simple in rows).encode())


if __name__ == "__main__":
    main()
