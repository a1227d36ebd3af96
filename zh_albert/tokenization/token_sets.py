"""Sets of vocabulary rows: those that text can produce, and special ones."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zh_albert.errors import ConfigError
from zh_albert.tokenization.characters import is_chinese
from zh_albert.tokenization.encoding import SpecialIds
from zh_albert.tokenization.tokenizer import Tokenizer
from zh_albert.tokenization.wordpiece import CONTINUATION

_NOT_TEXT = re.compile(r"\[\w+\]|<.+>")  # [unused7], <s>: not produced by any text


class TokenSets(NamedTuple):
    """Rows of a vocabulary that masking, and filling masks, need."""

    special: SpecialIds
    plain: NDArray[np.int64]  # ids that text can produce; random replacements are drawn from them

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> TokenSets:
        """Exclude special and unused rows, and ``##字``, which no Chinese text produces.

        Raises:
            ConfigError: If no row is left.
        """
        rows = tokenizer.tokens(range(tokenizer.vocab_size))
        special = set(tokenizer.special)
        plain = [
            token_id
            for token_id, row in enumerate(rows)
            if token_id not in special
            and not _NOT_TEXT.fullmatch(row)
            and not (row.startswith(CONTINUATION) and len(row) == 3 and is_chinese(row[2]))
        ]
        if not plain:
            raise ConfigError("the vocabulary has only special and unused rows")
        return cls(tokenizer.special, np.array(plain, np.int64))
