"""Example texts, written for this page, and what they mean in English."""

from __future__ import annotations

from typing import NamedTuple


class Example(NamedTuple):
    """A text to try.

    Attributes:
        text: What the model reads: always Chinese.
        meaning: The same in English, for those who do not read Chinese.
    """

    text: str
    meaning: str


REVIEWS = (
    Example(
        "房间比照片上还要宽敞，窗外就是江景，前台小姑娘特别热心，下次来还住这家。",
        "The room is even bigger than in the photos, with a river view; I will come again.",
    ),
    Example(
        "等了一个半小时才送到，汤洒了一半，打电话过去态度还很差，再也不会点了。",
        "It took an hour and a half, half the soup was spilled, and they were rude on the phone.",
    ),
    Example(
        "书的内容不错，可惜纸张太薄，翻几页就皱了，对不起这个价钱。",
        "The book is good, but the paper is so thin that it creases; not worth the price.",
    ),
    Example(
        "键盘手感很好，用了两周没出过毛病，就是风扇声音稍微大了点，总体满意。",
        "The keyboard feels good and the fan is a little loud; on the whole I am satisfied.",
    ),
)
HEADLINES = (
    Example(
        "央行宣布下调存款准备金率，专家：利好中小企业融资",
        "Central bank lowers reserve ratio; experts expect easier credit for small firms",
    ),
    Example(
        "主场球迷欢呼到深夜，小将加时绝杀助球队闯进四强",
        "Home fans cheer into the night as a young player's late goal wins a semi-final place",
    ),
    Example(
        "续航突破七百公里，这款国产电动轿车下月开始交付",
        "Over 700 km on a charge: this electric car is delivered from next month",
    ),
    Example(
        "春耕时节走进山村，合作社的无人机一天播种三百亩",
        "Spring in a mountain village: the cooperative's drone sows 300 mu a day",
    ),
)
ENTITIES = (
    Example(
        "浙江大学计算机学院的王教授上周到杭州市西湖区考察了一家做机器人的公司。",
        "Professor Wang of Zhejiang University visited a robotics firm in Hangzhou last week.",
    ),
    Example(
        "中国足协宣布，前锋李小明将缺席在上海体育场举行的下一场比赛。",
        "Striker Li Xiaoming will miss the next match at Shanghai Stadium, the association says.",
    ),
    Example(
        "导演林海生的新片《长城谣》将于十月在北京首映，由星河影业负责发行。",
        "Director Lin Haisheng's new film opens in Beijing in October, from Xinghe Pictures.",
    ),
    Example(
        "市财政局局长张伟介绍，故宫和颐和园今年的门票收入将用于修缮。",
        "Ticket income of two palaces goes into repairs, says Zhang Wei of the finance bureau.",
    ),
)
TOKENS = "今天在杭州西湖边喝了一杯龙井茶，朋友用 iPhone 拍了 36 张照片，好开心😀！"
# What is hidden at first stands in 【】.
HIDDEN = (
    Example(
        "味道很【好】，送得也很快。",
        "It tastes [good], and delivery was fast.",
    ),
    Example(
        "她【是】我们学校最好的老师，毕业后一直【在】这里工作。",
        "She [is] our school's best teacher and has worked [at] it ever since she graduated.",
    ),
    Example(
        "周末天气很好，我们一家人去【公园】里散步。",
        "The weather is fine at the weekend; our family goes for a walk in the [park].",
    ),
)
MASKS = (
    Example(
        "他们俩是很好的朋[MASK]，从小一起长大。",
        "The two are good fri[MASK]; they grew up together.",
    ),
    Example(
        "我们应该保护环[MASK]。",
        "We should protect the environ[MASK].",
    ),
)
