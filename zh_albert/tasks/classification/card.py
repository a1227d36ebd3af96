"""The model card of a classifier."""

from __future__ import annotations

from zh_albert.tasks.card import CardText, model_card
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.heads import LabelHead, LabelSet, Value

_LIMITS = """\
A small model that knows its classes from its training data alone: other kinds of text, irony and
mixed opinions are often judged wrongly, always with some probability that looks like confidence."""


def classifier_card(classifier: TextClassifier, settings: str) -> str:
    """Return the ``README.md`` of a classifier; ``settings``: the resolved TOML of its run."""
    window = classifier.window
    room = "a text of up to half a window stands whole in each; " if classifier.pairs else ""
    order = " Each pair is read in both orders." if classifier.symmetric else ""
    example = '("一个文本", "另一个文本")' if classifier.pairs else '"要分类的文本"'
    text = CardText(
        title=f"Chinese {'pair' if classifier.pairs else 'text'} classifier",
        pipeline="text-classification",
        answers=_answers(classifier.head) + _second_opinion(classifier) + _differing(classifier),
        windows=f"Windows of {window.max_length} tokens, overlapping by {window.stride}; "
        f"{room}logits of a long text's windows are averaged by their tokens.{order}",
        use=f'print(load("PATH_OF_THIS_FOLDER")([{example}]))',
        limits=_LIMITS,
    )
    return model_card(text, classifier, settings)


def _second_opinion(classifier: TextClassifier) -> str:
    if classifier.ngrams is None:
        return ""
    of_values = isinstance(classifier.head, Value)
    model, unit = ("ridge regression", "logit") if of_values else ("a linear SVM", "margin")
    return (
        f"\n\nBeside the network stands {model} over {len(classifier.ngrams.names):,} n-grams "
        f"of up to {classifier.ngrams.orders} tokens; a {unit} of 1 counts as much as "
        f"{classifier.ngrams_weight:g} in the network's logits, and the sum "
        f"is scaled by {classifier.calibration_scale:g} "
        "(chosen on the dev examples if there were any)."
    )


def _differing(classifier: TextClassifier) -> str:
    """Return what becomes of pairs that look alike and differ, if they are looked for."""
    if not classifier.looks_for_differences:
        return ""
    added = [f"{value:+g} for {name}" for name, value in classifier.different_adds.items()]
    effect = ", ".join(added) or f"a value of at most {classifier.different_at_most:g}"
    return (
        "\n\nTwo texts that look alike but for a number, a negation, an opposite, a word of one "
        f"kind or parts that change places (found by rule): {effect}."
    )


def _answers(head: LabelHead) -> str:
    match head:
        case Value():
            return (
                f"A value, in training {head.mean:.4g} ± {head.spread:.4g}; "
                f"the logit is (value - {head.mean:.6g}) / {head.spread:.6g}."
            )
        case LabelSet():
            return (
                f"Any of the classes {', '.join(head.labels)}: those of a probability of at least "
                f"{head.threshold:.4g}, which was chosen on the dev examples if there were any."
            )
        case _:
            return f"Classes: {', '.join(head.labels)}."
