"""Beside a classifier's answer: what its parts say, and whether two models agree."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class OpinionTexts:
    """Beside a classifier's answer: what its parts say, and whether two models agree."""

    title: str
    label: str
    network: str
    ngrams: str
    together: str
    hint: str
    agree: str
    differ: str


CHINESE = OpinionTexts(
    title="拆开看",
    label="类别",
    network="神经网络",
    ngrams="n 元 SVM",
    together="合起来",
    hint=(
        "拆开看：模型由神经网络和一个 n 元 SVM（词元 n 元组的 TF-IDF 加线性分类，经典做法）组成；"
        "两份概率逐类相乘再归一，就是合起来的概率。"
    ),
    agree="看法一致：{label}",
    differ="看法不一：{answers}",
)


ENGLISH = OpinionTexts(
    title="Taken apart",
    label="class",
    network="network",
    ngrams="n-gram SVM",
    together="together",
    hint=(
        "Taken apart: such a model is a network and an n-gram SVM (the classic way: TF-IDF over "
        "n-grams of tokens, a linear classifier). Their probabilities multiplied, class by class, "
        "and made to sum to 1 are the model's."
    ),
    agree="They agree: {label}",
    differ="They differ: {answers}",
)
