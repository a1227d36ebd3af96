"""The note about signs that a model does not know."""

from __future__ import annotations

from apps.i18n.page import CHINESE, ENGLISH
from apps.markup.unknown_signs import unknown_signs
from tests.helpers.panel_reader import HOSTILE, OURS, check_is_only_text
from zh_albert.tokenization.tokenizer import default_tokenizer

KNOWN = default_tokenizer()


def test_signs_are_listed_once_with_what_they_are() -> None:
    note = unknown_signs(CHINESE, KNOWN, ["好😀😀 yyds💯", "去过㗎，好😀"])
    assert "模型不认识：" in note
    assert note.count("<span") == len({*note.split("<span")[1:]}), "each once"
    for sign in ("😀", "💯", "㗎"):
        assert sign in note
    assert "U+1F4AF HUNDRED POINTS SYMBOL" in note
    assert unknown_signs(CHINESE, KNOWN, ["房間很乾淨，Hello 123"]) == ""


def test_many_signs_are_counted() -> None:
    note = unknown_signs(ENGLISH, KNOWN, ["好".join(map(chr, range(0x20000, 0x20000 + 20)))])
    assert note.count("<span") == 12
    assert "and 8 others" in note


def test_a_note_is_only_text() -> None:
    check_is_only_text(unknown_signs(CHINESE, KNOWN, [f"😀{HOSTILE}"]), OURS)
