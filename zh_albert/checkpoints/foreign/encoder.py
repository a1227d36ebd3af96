"""Encoder of another architecture, in our terms and over its own vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder

METASPACE = "▁"  # prefix of words in SentencePiece vocabularies


@dataclass(frozen=True)
class ForeignEncoder:
    """A BERT-shaped encoder over its own vocabulary.

    Attributes:
        name: For the model card.
        licence: For the model card.
        config: Its sizes in our terms: one group per layer, embeddings as wide as hidden states.
        tensors: By our names, without the prefix ``encoder.`` and without the word table.
        words: Its word vectors. Shape: (vocab, hidden).
        pieces: Token of each row of ``words``.
        special: Our special tokens → rows of theirs.
        scores: Log probabilities of a unigram vocabulary's pieces; None for WordPiece.
        normalization: Character → its replacement in the teacher's tokenizer.
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
        """Row of each piece."""
        return {piece: row for row, piece in enumerate(self.pieces)}

    def build(self, words: Tensor | None = None) -> AlbertEncoder:
        """Return the encoder, over its own vocabulary or over another.

        Args:
            words: Word vectors to use instead. Shape: (vocab, hidden).
        """
        words = self.words if words is None else words
        sizes = {**vars(self.config), "vocab_size": len(words)}
        encoder = AlbertEncoder(AlbertConfig(**sizes)).eval()
        state = encoder.state_dict()
        state["embeddings.word.weight"].copy_(words)
        for name, tensor in self.tensors.items():
            state[name].copy_(tensor)
        with torch.no_grad():  # the identity: both widths are the same
            encoder.embeddings.projection.weight.copy_(torch.eye(self.config.hidden_size))
            encoder.embeddings.projection.bias.zero_()
        return encoder

    def normalized(self, text: str) -> str:
        """Return the text as normalized by the teacher's tokenizer."""
        return "".join(self.normalization.get(character, character) for character in text)

    @cached_property
    def segmenter(self) -> Tokenizer:
        """Tokenizer for the teacher's pieces, without special tokens."""
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
        """Return the rows of a text's pieces, without special tokens."""
        ids: list[int] = self.segmenter.encode(self.normalized(text), add_special_tokens=False).ids
        return ids

    def cut(self, word: str) -> list[int]:
        """Return the rows of the pieces of a word, without the prefix for the start of a word."""
        return [token.id for token in self.segmenter.model.tokenize(word)]
