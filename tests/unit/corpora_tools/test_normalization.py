"""One spelling for each character."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpora_tools.normalization import check_simplify, normalize, simplify
from zh_albert.errors import ConfigError

PROSE = "清晨的湖面上有一层薄雾，老船夫慢慢地划着桨。"


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
