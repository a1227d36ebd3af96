"""The model card of a tagger."""

from __future__ import annotations

from zh_albert.tasks.card import CardText, model_card
from zh_albert.tasks.ner.tagger import TextTagger

_HEADS = {
    "softmax": "{scheme} tags, the best legal sequence of them",
    "crf": "{scheme} tags with learned transitions (a conditional random field), the best legal "
    "sequence",
    "span": "starts and ends of each type; entities of different types may overlap",
    "global_pointer": "pairs of first and last token; entities may lie in each other",
}
_LIMITS = """\
A small model that knows its types from its training data alone: in other kinds of text it misses
names and marks what is none. An entity begins and ends where a token does: a part of an English
word or of a number is never marked alone."""


def tagger_card(tagger: TextTagger, settings: str) -> str:
    """Return the ``README.md`` of a tagger; ``settings``: the resolved TOML of its run."""
    window = tagger.window
    longest = " No entity is longer than a window." if tagger.head_name == "global_pointer" else ""
    scheme = "BIOES" if "E" in tagger.tag_set.parts else "BIO"
    head = _HEADS[tagger.head_name].format(scheme=scheme)
    text = CardText(
        title="Chinese entity tagger",
        pipeline="token-classification",
        answers=f"Types: {', '.join(tagger.labels)}. Head: {head}." + _beside(tagger),
        windows=f"Windows of {window.max_length} tokens, overlapping by {window.stride}; each "
        f"token is decided in the window that has most of the text around it.{longest}",
        scores=_per_type(tagger),
        use='print(load("PATH_OF_THIS_FOLDER")(["浙江大学在杭州"]))',
        limits=_LIMITS,
    )
    return model_card(text, tagger, settings)


def _beside(tagger: TextTagger) -> str:
    if tagger.ngrams is None:
        return ""
    return (
        f"\n\nBeside the network stands a small tagger over {len(tagger.ngrams.names):,} n-grams "
        "(their embeddings, one convolution, a conditional random field); its part in the "
        f"joined scores is {tagger.ngrams_share:g} (chosen on the dev examples if there were any)."
    )


def _per_type(tagger: TextTagger) -> str:
    names = ("precision", "recall", "f1")
    rows = [
        f"| {name} | {' | '.join(f'{scores[n]:.4f}' for n in names)} | {scores['support']} |"
        for name, scores in tagger.metadata.get("per_type", {}).items()
    ]
    head = f"\n\n| type | {' | '.join(names)} | entities |\n| --- | --- | --- | --- | --- |\n"
    return head + "\n".join(rows) if rows else ""
