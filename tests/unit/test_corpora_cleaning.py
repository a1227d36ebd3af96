"""Normalisation, the rules, and decontamination."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpora_tools.cleaning import (
    RULES,
    CleaningConfig,
    clean_text,
    count_chinese,
    drop_reason,
    read_phrases,
)
from corpora_tools.decontamination import contaminated, contamination_index, evaluation_texts
from corpora_tools.normalization import check_simplify, normalize, simplify
from zh_albert.errors import ConfigError, DataError

PROSE = "清晨的湖面上有一层薄雾，老船夫慢慢地划着桨。"
CONFIG = CleaningConfig()


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("ＡＢＣ１２３％", "ABC123%"),
        ("“好”，（是）！？：；《书》、……——·", "“好”，（是）！？：；《书》、……——·"),
        ("你\u200b好\ufeff\x00\x07\u202e吗\ue000", "你好吗"),
        ("e\u0301 ⼀⼆ 豈", "é 一二豈"),
        ("一\r\n\r\n  二\u3000\u3000\n\t三\x85四", "一\n二\n三\n四"),
        ("我 爱 Python 和 北 京", "我爱 Python 和北京"),
        ("好,是;对:吗?嗯!完.", "好，是；对：吗？嗯！完。"),
        ("真的吗? 是的! 好, 世界", "真的吗？是的！好，世界"),
        ("3,000 http://a.b/c?d=1 12:30 见a:b", "3,000 http://a.b/c?d=1 12:30 见a:b"),
        ("好！！！！！！是。。。。…………———————", "好！！！是。。。……——"),
    ],
)
def test_each_character_has_one_spelling(text, normal):
    assert normalize(text) == normal


@example("你好, 世界")
@example("Ａ\u0301")
@example("e\u200b\u0301")
@given(st.text(alphabet="好，,！!. \u3000\n\r\tＡa１1…—⼀e\u0301\u200b“”", max_size=40) | st.text())
def test_normalising_twice_changes_nothing_more(text):
    assert normalize(normalize(text)) == normalize(text)


def test_only_traditional_texts_are_simplified_unless_asked():
    named = "他研究鍾鼎文，" + PROSE * 10
    assert simplify("臺灣的電腦軟體很發達", "auto") == "台湾的电脑软体很发达"
    assert simplify(named, "auto") == named
    assert "钟" in simplify(named, "always")
    assert simplify("臺灣", "never") == "臺灣"
    with pytest.raises(ConfigError, match="--simplify must be one of never, auto, always"):
        check_simplify("t2s")


@pytest.mark.parametrize(
    ("paragraph", "reason"),
    [
        (PROSE, None),
        (PROSE + "他用 Python 写了三百行代码，花了 1200 元，电话没有打。", None),
        (PROSE + "\ufffd", "damaged"),
        (PROSE + "来信请寄 li.ming@example.com.cn。", "email"),
        (PROSE + "身份证11010519491231002X。", "identity_number"),
        (PROSE * 2 + "编号110105194912310021。", None),  # its check digit does not fit
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


EVALUATION = "这家酒店的房间很干净，服务也很好，下次来北京还会再住这里。"


@pytest.mark.parametrize(
    ("paragraph", "dropped"),
    [
        (EVALUATION, True),
        ("前面有话：" + EVALUATION[:24] + "然后说了别的。", True),  # 20 Chinese characters and more
        (
            "前面有话：这 家 酒店的房间很干净!服务也很好 下次来北京2024，还",
            True,
        ),  # marks do not count
        ("前面有话：" + EVALUATION[:20] + "然后说了别的。", False),  # 18
        ("“房间很好！”", True),  # as a whole
        ("房间很好，服务不好。", False),
        ("很好", False),
        ("", False),
    ],
)
def test_twenty_shared_characters_are_contamination(paragraph, dropped):
    index = contamination_index([EVALUATION, "房间很好", "很好"])
    assert contaminated([PROSE, paragraph, PROSE], index) == [False, dropped, False]


def test_a_stretch_over_two_paragraphs_does_not_count():
    index = contamination_index([EVALUATION])
    assert contaminated([EVALUATION[:14], EVALUATION[14:]], index) == [False, False]


def test_texts_of_any_task_schema_are_found(tmp_path):
    rows = [
        {"text": "甲", "label": "正面", "id": 3},
        {"text_a": "乙", "text_b": "丙"},
        {"id": "q1", "context": "丁", "question": "戊", "answers": [{"text": "己", "start": 0}]},
        {"text": "庚", "entities": [{"start": 0, "end": 1, "type": "PER"}], "choices": ["辛"]},
    ]
    task = tmp_path / "dev.jsonl"
    task.write_text("\n".join(json.dumps(row) for row in rows))
    lines = tmp_path / "dev.tsv"
    lines.write_text("壬\t0\n癸\t1\n", "utf-8")

    assert "".join(evaluation_texts(task)) == "甲乙丙丁戊己庚辛"
    assert list(evaluation_texts(lines)) == ["壬\t0", "癸\t1"]
    with pytest.raises(DataError, match="expected one with 4 Chinese characters"):
        contamination_index(["a", "好"])
