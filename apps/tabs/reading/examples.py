"""The examples of the reading tab, written for this page."""

from __future__ import annotations

from typing import NamedTuple

from apps.i18n.page import Example


class ExamplePassage(NamedTuple):
    """A passage, and questions about it."""

    text: str
    questions: tuple[Example, ...]


PASSAGES = (
    ExamplePassage(
        "城南图书馆于1986年建成，2019年翻修后重新开放。馆里有藏书四十二万册，三层是儿童阅览室。"
        "每人凭借书证最多可以借十本书，借期三十天，可以在网上续借一次。"
        "图书馆星期一闭馆，其余日子早上九点开门，晚上八点半关门。",
        (
            Example("每人最多可以借几本书？", "How many books may one borrow?"),
            Example("图书馆哪一天不开门？", "On which day is the library closed?"),
            Example("儿童阅览室在几层？", "Where is the children's reading room?"),
            Example("图书馆的停车费是多少？", "What does parking cost? (not in the text)"),
        ),
    ),
    ExamplePassage(
        "龙井茶是绿茶的一种，产于浙江杭州西湖一带，因龙井村而得名。清明节以前采摘的叫明前茶，"
        "芽叶最嫩，价格也最高；谷雨以前采摘的叫雨前茶。泡龙井茶适合用八十度左右的水，"
        "水太烫会把嫩芽烫熟，茶汤发黄，味道变苦。",
        (
            Example("龙井茶产于哪里？", "Where does Longjing tea come from?"),
            Example("泡龙井茶用多少度的水？", "How hot should the water be?"),
            Example("谷雨以前采摘的茶叫什么？", "What is tea picked before Grain Rain called?"),
        ),
    ),
)
