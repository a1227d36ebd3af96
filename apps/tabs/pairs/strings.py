"""The strings of the tab of sentence pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apps.i18n import page
from apps.i18n.notice import Notice
from apps.i18n.tabs import TextTabStrings


@dataclass(frozen=True, kw_only=True, slots=True)
class PairStrings(TextTabStrings):
    """The strings of the tab of sentence pairs.

    Attributes:
        meanings: What each label says about the two sentences.
        scale: The range of a model's values, from "low" to "high".
        looks_alike: Why sentences with nearly the same words have a low value.
        differences: What two sentences say differently, by kind.
        colon: What stands between such a kind and the parts of the sentences.
    """

    first: str
    first_placeholder: str
    second: str
    second_placeholder: str
    swap: str
    inference: str
    similarity: str
    meanings: Mapping[str, str]
    scale: str
    looks_alike: str
    differences: Mapping[str, str]
    colon: str
    one_missing: Notice
    nothing_to_read: Notice


CHINESE = PairStrings(
    page=page.CHINESE,
    tab="句子对",
    first="句子一（前提）",
    first_placeholder="在这里输入第一句……",
    second="句子二（假设）",
    second_placeholder="在这里输入第二句，结果会随着输入更新……",
    go="比较 · Enter",
    swap="交换两句",
    inference="推理：由句子一能推出句子二吗",
    similarity="相似：两句是一个意思吗",
    meanings={
        "entailment": "句子一成立，句子二就成立",
        "neutral": "由句子一看不出句子二是真是假",
        "contradiction": "两句不能同时成立",
        "similar": "两句说的是一个意思",
        "different": "两句说的不是一回事",
    },
    scale="训练数据里的分数从 {low} 到 {high}",
    looks_alike="两句看起来很像，但说的不一样，分数因此降低：",
    differences={
        "number": "数字不同",
        "negation": "一句有否定",
        "opposite": "意思相反的词",
        "other": "同类的另一个词",
        "order": "位置互换",
    },
    colon="：",
    waiting=Notice("结果会显示在这里", "输入两句话，或点一个例子。"),
    one_missing=Notice("要有两句话才能比较", "在左边的两个框里各输入一句，或点一个例子。"),
    nothing_to_read=Notice(
        "有一句里没有模型能读的字符", "它只有空格或控制字符；请输入汉字、字母、数字或标点。"
    ),
    long=Notice(
        "两句共 {count} 个字符，不再边输入边比较",
        "请按“比较”按钮开始；可能要等几秒到几分钟，期间页面照常可用。",
    ),
)


ENGLISH = PairStrings(
    page=page.ENGLISH,
    tab="Pairs",
    first="Sentence 1 (premise)",
    first_placeholder="Type the first sentence in Chinese …",
    second="Sentence 2 (hypothesis)",
    second_placeholder="Type the second sentence in Chinese; the answer follows the typing …",
    go="Compare · Enter",
    swap="Swap them",
    inference="Inference: does 1 imply 2?",
    similarity="Similarity: do both mean the same?",
    meanings={
        "entailment": "if sentence 1 is true, so is sentence 2",
        "neutral": "sentence 1 does not tell whether 2 is true",
        "contradiction": "the two cannot both be true",
        "similar": "both mean the same",
        "different": "they are about different things",
    },
    scale="The values it was trained on go from {low} to {high}",
    looks_alike="They look alike but say different things, which lowers the value:",
    differences={
        "number": "another number",
        "negation": "a negation",
        "opposite": "opposite words",
        "other": "another word of the same kind",
        "order": "exchanged places",
    },
    colon=": ",
    waiting=Notice("The result appears here", "Type two sentences, or click an example."),
    one_missing=Notice("It takes two sentences", "Fill both boxes, or click an example."),
    nothing_to_read=Notice(
        "Nothing in one of the sentences can be read by the model",
        "It is only spaces or control characters; type characters, letters or digits.",
    ),
    long=Notice(
        "{count} characters are not read while you type",
        "Press Compare; it can take seconds to minutes, and the page stays usable meanwhile.",
    ),
)
