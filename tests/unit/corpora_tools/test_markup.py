"""Markup becomes prose, in time that grows with its length only."""

from __future__ import annotations

import pytest

from corpora_tools.markup import strip_markdown, strip_wikitext


def test_markdown_becomes_prose():
    text = (
        "---\ntitle: x\n---\n# 标题 #一\n\n第一行，\n接着。"
        "见[这里](http://a.cn/x_(y))。![图](a.png)\n\n"
        "- 一**项**\n- `两`项\n\n"
        "```py\nprint('```')\n```\n\n    代码\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "> 引用<br>换行 &amp; https://a.b/c\n\n1. 甲[^1]\n\n[^1]: 注释\n"
        "<!-- 看\n不见 -->\n<pre>码</pre>末段"
    )
    assert strip_markdown(text).split("\n") == [
        "标题 #一",
        "第一行，接着。见这里。",
        "一项",
        "两项",
        "引用",
        "换行 &",
        "甲",
        "末段",
    ]


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("手机卖$199，耳机卖$29。", "手机卖$199，耳机卖$29。"),
        ("从去年的$5涨到今年的$8，涨了六成。", "从去年的$5涨到今年的$8，涨了六成。"),
        ("设$x^2 + 1$为二次式。", "设为二次式。"),
        ("请访问https://example.com查看价格，谢谢。", "请访问查看价格，谢谢。"),
        ("温度T<Tc时为超导，T>Tc时为常导。", "温度T<Tc时为超导，T>Tc时为常导。"),
        ('很<b class="x">好</b>的<wbr />店', "很好的店"),
        ("用 Vue\nRouter 写\n前台。", "用 Vue Router 写前台。"),
    ],
)
def test_prose_beside_marks_stays(text, prose):
    assert strip_markdown(text) == prose


def test_wikitext_becomes_prose():
    text = (
        "{{Infobox|name={{z}}}}\n[[File:a.jpg|thumb|一个[[链接|图]]说明]]\n"
        "'''数学'''是研究[[数量]]、[[结构 (数学)|结构]]的学科<ref name=\"a\">注</ref>。"
        "-{zh-hans:计算机;zh-hant:電腦}-也是<ref name=b />。\n== 历史 ==\n* 第一项\n"
        '{| class="wikitable"\n| a || b\n|\n{|\n| c\n|}\n| d\n|}\n'
        "第二段。\n[[Category:数学]]\n== 参考文献 ==\n* 甲\n"
    )
    assert strip_wikitext(text).split("\n") == [
        "数学是研究数量、结构的学科。计算机也是。",
        "历史",
        "第一项",
        "第二段。",
    ]


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "unit", ["[", "`a", "**字", "<", "$", "- ", "![a](", "<!--", "```\n", "<pre", "-{"]
)
def test_broken_markup_takes_no_longer_than_its_length(unit):
    strip_markdown(unit * 100_000)
    if unit in {"<", "<!--", "-{"}:
        strip_wikitext(unit * 20_000)


@pytest.mark.timeout(10)
def test_long_rules_and_many_blank_lines_take_no_longer_than_their_length():
    rule = "-" * 20_000
    assert strip_markdown(f"一\n\n{rule}\n\n{rule}字") == f"一\n{rule}字"
    assert strip_wikitext("一" + "\n" * 20_000 + "二") == "一\n二"


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("-{H|zh-cn:计算机;zh-tw:電腦;}-正文", "正文"),
        ("-{T|zh-hans:标题;zh-hant:標題}-正文", "正文"),
        ("-{-|zh-cn:甲;zh-tw:乙}-正文", "正文"),
        ("-{A|zh-cn:计算机;zh-tw:電腦}-", "计算机"),
        ("-{zh-tw:電腦;zh-cn:计算机}-", "计算机"),
        ("-{zh-hk:港;zh-tw:台}-", "港"),
        ("-{乾}-隆以-{3:2}-胜出", "乾隆以3:2胜出"),
    ],
)
def test_rules_of_conversion_show_what_simplified_readers_see(text, prose):
    assert strip_wikitext(text) == prose
