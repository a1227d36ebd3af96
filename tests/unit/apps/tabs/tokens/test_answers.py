"""The tokens tab's answers with the real tokenizer."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from apps.tabs.tokens.answers import tokenize_and_mask
from apps.tabs.tokens.strings import CHINESE
from apps.text_answers import MAX_CHARACTERS
from tests.helpers.panel_reader import PanelReader
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.words import segmenter


@given(text=st.text(st.characters(codec=None), min_size=1, max_size=60), seed=st.integers(0, 99))
@example(text="价格：１２８元 iPhone，\u200b真好😀！\ud800\0", seed=0)
def test_the_tab_draws_every_character_of_a_real_encoding(text: str, seed: int) -> None:
    tokenizer = default_tokenizer()
    panel = tokenize_and_mask(CHINESE, tokenizer, segmenter().cut, text, seed)
    read = PanelReader(panel)

    assert read.flows.get("za-flow za-tokens", "") == text
    assert ("[MASK]" in read.flows.get("za-flow za-mask", "")) == bool(tokenizer.encode(text).ids)


def test_the_tab_explains_what_it_cannot_draw() -> None:
    tokenizer, segment = default_tokenizer(), segmenter().cut

    assert "请先输入要切分的文本" in tokenize_and_mask(CHINESE, tokenizer, segment, "", 0)
    assert "超过了网页的上限" in tokenize_and_mask(
        CHINESE, tokenizer, segment, "好" * (MAX_CHARACTERS + 1), 0
    )
    assert tokenize_and_mask(
        CHINESE, tokenizer, segment, "今天天气很好，出门走走", 1
    ) != tokenize_and_mask(CHINESE, tokenizer, segment, "今天天气很好，出门走走", 2)
