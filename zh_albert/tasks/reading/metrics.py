"""Exact match and F1 as the evaluation script of CMRC 2018 computes them.

Source: ymcui/cmrc2018, ``squad-style-data/cmrc2018_evaluate.py`` (version 5), whose quirks are
kept: punctuation is removed without leaving a gap, F1 is that of the longest common *substring* of
words, and characters neither in U+4E00–9FA5 nor in its list of marks are tokenized like English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from statistics import fmean
from typing import Any

# The script's list also has "……" as one mark, which never equals a single character.
_PUNCTUATION = str.maketrans("", "", "-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』")
_RUNS = re.compile("([\u4e00-\u9fa5])")
# English as in the Penn Treebank (NLTK's word_tokenize); a run is one sentence.
_OPENING_QUOTES = re.compile(r'^"{1,2}|(?<=[\s(\[{<])"')
_MARK = r"""\.{2,}|[;@#$%&?!*«»‘„\u2012-\u2015\[\](){}<>]|``|"|,(?!\d)|\.(?=[\])}>"'»\s]*$)"""
_END = rf"(?=\s|$|{_MARK})"
_MARK = rf"{_MARK}|(?<!\w)'(?=\w)|'{_END}"
_CLITIC = rf"(?:n't|'(?:s|m|d|ll|re|ve)){_END}"
_WORD = re.compile(rf"{_MARK}|{_CLITIC}|(?:(?!{_MARK}|{_CLITIC})\S)+")


def reading_metrics(
    references: Sequence[Sequence[str]], predicted: Sequence[str]
) -> dict[str, Any]:
    """Return ``exact_match`` and ``f1``, averages over the questions from 0 to 100.

    Unanswerable questions, which do not occur in CMRC 2018, count as in SQuAD 2.0: 100 for no
    answer, else 0; no answer to an answerable question counts 0. If there are such questions,
    ``per_kind`` has the scores of both kinds.

    Args:
        references: All texts that count as right for each question; none: it has no answer.
        predicted: The answer to each question; empty: no answer.
    """
    scores = [
        (exact_match(texts, answer), overlap_f1(texts, answer))
        for texts, answer in zip(references, predicted, strict=True)
    ]
    result: dict[str, Any] = _averages(scores)
    if not all(references):
        kinds: dict[str, list[tuple[float, float]]] = {"answerable": [], "unanswerable": []}
        for score, texts in zip(scores, references, strict=True):
            kinds["answerable" if texts else "unanswerable"].append(score)
        result["per_kind"] = {
            name: {**_averages(own), "support": len(own)} for name, own in kinds.items()
        }
    return result


def exact_match(references: Sequence[str], answer: str) -> float:
    """Return 1 if the answer is one of the references, punctuation and case aside, else 0.

    >>> exact_match(["《红楼梦》", "Dream"], "红楼梦")
    1.0
    """
    if not references or not answer:
        return float(not references and not answer)
    return float(_without_marks(answer) in map(_without_marks, references))


def overlap_f1(references: Sequence[str], answer: str) -> float:
    """Return the best F1 of the longest common substring of words of answer and reference.

    >>> overlap_f1(["2008年", "在北京"], "北京2008年")  # 2 of 4 words are all of the first one
    0.6666666666666666
    """
    if not references or not answer:
        return float(not references and not answer)
    words = mixed_words(answer)
    return max(_f1(words, mixed_words(reference)) for reference in references)


def mixed_words(text: str) -> list[str]:
    """Cut a text into Chinese characters one by one, and English and numbers word by word.

    >>> mixed_words("于1998年Billy Joel的75%，")
    ['于', '1998', '年', 'billy', 'joel', '的', '75', '%']
    """
    words: list[str] = []
    for piece in _RUNS.split(_without_marks(text)):
        words += [piece] if _RUNS.match(piece) else _english_words(piece)
    return words


def _without_marks(text: str) -> str:
    return text.lower().strip().translate(_PUNCTUATION)


def _english_words(run: str) -> list[str]:
    opened = _OPENING_QUOTES.sub(lambda quotes: "``" * len(quotes[0]), run)
    return ["''" if word == '"' else word for word in _WORD.findall(opened)]


def _f1(words: Sequence[str], reference: Sequence[str]) -> float:
    matcher = SequenceMatcher(None, words, reference, autojunk=False)
    common = matcher.find_longest_match().size
    return 2 * common / (len(words) + len(reference)) if common else 0.0


def _averages(scores: Sequence[tuple[float, float]]) -> dict[str, float]:
    return {
        "exact_match": 100 * fmean(exact for exact, _ in scores) if scores else 0.0,
        "f1": 100 * fmean(f1 for _, f1 in scores) if scores else 0.0,
    }
