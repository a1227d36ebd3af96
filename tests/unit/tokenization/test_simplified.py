"""Traditional characters read as simplified ones, against OpenCC and by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.odd_texts import ANYTHING
from zh_albert.tokenization.simplified import simplified
from zh_albert.tokenization.tokenizer import default_tokenizer

SENTENCES = [
    "房間很乾淨，服務態度也很好，下次還會選擇這裡。",
    "蘋果公司發佈了新的電腦，價格為一千二百元",
    "這家餐廳的麵條太鹹了，後來就沒再去過",
    "國際衞生組織說，颱風過後的復原工作還要幾個星期",
    "乾隆皇帝的名著顯著地影響著後人，藉此反覆瞭解",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentences_become_what_opencc_makes_of_them(sentence: str) -> None:
    opencc = pytest.importorskip("opencc")
    expected = opencc.OpenCC("hk2s" if "衞" in sentence else "tw2s").convert(sentence)
    assert simplified(sentence) == expected


@given(text=ANYTHING)
def test_the_length_stays(text: str) -> None:
    assert len(simplified(text)) == len(text)


WORDS = ["他的著作", "乾坤", "徵调", "反覆", "么", "沈阳", "a", "，"]


@given(words=st.lists(st.sampled_from(WORDS)))
def test_simplified_text_is_left_alone(words: list[str]) -> None:
    text = "".join(words)
    assert simplified(text) == text


def test_tokens_are_those_of_the_simplified_text_at_the_places_of_the_own() -> None:
    tokenizer = default_tokenizer()
    for sentence in SENTENCES:
        assert tokenizer.encode(sentence) == tokenizer.encode(simplified(sentence))
        assert tokenizer.special.unk not in tokenizer.encode(sentence).ids
