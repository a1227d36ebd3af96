"""The tab of the classifiers."""

from __future__ import annotations

from dataclasses import dataclass

from apps.texts.notice import Notice


@dataclass(frozen=True, kw_only=True, slots=True)
class ClassificationTexts:
    """The tab of the classifiers."""

    tab: str
    text: str
    placeholder: str
    both_models: str
    all_models: str
    go: str
    reviews: str
    headlines: str
    probabilities: str
    characters_read: str
    others: str
    waiting: Notice
    empty: Notice
    nothing_to_read: Notice
    long: Notice
    no_models: Notice


CHINESE = ClassificationTexts(
    tab="文本分类",
    text="要分类的文本",
    placeholder="在这里输入一段中文，例如一条评论或一个新闻标题，结果会随着输入更新……",
    both_models="两个并排",
    all_models="全部并排",
    go="分类 · Enter",
    reviews="评论",
    headlines="新闻标题",
    probabilities="各类别的概率",
    characters_read="读入 {count} 个字符",
    others="其余 {count} 类合计",
    waiting=Notice("结果会显示在这里", "输入文字，或点一个例子。"),
    empty=Notice("请先输入要分类的文本", "在左上方的框里输入，或点一个例子。"),
    nothing_to_read=Notice(
        "这段文本里没有模型能读的字符", "它只有空格或控制字符；请输入汉字、字母、数字或标点。"
    ),
    long=Notice(
        "文本较长（{count} 个字符），不再边输入边分类",
        "请按“分类”按钮开始；可能要等几秒到几分钟，期间页面照常可用。",
    ),
    no_models=Notice(
        "还没有随附的分类模型",
        ("请先训练一个：zh-albert finetune --task classification …；“分词与遮盖”一页现在就能用。"),
    ),
)


ENGLISH = ClassificationTexts(
    tab="Classification",
    text="Text to classify",
    placeholder=(
        "Type some Chinese here, such as a review or a headline; the result follows your typing …"
    ),
    both_models="Both",
    all_models="All",
    go="Classify · Enter",
    reviews="Reviews",
    headlines="Headlines",
    probabilities="Probability of each class",
    characters_read="{count} characters read",
    others="the other {count} classes together",
    waiting=Notice("The result appears here", "Type something, or click an example."),
    empty=Notice("There is no text yet", "Type into the box, or click an example."),
    nothing_to_read=Notice(
        "Nothing in this text can be read by the model",
        "It is only spaces or control characters; type characters, letters or digits.",
    ),
    long=Notice(
        ("The text is long ({count} characters), so the result no longer follows your typing"),
        ("Press Classify; it can take seconds to minutes, and the page stays usable meanwhile."),
    ),
    no_models=Notice(
        "No classification model is bundled yet",
        (
            "Train one: zh-albert finetune --task classification …; “Tokens and masks” works "
            "already."
        ),
    ),
)
