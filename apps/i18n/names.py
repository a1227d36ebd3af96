"""The page's names of models, classes and types of entities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """Names in one language; what has none keeps the name that the model gives it.

    Attributes:
        models: Names of the bundled models, in the order in which the page shows them.
        classes: Names of the classifiers' labels.
        entities: Names of the taggers' types.
    """

    models: Mapping[str, str]
    classes: Mapping[str, str]
    entities: Mapping[str, str]

    def of_model(self, name: str) -> str:
        """Return a model's name on the page."""
        return self.models.get(name, name)

    def of_class(self, label: str) -> str:
        """Return a class's name on the page.

        >>> CHINESE.of_class("news_finance"), CHINESE.of_class("退款")
        ('财经', '退款')
        """
        return self.classes.get(label, label)

    def of_entity(self, type_: str) -> str:
        """Return the name of a type of entities on the page.

        >>> CHINESE.of_entity("company"), CHINESE.of_entity("药品")
        ('公司', '药品')
        """
        return self.entities.get(type_, type_)


CHINESE = Names(
    models={
        "sentiment": "情感",
        "news": "新闻",
        "ner": "实体（十类）",
        "ner-msra": "实体（人名、地名、机构）",
        "reader": "阅读理解",
        "nli": "推理",
        "similarity": "相似",
        "encoder": "编码器",
    },
    classes={
        "positive": "好评",
        "negative": "差评",
        "entailment": "蕴含",
        "neutral": "中立",
        "contradiction": "矛盾",
        "similar": "意思相同",
        "different": "意思不同",
        "news_story": "故事",
        "news_culture": "文化",
        "news_entertainment": "娱乐",
        "news_sports": "体育",
        "news_finance": "财经",
        "news_house": "房产",
        "news_car": "汽车",
        "news_edu": "教育",
        "news_tech": "科技",
        "news_military": "军事",
        "news_travel": "旅游",
        "news_world": "国际",
        "news_stock": "股票",
        "news_agriculture": "三农",
        "news_game": "游戏",
    },
    entities={
        "address": "地址",
        "book": "书名",
        "company": "公司",
        "game": "游戏",
        "government": "政府",
        "movie": "影视",
        "name": "人名",
        "organization": "组织",
        "position": "职位",
        "scene": "景点",
        "PER": "人名",
        "LOC": "地名",
        "ORG": "机构",
        "GPE": "行政区",
    },
)

ENGLISH = Names(
    models={
        "sentiment": "Sentiment",
        "news": "News",
        "ner": "Entities (ten types)",
        "ner-msra": "Entities (people, places, organizations)",
        "reader": "Reading",
        "nli": "Inference",
        "similarity": "Similarity",
        "encoder": "Encoder",
    },
    classes={
        "positive": "Positive",
        "negative": "Negative",
        "entailment": "Entailment",
        "neutral": "Neutral",
        "contradiction": "Contradiction",
        "similar": "Same meaning",
        "different": "Different",
        "news_story": "Stories",
        "news_culture": "Culture",
        "news_entertainment": "Entertainment",
        "news_sports": "Sports",
        "news_finance": "Finance",
        "news_house": "Housing",
        "news_car": "Cars",
        "news_edu": "Education",
        "news_tech": "Technology",
        "news_military": "Military",
        "news_travel": "Travel",
        "news_world": "World",
        "news_stock": "Stocks",
        "news_agriculture": "Farming",
        "news_game": "Games",
    },
    entities={
        "address": "address",
        "book": "book",
        "company": "company",
        "game": "game",
        "government": "government",
        "movie": "film",
        "name": "person",
        "organization": "organization",
        "position": "position",
        "scene": "sight",
        "PER": "person",
        "LOC": "place",
        "ORG": "organization",
        "GPE": "region",
    },
)
