"""The examples of the classification tab, written for this page."""

from __future__ import annotations

from apps.i18n.page import Example

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
