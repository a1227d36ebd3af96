"""The model card of a word segmenter."""

from __future__ import annotations

from zh_albert.tasks.card import CardText, model_card
from zh_albert.tasks.segmentation.segmenter import TextSegmenter

_LIMITS = """\
A small model that follows the segmentation standard of its training data: other standards cut
differently, and a word's border inside a token (a part of an English word) is never marked."""


def segmenter_card(segmenter: TextSegmenter, settings: str) -> str:
    """Return the ``README.md`` of a segmenter; ``settings``: the resolved TOML of its run."""
    window = segmenter.window
    learned = "with" if segmenter.head == "crf" else "without"
    text = CardText(
        title="Chinese word segmenter",
        pipeline="token-classification",
        answers=f"The words of a text, by BMES tags {learned} learned transitions between them.",
        windows=f"Windows of {window.max_length} tokens, overlapping by {window.stride}; each "
        "token is decided in the window that has most of the text around it.",
        use='print(load("PATH_OF_THIS_FOLDER")(["他从马上下来"]))',
        limits=_LIMITS,
    )
    return model_card(text, segmenter, settings)
