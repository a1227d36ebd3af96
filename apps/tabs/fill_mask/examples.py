"""The examples of the fill-mask tab, written for this page; words in 【】 are hidden at first."""

from __future__ import annotations

from apps.i18n.page import Example

HIDDEN = (
    Example("味道很【好】，送得也很快。", "It tastes [good], and delivery was fast."),
    Example(
        "她【是】我们学校最好的老师，毕业后一直【在】这里工作。",
        "She [is] our school's best teacher and has worked [at] it ever since she graduated.",
    ),
    Example(
        "周末天气很好，我们一家人去【公园】里散步。",
        "The weather is fine at the weekend; our family goes for a walk in the [park].",
    ),
)

MASKS = (
    Example(
        "他们俩是很好的朋[MASK]，从小一起长大。",
        "The two are good fri[MASK]; they grew up together.",
    ),
    Example("我们应该保护环[MASK]。", "We should protect the environ[MASK]."),
)
