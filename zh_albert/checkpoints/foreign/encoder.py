"""What is read from elsewhere: an encoder in our terms, and the pieces its rows stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder

METASPACE = "▁"  # what a word begins with in SentencePiece vocabularies


@dataclass(frozen=True)
class ForeignEncoder:
    """A BERT-shaped encoder over its own vocabulary.

    Attributes:
        name: For the model card.
        licence: Likewise.
        config: Its sizes in our terms: one group a layer, embeddings as wide as the states.
        tensors: Under our names, without the ``encoder.`` in front; the word table apart.
        words: Its word vectors. Shape: (vocab, hidden).
        pieces: What each row of ``words`` stands for.
        special: Our special tokens → rows of theirs.
        scores: Logarithms of a unigram vocabulary's pieces; None for WordPiece.
        normalization: Character → what the teacher's tokenizer reads instead.
    """

    name: str
    licence: str
    config: AlbertConfig
    tensors: Mapping[str, Tensor]
    words: Tensor
    pieces: list[str]
    special: Mapping[str, int]
    scores: list[float] | None
    normalization: Mapping[str, str]

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each piece."""
        return {piece: row for row, piece in enumerate(self.pieces)}

    def build(self, words: Tensor | None = None) -> AlbertEncoder:
        """Return the encoder, over its own rows or over others.

        Args:
            words: Word vectors to put in. Shape: (vocab, hidden).
        """
        words = self.words if words is None else words
        sizes = {**vars(self.config), "vocab_size": len(words)}
        encoder = AlbertEncoder(AlbertConfig(**sizes)).eval()
        state = encoder.state_dict()
        state["embeddings.word.weight"].copy_(words)
        for name, tensor in self.tensors.items():
            state[name].copy_(tensor)
        with torch.no_grad():  # embeddings need no projection where both widths are the same
            encoder.embeddings.projection.weight.copy_(torch.eye(self.config.hidden_size))
            encoder.embeddings.projection.bias.zero_()
        return encoder

    def normalized(self, text: str) -> str:
        """Return the text as the teacher's tokenizer reads it."""
        return "".join(self.normalization.get(character, character) for character in text)

    @cached_property
    def segmenter(self) -> Tokenizer:
        """Cuts text into the teacher's pieces; adds nothing."""
        if self.scores is None:
            unknown = "[UNK]"
            model = models.WordPiece(self.rows, unk_token=unknown, max_input_chars_per_word=200)
            segmenter = Tokenizer(model)
            segmenter.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
            return segmenter
        pairs = list(zip(self.pieces, self.scores, strict=False))
        segmenter = Tokenizer(models.Unigram(pairs, unk_id=self.special["[UNK]"]))
        segmenter.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
        segmenter.decoder = decoders.Metaspace()
        return segmenter

    def segment(self, text: str) -> list[int]:
        """Return the rows of a text's pieces, nothing around them."""
        ids: list[int] = self.segmenter.encode(self.normalized(text), add_special_tokens=False).ids
        return ids

    def cut(self, word: str) -> list[int]:
        """Return the rows of the pieces of something without spaces, none of them put in front."""
        return [token.id for token in self.segmenter.model.tokenize(word)]
