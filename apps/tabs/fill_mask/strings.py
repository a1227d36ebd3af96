"""The strings of the fill-mask tab."""

from __future__ import annotations

from dataclasses import dataclass

from apps.i18n import page
from apps.i18n.notice import Notice
from apps.i18n.tabs import TabStrings


@dataclass(frozen=True, kw_only=True, slots=True)
class FillMaskStrings(TabStrings):
    """The strings of the fill-mask tab."""

    text: str
    placeholder: str
    words: str
    no_words: str
    go: str
    filled: str
    gap: str
    original: str
    guessed: str
    masks: str
    original_here: str
    hint: str
    words_hidden: str
    masks_typed: str
    waiting: Notice
    empty: Notice
    nothing_hidden: Notice
    too_long: Notice
    too_many: Notice


CHINESE = FillMaskStrings(
    page=page.CHINESE,
    tab="完形填空",
    text="一句话",
    placeholder="在这里输入一句中文；想让模型猜的地方，点下面的词，或直接写 [MASK]……",
    words="点一个词，把它遮住",
    no_words="输入的句子会在这里按词分开。",
    go="填空 · Enter",
    filled="模型填好的句子",
    gap="第 {number} 处",
    original="原词：{word}",
    guessed="猜中：{word}",
    masks="{count} 个 [MASK]",
    original_here="原词",
    hint=(
        "概率按整个词表计算，所以这几项加起来不到 100%。几个字一起遮住时，每一步先填最有"
        "把握的一个字，再重读全句；概率是各步之积。"
    ),
    words_hidden="遮住了词",
    masks_typed="写着 [MASK]",
    waiting=Notice("候选词会显示在这里", "输入一句话，或点一个例子。"),
    empty=Notice("请先输入一句话", "在左上方的框里输入，或点一个例子。"),
    nothing_hidden=Notice(
        "还没有遮住的地方", "点一个词把它遮住，或在句子里写 [MASK]，一个 [MASK] 代表一个字。"
    ),
    too_long=Notice(
        "文本有 {count} 个字符，这一页最多 {limit} 个",
        "请留下要填空的那几句，或在命令行里处理：zh-albert predict encoder 文件",
    ),
    too_many=Notice(
        "遮住了 {count} 处，一次最多猜 {limit} 处", "请再点几个遮住的词，把它们放回去。"
    ),
)


ENGLISH = FillMaskStrings(
    page=page.ENGLISH,
    tab="Fill in the blanks",
    text="A sentence",
    placeholder=(
        "Type a Chinese sentence here; click words below to let the model guess them, or "
        "write [MASK] …"
    ),
    words="Click a word to hide it",
    no_words="The sentence appears here, cut into words.",
    go="Fill · Enter",
    filled="The sentence as the model fills it",
    gap="Blank {number}",
    original="hidden: {word}",
    guessed="guessed: {word}",
    masks="{count} masks",
    original_here="hidden word",
    hint=(
        "Probabilities are over the whole vocabulary, so these do not sum to 100 %. "
        "Characters hidden together are filled one by one, the surest first, reading the "
        "sentence again each time; the product is shown."
    ),
    words_hidden="Words are hidden",
    masks_typed="With [MASK] typed",
    waiting=Notice("Candidates appear here", "Type a sentence, or click an example."),
    empty=Notice("There is no sentence yet", "Type into the box, or click an example."),
    nothing_hidden=Notice(
        "Nothing is hidden yet",
        "Click a word to hide it, or write [MASK] in the sentence, one for each character.",
    ),
    too_long=Notice(
        "The text has {count} characters; this tab takes up to {limit}",
        "Keep the sentences around the blanks, or: zh-albert predict encoder FILE",
    ),
    too_many=Notice(
        "{count} blanks; up to {limit} at a time",
        "Click some of the hidden words to put them back.",
    ),
)
