"""The model card of a multiple-choice model."""

from __future__ import annotations

from zh_albert.tasks.card import CardText, model_card
from zh_albert.tasks.choice.chooser import TextChooser

_LIMITS = """\
A small model: it finds choices whose words or meaning occur in the text, and is often wrong where
an answer must be inferred, counted or known. It always chooses, also where no choice is right."""


def chooser_card(chooser: TextChooser, settings: str) -> str:
    """Return the ``README.md`` of a model; ``settings``: the resolved TOML of its run."""
    window, windows = chooser.window, ""
    if chooser.context_tokens:
        windows = (
            f"Of a context of more than {chooser.context_tokens} tokens, the sentences nearest to "
            "the question and its choices are read. "
        )
    windows += (
        f"Windows of {window.max_length} tokens; question and choice stand whole in each unless "
        "they are longer than half of it. The odds of a choice are averaged over the windows of a "
        "long text by their tokens."
    )
    text = CardText(
        title="Chinese multiple-choice model",
        pipeline="multiple-choice",
        answers="Two or more choices for a question about a text; each is read with text and "
        "question, and they are compared by a softmax.",
        windows=windows,
        use='question = ("小明去了杭州。", "小明去了哪里？", ["北京", "杭州"])\n'
        'print(load("PATH_OF_THIS_FOLDER")([question]))',
        limits=_LIMITS,
    )
    return model_card(text, chooser, settings)
