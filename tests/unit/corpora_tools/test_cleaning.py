"""The rules of cleaning."""

from __future__ import annotations

import pytest

from corpora_tools.cleaning import (
    RULES,
    CleaningConfig,
    clean_text,
    count_chinese,
    drop_reason,
    read_phrases,
)
from zh_albert.errors import ConfigError

PROSE = "清晨的湖面上有一层薄雾，老船夫慢慢地划着桨。"
CONFIG = CleaningConfig()


@pytest.mark.parametrize(
    ("paragraph", "reason"),
    [
        (PROSE, None),
        (PROSE + "他用 Python 写了三百行代码，花了 1200 元，电话没有打。", None),
        (PROSE + "\ufffd", "damaged"),
        (PROSE + "来信请寄 li.ming@example.com.cn。", "email"),
        (PROSE + "身份证11010519491231002X。", "identity_number"),
        (PROSE * 2 + "编号110105194912310021。", None),  # its check digit does not fit
        (PROSE * 2 + "编号11010519491231002٣。", None),  # an Arabic digit
        (PROSE + "电话：138 1234 5678。", "phone"),
        (PROSE + "热线400-810-8888。", "phone"),
        (PROSE + "座机010-62345678。", "phone"),
        (PROSE * 2 + "圆周率是3.1415926535897932384。", None),
        (PROSE + "QQ群：123456789。", "account"),
        (PROSE + "我的微信号是 abc_12345。", "account"),
        (PROSE + "大家加微信吧。", "account"),
        (PROSE + "他每天用微信聊天，一天能聊8小时。", None),
        ("太短了。", "short"),
        (
            "日本語の文章はかなとカタカナがたくさん入っているので中国語ではありません。",
            "other_language",
        ),
        ("中文里说到다른 언어로 쓰인 글도 있습니다 그렇습니다还有几个字", "other_language"),
        ("这一行有十个以上的汉字 but most of it is plain English text, as you see", "other_script"),
        (PROSE + "转载请注明出处。", "boilerplate"),
        ("哈" * 80, "repetitive"),
        ("买一送一快来抢购吧！" * 12, "repetitive"),
    ],
)
def test_a_paragraph_stays_or_goes_for_a_named_reason(paragraph, reason):
    assert drop_reason(paragraph, CONFIG) == reason
    assert reason is None or reason in RULES


def test_cleaning_counts_each_reason_and_keeps_the_rest_in_order():
    text = f"{PROSE}\n太短\n{PROSE}\n第二段写的是另外一件重要的事情。\n短"

    kept, reasons = clean_text(text, CONFIG)

    assert kept == f"{PROSE}\n第二段写的是另外一件重要的事情。"
    assert reasons == {"short": 2, "repeated": 1}
    assert count_chinese(kept) == 20 + 15


def test_settings_change_the_rules():
    assert drop_reason(PROSE + "a@b.cn", CleaningConfig(personal=False)) is None
    phrases = read_phrases(["", " 老船夫 "])
    assert drop_reason(PROSE, CleaningConfig(boilerplate=phrases)) == "boilerplate"
    with pytest.raises(ConfigError, match=r"min_chinese must be from 0 to 1, found 1\.5"):
        CleaningConfig(min_chinese=1.5)


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "unit", ["字", "a", "1", "@", "a@", "微信 ", "QQ号", "1-", "字 ", "\n", "!"]
)
def test_the_time_of_cleaning_grows_with_the_length_only(unit):
    loose = CleaningConfig(min_paragraph=0, min_chinese=0)
    clean_text(unit * (1_000_000 // len(unit)), loose)
