"""The strings of the training-curves tab."""

from __future__ import annotations

from dataclasses import dataclass

from apps.i18n import page
from apps.i18n.notice import Notice
from apps.i18n.tabs import TabStrings


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingCurveStrings(TabStrings):
    """The strings of the training-curves tab."""

    title: str
    hint: str
    trained_on: str
    tokens_read: str
    updates: str
    masked_accuracy: str
    masked_accuracy_hint: str
    masked_loss: str
    masked_loss_hint: str
    order_accuracy: str
    order_accuracy_hint: str
    broken_curve: Notice
    no_curve: Notice


CHINESE = TrainingCurveStrings(
    page=page.CHINESE,
    tab="训练曲线",
    title="编码器是怎样学习的",
    hint=(
        "横轴是这次训练里读过的词元数，更早的训练不算在内。"
        "每隔一段，用没见过的文本评测一次：按整词遮盖，每次遮盖的词都相同。"
    ),
    trained_on="训练语料：{source}",
    tokens_read="读过的词元",
    updates="更新次数",
    masked_accuracy="填空准确率",
    masked_accuracy_hint="遮盖的词元里，第一个候选就猜对的比例；词表共有 {rows} 个词元。",
    masked_loss="填空损失",
    masked_loss_hint="越低越好：现在平均相当于在 {choices} 个同样可能的候选里选。",
    order_accuracy="句序准确率",
    order_accuracy_hint="两段文字是否被对调，判断正确的比例；随机猜是 50%（虚线）。",
    broken_curve=Notice("训练记录读不出来：{reason}", "请重新取得编码器的文件夹。"),
    no_curve=Notice(
        "这个编码器没有训练记录", "缺少 curve.jsonl；zh-albert pretrain 训练出的文件夹里会有它。"
    ),
)


ENGLISH = TrainingCurveStrings(
    page=page.ENGLISH,
    tab="Training curves",
    title="How the encoder learned",
    hint=(
        "Across: tokens read in this run; what was read before is not counted. "
        "Now and then the encoder is examined on text it never saw, "
        "with whole words hidden, the same ones every time."
    ),
    trained_on="Trained on: {source}",
    tokens_read="tokens read",
    updates="updates",
    masked_accuracy="Masked words guessed",
    masked_accuracy_hint="Share of hidden tokens that the first candidate hits, of {rows} rows.",
    masked_loss="Masked-LM loss",
    masked_loss_hint="Lower is better: now like hesitating between {choices} equal choices.",
    order_accuracy="Sentence order",
    order_accuracy_hint="Whether two passages were swapped; guessing gives 50 % (dashed).",
    broken_curve=Notice(
        "The record of training cannot be read: {reason}", "Get the encoder's folder again."
    ),
    no_curve=Notice(
        "This encoder has no record of its training",
        "curve.jsonl is missing; a folder that zh-albert pretrain wrote has one.",
    ),
)
