"""Vocabulary file ``vocab.txt``: one token per line; its id is the line number, from 0."""

from __future__ import annotations

import io
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path

from zh_albert.errors import CheckpointError, DataError
from zh_albert.files.plain_files import parse_json, read_plain
from zh_albert.files.textio import numbered_lines, read_lines
from zh_albert.tokenization.encoding import SpecialIds

UNKNOWN = "[UNK]"
SPECIAL_TOKENS = ("[PAD]", UNKNOWN, "[CLS]", "[SEP]", "[MASK]")
FILE_NAME = "vocab.txt"
JSON_NAME = "tokenizer.json"  # the only vocabulary that transformers 5 saves


class Vocabulary:
    """Tokens and their ids; validated on construction and immutable.

    Args:
        tokens: In the order of their ids.
        source: The file they come from; named in errors.

    Raises:
        DataError: If a token is empty or occurs twice (its line is named), or special tokens are
            missing (all of them are named).
    """

    def __init__(self, tokens: Iterable[str], *, source: Path | str = "vocabulary") -> None:
        self.tokens = tuple(tokens)
        self.ids: dict[str, int] = {}
        for token_id, token in enumerate(self.tokens):
            line = token_id + 1
            if not token:
                raise DataError.at(source, line, "expected a token, found an empty line")
            if token in self.ids:
                problem = f"token {token!r} is also in line {self.ids[token] + 1}"
                raise DataError.at(source, line, problem, hint="Each token needs one id")
            self.ids[token] = token_id
        missing = [token for token in SPECIAL_TOKENS if token not in self.ids]
        if missing:
            needed = f"a vocabulary needs {' '.join(SPECIAL_TOKENS)}"
            raise DataError(f"{source}: {needed}; missing: {' '.join(missing)}")
        self.special = SpecialIds(*(self.ids[token] for token in SPECIAL_TOKENS))

    @classmethod
    def read(cls, path: Path) -> Vocabulary:
        """Read a vocabulary file without adding, dropping or stripping any token.

        Raises:
            DataError: If the file is missing, not UTF-8, or not a vocabulary; see the class.
        """
        return cls((token for _, token in read_lines(path, only_utf8=True)), source=path)

    @classmethod
    def parse(cls, content: bytes, source: Path | str) -> Vocabulary:
        """Parse the content of a vocabulary file.

        Raises:
            DataError: See ``read``.
        """
        lines = numbered_lines(io.BytesIO(content), source, only_utf8=True)
        return cls((token for _, token in lines), source=source)

    @classmethod
    def read_json(cls, path: Path) -> Vocabulary:
        """Read the vocabulary of a ``tokenizer.json``.

        Raises:
            CheckpointError: If it is damaged, or not a WordPiece vocabulary.
            DataError: See the class.
        """
        try:
            model = parse_json(read_plain(path))["model"]
            if model["type"] != "WordPiece":
                raise ValueError(f"type {model['type']!r:.80}")
            rows = sorted(model["vocab"].items(), key=lambda item: item[1])
            if [row for _, row in rows] != list(range(len(rows))):
                raise ValueError("ids with gaps")
        except OSError as error:
            raise CheckpointError(f"{path}: cannot be read: {error.strerror}") from None
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"{path}: expected the complete vocabulary of a WordPiece tokenizer, found "
                f"something else ({error}); put the vocab.txt or spiece.model of the model beside "
                "it"
            ) from None
        return cls((token for token, _ in rows), source=path)

    def to_bytes(self) -> bytes:
        """Return the content of a vocabulary file."""
        return "".join(f"{token}\n" for token in self.tokens).encode()

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self.ids

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} tokens)"


@cache
def default_vocabulary() -> Vocabulary:
    """Return this project's own vocabulary, made by ``zh-corpora vocab`` and part of the
    package.
    """
    with resources.as_file(resources.files(__package__) / FILE_NAME) as path:
        return Vocabulary.read(path)
