"""A linear-chain CRF over character features: the baseline of the tagging tasks."""

from __future__ import annotations

import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from zh_albert.errors import DataError, MissingExtraError

_SETTINGS = {"c1": 0.1, "c2": 0.1, "max_iterations": 100, "feature.possible_transitions": True}


class CrfBaseline:
    """A tagger of characters: CRFsuite's L-BFGS with its usual small L1 and L2 weights, untuned.

    Args:
        texts: Training texts.
        tags: The name of each character's tag, text by text.

    Raises:
        DataError: If there is no text, for which the library would end the program.
        MissingExtraError: If python-crfsuite is not installed.
    """

    def __init__(self, texts: Sequence[str], tags: Sequence[Sequence[str]]) -> None:
        try:
            import pycrfsuite  # noqa: PLC0415  (an extra)
        except ImportError:
            raise MissingExtraError.of("python-crfsuite", "baseline") from None
        if not texts:
            raise DataError("expected texts to learn from, found none")
        trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=_SETTINGS, verbose=False)
        for text, names in zip(texts, tags, strict=True):
            trainer.append(list(character_features(text)), list(names))
        self._tagger = pycrfsuite.Tagger()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "crf"
            trainer.train(str(path))
            self._model = path.read_bytes()  # the tagger reads this memory, but does not keep it
            self._tagger.open_inmemory(self._model)

    def tag(self, text: str) -> list[str]:
        """Return the name of each character's tag."""
        names: list[str] = self._tagger.tag(list(character_features(text)))
        return names


def character_features(text: str) -> Iterator[list[str]]:
    """Yield each character's features: itself and its neighbours, up to two to each side.

    Features are single characters, their kinds, and character bigrams and trigrams.
    """
    padded = f"\0\0{text}\0\0"
    kinds = "".join(map(_kind, padded))
    for place in range(2, 2 + len(text)):
        around = range(-2, 3)
        yield [
            "1",  # a bias
            *(f"{shift}:{padded[place + shift]}" for shift in around),
            *(f"{shift}={kinds[place + shift]}" for shift in around),
            *(f"{shift}|{padded[place + shift : place + shift + 2]}" for shift in range(-2, 2)),
            *(f"{shift}||{padded[place + shift : place + shift + 3]}" for shift in range(-2, 1)),
            f"kinds {kinds[place - 1 : place + 2]}",
        ]


def _kind(character: str) -> str:
    category = unicodedata.category(character)
    return "c" if category == "Lo" else category[0]
