"""The strings of the classification tab."""

from __future__ import annotations

from dataclasses import dataclass

from apps.i18n import page
from apps.i18n.notice import Notice
from apps.i18n.tabs import TextTabStrings


@dataclass(frozen=True, kw_only=True, slots=True)
class ClassificationStrings(TextTabStrings):
    """The strings of the classification tab.

    Attributes:
        scores_by_member: The heading of the table with the scores of a model's network and of its
            n-grams.
    """

    text: str
    placeholder: str
    reviews: str
    headlines: str
    characters_read: str
    scores_by_member: str
    label: str
    network: str
    ngrams: str
    ensemble: str
    members_hint: str
    agree: str
    differ: str
    empty: Notice
    no_models: Notice


CHINESE = ClassificationStrings(
    page=page.CHINESE,
    tab="文本分类",
    text="要分类的文本",
    placeholder="在这里输入一段中文，例如一条评论或一个新闻标题，结果会随着输入更新……",
    go="分类 · Enter",
    reviews="评论",
    headlines="新闻标题",
    characters_read="读入 {count} 个字符",
    scores_by_member="拆开看",
    label="类别",
    network="神经网络",
    ngrams="n-gram 模型",
    ensemble="合起来",
    members_hint=(
        "拆开看：模型由神经网络和一个 n-gram 模型组成（TF-IDF 加线性 SVM，经典做法）；"
        "两份概率逐类相乘再归一化，就是合起来的概率。"
    ),
    agree="看法一致：{label}",
    differ="看法不一：{answers}",
    waiting=Notice("结果会显示在这里", "输入文字，或点一个例子。"),
    empty=Notice("请先输入要分类的文本", "在左上方的框里输入，或点一个例子。"),
    long=Notice(
        "文本较长（{count} 个字符），不再边输入边分类",
        "请按“分类”按钮开始；可能要等几秒到几分钟，期间页面照常可用。",
    ),
    no_models=Notice(
        "还没有附带的分类模型",
        "请先训练一个：zh-albert finetune --task classification …；“分词与遮盖”一页现在就能用。",
    ),
)


ENGLISH = ClassificationStrings(
    page=page.ENGLISH,
    tab="Classification",
    text="Text to classify",
    placeholder=(
        "Type some Chinese here, such as a review or a headline; the result follows your typing …"
    ),
    go="Classify · Enter",
    reviews="Reviews",
    headlines="Headlines",
    characters_read="{count} characters read",
    scores_by_member="Taken apart",
    label="class",
    network="network",
    ngrams="n-gram SVM",
    ensemble="together",
    members_hint=(
        "Taken apart: such a model is a network and an n-gram SVM (the classic way: TF-IDF over "
        "n-grams of tokens, a linear classifier). Their probabilities multiplied, class by class, "
        "and made to sum to 1 are the model's."
    ),
    agree="They agree: {label}",
    differ="They differ: {answers}",
    waiting=Notice("The result appears here", "Type something, or click an example."),
    empty=Notice("There is no text yet", "Type into the box, or click an example."),
    long=Notice(
        "The text is long ({count} characters), so the result no longer follows your typing",
        "Press Classify; it can take seconds to minutes, and the page stays usable meanwhile.",
    ),
    no_models=Notice(
        "No classification model is bundled yet",
        "Train one: zh-albert finetune --task classification …; “Tokens and masks” works already.",
    ),
)
