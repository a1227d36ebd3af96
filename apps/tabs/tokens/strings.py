"""The strings of the tokens tab."""

from __future__ import annotations

from dataclasses import dataclass

from apps.i18n import page
from apps.i18n.notice import Notice
from apps.i18n.tabs import TabStrings


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenStrings(TabStrings):
    """The strings of the tokens tab."""

    text: str
    seed: str
    again: str
    tokens: str
    tokens_hint: str
    place: str
    masked_text: str
    masked_hint: str
    legend_word: str
    legend_masked: str
    legend_unknown: str
    legend_dropped: str
    characters: str
    tokens_counted: str
    words_counted: str
    masked_share: str
    shortened: str
    empty: Notice


CHINESE = TokenStrings(
    page=page.CHINESE,
    tab="分词与遮盖",
    text="要切分的文本",
    seed="随机种子",
    again="重新遮盖",
    tokens="词与词元",
    tokens_hint="每个小格是一个词元，底色相同的一组是一个词；鼠标停在上面可以看到编号和位置。",
    place="字符 {start}–{end}",
    masked_text="遮盖后的文本",
    masked_hint="预训练时约 15% 的词元按整词遮盖，模型要根据上下文把它们猜出来。",
    legend_word="一个词",
    legend_masked="将被遮盖",
    legend_unknown="词表里没有",
    legend_dropped="空格等不进模型的字符",
    characters="字符",
    tokens_counted="词元",
    words_counted="词",
    masked_share="遮盖比例",
    shortened="这里只画出前 {shown} 个字符（共 {total} 个）；上面的统计按全文计算。",
    empty=Notice("请先输入要切分的文本", "在上面的框里输入一段文字。"),
)


ENGLISH = TokenStrings(
    page=page.ENGLISH,
    tab="Tokens and masks",
    text="Text to cut into tokens",
    seed="Seed of the random choice",
    again="Mask again",
    tokens="Words and tokens",
    tokens_hint=(
        "Each box is a token, boxes of one tint are a word; point at one for its id and position."
    ),
    place="characters {start}–{end}",
    masked_text="The text with masks",
    masked_hint=(
        "Pretraining hides about 15 % of the tokens, by whole words; the model guesses them."
    ),
    legend_word="a word",
    legend_masked="would be masked",
    legend_unknown="not in the vocabulary",
    legend_dropped="spaces and the like, not read",
    characters="characters",
    tokens_counted="tokens",
    words_counted="words",
    masked_share="masked",
    shortened=(
        "Only the first {shown} of {total} characters are drawn; the counts are of the whole text."
    ),
    empty=Notice("There is no text yet", "Type into the box above."),
)
