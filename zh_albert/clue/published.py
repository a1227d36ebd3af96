"""Published scores for comparison, in percent.

Source: README of CLUEbenchmark/CLUE; of lonePatient/BERT-NER-Pytorch (CLUENER); of
CLUEbenchmark/OCNLI (OCNLI); of CLUEbenchmark/FewCLUE (fine-tuned RoBERTa-wwm-ext). Reading
comprehension: exact match. Where CLUE gives a best and a mean score, the mean is used.
"""

from __future__ import annotations

from collections.abc import Mapping

# On the same files as our own scores: dev sets; FewCLUE's public tests.
_COMPARABLE: Mapping[str, Mapping[str, float]] = {
    "ALBERT-tiny": {
        **{"afqmc": 69.13, "tnews": 53.55, "iflytek": 48.76, "cmnli": 70.26, "csl": 74.36},
        **{"cluewsc2020": 52.9, "cmrc2018": 48.31, "drcd": 71.61, "chid": 43.47, "c3": 50.58},
    },
    "ALBERT-base": {"cmrc2018": 64.76, "chid": 70.99, "c3": 60.43, "cluener": 74.20},
    "BERT-base": {
        **{"afqmc": 74.16, "tnews": 56.09, "iflytek": 60.37, "cmnli": 79.47, "csl": 79.63},
        **{"cluewsc2020": 56.7, "cmrc2018": 64.77, "drcd": 86.60, "chid": 82.20, "c3": 65.70},
        **{"ocnli": 74.5, "cluener": 80.74},
    },
    "RoBERTa, few": {
        **{"eprstmt": 65.4, "csldcp": 35.5, "tnewsf": 49.0, "iflytekf": 32.8, "ocnlif": 33.0},
        **{"bustm": 60.7, "cslf": 50.0, "chidf": 14.9, "cluewscf": 55.6},
    },
}
_ON_TEST: Mapping[str, Mapping[str, float]] = {
    "ALBERT-base": {
        **{"afqmc": 72.55, "tnews": 55.06, "iflytek": 56.58, "cmnli": 77.58, "csl": 78.5},
        "cluewsc2020": 64.34,
    },
}
MODELS = ("ALBERT-tiny", "ALBERT-base", "BERT-base", "RoBERTa, few")


def published(model: str, task: str) -> str:
    """Return a model's published score; else that on the hidden test, marked; else an empty string.

    >>> published("ALBERT-tiny", "tnews"), published("ALBERT-base", "tnews")
    ('53.55', '55.06 (test)')
    """
    if (score := _COMPARABLE.get(model, {}).get(task)) is not None:
        return f"{score:.2f}"
    score = _ON_TEST.get(model, {}).get(task)
    return "" if score is None else f"{score:.2f} (test)"
