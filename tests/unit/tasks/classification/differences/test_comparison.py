"""What is found between two texts that look alike."""

from __future__ import annotations

import time

import pytest

from zh_albert.tasks.classification.differences.comparison import compare

ORDER = [
    ("妈妈抱着女儿", "女儿抱着妈妈"),
    ("客户投诉了快递员", "快递员投诉了客户"),
    ("黄瓜比番茄便宜两块", "番茄比黄瓜便宜两块"),
    ("我等你", "你等我"),
    ("他把钥匙交给了她", "她把钥匙交给了他"),
    ("从苏州开车到无锡", "从无锡开车到苏州"),
    ("先刷牙再洗脸", "先洗脸再刷牙"),
    ("蓝队，昨晚赢了红队", "红队，昨晚赢了蓝队"),
    ("保安拦住了外卖员", "保安被外卖员拦住了"),
    ("从南向北开", "从北向南开"),
    ("她是我的房东", "我是她的房东"),
    ("钥匙在盒子上", "盒子在钥匙上"),
]
NUMBERS = [
    ("这件衣服打八折", "这件衣服打六折"),
    ("会议改到周二下午", "会议改到周四下午"),
    ("每天吃3次，每次两片", "每天吃2次，每次两片"),
    ("工资涨了百分之五", "工资涨了15%"),
    ("会员优惠5元", "会员优惠5%"),
]
NEGATIONS = [
    ("快递今天会到", "快递今天不会到"),
    ("这种药饭后能吃", "这种药饭后别吃"),
    ("他已经還錢了", "他已经没还钱了"),
    ("业主同意这个方案", "业主不同意这个方案"),
]
OPPOSITES = [
    ("空调温度调高一点", "空调温度调低一点"),
    ("股价今天大幅上涨", "股价今天大幅下跌"),
    ("我很喜歡這個顏色", "我很讨厌这个颜色"),
    ("这款相机很贵", "这款相机很便宜"),
    ("早上八点开门，左转", "早上八点关门，右转"),
]
OTHERS = [
    ("明天北京有雨", "明天上海有雨"),
    ("帮我订一张去广州的高铁票", "帮我订一张去成都的高铁票"),
]
NONE = [
    ("妈妈抱着女儿", "妈妈抱着女儿。"),
    ("今天我去了图书馆", "我今天去了图书馆"),
    ("小张和小李是同学", "小李和小张是同学"),
    ("苹果、香蕉、西瓜都有", "西瓜、香蕉、苹果都有"),
    ("外卖员被保安拦住了", "保安拦住了外卖员"),
    ("爱唱歌爱跳舞", "爱跳舞爱唱歌"),
    ("学校离医院很近", "医院离学校很近"),
    ("小王是小李的同学", "小李是小王的同学"),
    ("飞机比高铁快", "高铁比飞机慢"),
    ("吃早饭了吗", "吃早餐了吗"),
    ("手机怎么连电脑", "怎么连手机电脑"),
    ("等了半小时", "等了30分钟"),
    ("三天內到貨", "3天内到货"),
    ("一共一百二十块", "一共１２０元"),
    ("跑了1500米", "跑了1.5公里"),
    ("下午3点开会", "15:00开会"),
    ("一个半小时的课", "90分钟的课"),
    ("报名人数涨了百分之二十", "报名人数涨了两成"),
    ("他来不来", "他来吗"),
    ("饭做好了没", "饭做好了吗"),
    ("差点没摔倒", "差点摔倒"),
    ("不容易", "难"),
    ("这部电影不错", "这部电影好"),
    ("明天北京有雨", "附近有什么好吃的"),
    ("", ""),
]


@pytest.mark.parametrize(
    ("kind", "pairs"),
    [
        ("order", ORDER),
        ("number", NUMBERS),
        ("negation", NEGATIONS),
        ("opposite", OPPOSITES),
        ("other", OTHERS),
    ],
)
def test_a_difference_of_texts_that_are_the_same_otherwise_is_sure(
    kind: str, pairs: list[tuple[str, str]]
) -> None:
    for pair in pairs:
        found = compare(*pair)
        assert {one.kind for one in found.differences} == {kind}, pair
        assert found.surely > 0.5, pair


@pytest.mark.parametrize("pair", NONE)
def test_what_says_the_same_has_none(pair: tuple[str, str]) -> None:
    assert compare(*pair).surely == 0


def test_a_difference_beside_others_is_not_sure() -> None:
    found = compare("定金两千元能退吗", "我想问一下，定金三千元什么时候退")
    assert [one.kind for one in found.differences] == ["number"]
    assert found.surely == 0


def test_places_are_of_the_texts_as_they_were_given() -> None:
    pair = "股價，今天上漲", "股价：今天下跌"
    [found] = compare(*pair).differences
    assert [pair[0][slice(*span)] for span in found.first] == ["上漲"]
    assert [pair[1][slice(*span)] for span in found.second] == ["下跌"]
    pair = "客户投诉了快递员", "快递员投诉了客户"
    [found] = compare(*pair).differences
    assert [pair[0][slice(*span)] for span in found.first] == ["客户", "快递员"]
    assert [pair[1][slice(*span)] for span in found.second] == ["快递员", "客户"]


def test_two_turns_are_none_and_a_turn_both_ways_is_one() -> None:
    assert compare("这道题不困难，很快", "这道题容易，很快").surely == 0
    assert compare("男生说女生聪明", "女生说男生聪明").surely == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我" * 200, "我" * 199 + "你"),
        ("我你" * 100, "你我" * 100),
        ("一二三" * 66, "三二一" * 66),
        ("1," * 100, "1," * 99 + "2,"),
        ("我" * 1_000_000, "你" * 1_000_000),
    ],
)
def test_no_text_takes_long(one: str, other: str) -> None:
    began = time.process_time()
    compare(one, other)
    assert time.process_time() - began < 2
