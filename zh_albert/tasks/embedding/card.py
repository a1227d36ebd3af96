"""The model card of sentence vectors."""

from __future__ import annotations

from zh_albert.tasks.card import CardText, model_card
from zh_albert.tasks.embedding.embedder import TextEmbedder

_LIMITS = """\
A small model: vectors of texts that share words are often close, whatever the texts say. Cosines
rank texts; they are no probabilities, and another model's mean something else."""


def embedder_card(embedder: TextEmbedder, settings: str) -> str:
    """Return the ``README.md`` of a model; ``settings``: the resolved TOML of its run."""
    window, widths = embedder.window, " or ".join(map(str, embedder.widths))
    cut = f" Its first {widths} numbers are a vector, too, a little less exact." if widths else ""
    text = CardText(
        title="Chinese sentence vectors",
        pipeline="sentence-similarity",
        answers=f"A vector of {embedder.config.hidden_size} numbers for each text: the mean over "
        f"its tokens ([CLS] and [SEP] among them) of the last layer.{cut}",
        windows=f"Windows of {window.max_length} tokens, overlapping by {window.stride}; a long "
        "text's vector is the mean over its windows, by their tokens.",
        use='texts = ["房间很干净", "屋子不脏"]\n'
        'vectors = load("PATH_OF_THIS_FOLDER").encode(texts, normalize=True)\n'
        "print(vectors @ vectors.T)",
        limits=_LIMITS,
    )
    return model_card(text, embedder, settings)
