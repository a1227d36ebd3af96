"""The answers to sentence pairs: each model's card, missing sentences, and what fails."""

from __future__ import annotations

import pytest

from apps.tabs.pairs.answers import PairAnswers
from apps.tabs.pairs.strings import CHINESE
from apps.text_answers import LIVE_CHARACTERS, MAX_CHARACTERS
from tests.helpers.panel_reader import PanelReader
from zh_albert.errors import DataError
from zh_albert.tasks.classification.predictor import Classification, Classifier
from zh_albert.tasks.texts import Content

INFERRED = Classification("entailment", 0.8, {"entailment": 0.8, "neutral": 0.2})


ALIKE = Classification("similar", 0.6, {"similar": 0.6, "different": 0.4})


class PairsOf(Classifier):
    """Says what it was made with, of any pair; keeps what it was asked."""

    def __init__(self, result: Classification | Exception) -> None:
        self._result, self.asked = result, list[Content]()

    def __call__(self, texts: object) -> list[Classification]:
        assert isinstance(texts, list)
        self.asked += texts
        if isinstance(self._result, Exception):
            raise self._result
        return [self._result]


def test_each_model_has_a_card_with_bars_and_what_its_label_means() -> None:
    models = {"nli": PairsOf(INFERRED), "similarity": PairsOf(ALIKE)}
    panel = PairAnswers(CHINESE, models).asked("她骑车上班", "她不开车", "")

    assert panel.count("<section") == 2
    assert PanelReader(panel).bars == [80.0, 20.0, 60.0, 40.0]
    assert "蕴含" in panel
    assert "句子一成立，句子二就成立" in panel
    assert "两句说的是一个意思" in panel
    assert models["nli"].asked == [("她骑车上班", "她不开车")]
    assert PairAnswers(CHINESE, models).asked("甲", "乙", "similarity").count("<section") == 1


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("", "她不开车", "要有两句话才能比较"),
        ("她骑车", None, "要有两句话才能比较"),
        ("她" * MAX_CHARACTERS, "她", "超过了网页的上限 100,000 个"),
    ],
)
def test_what_cannot_be_compared_is_told(
    first: str | None, second: str | None, expected: str
) -> None:
    panel = PairAnswers(CHINESE, {"nli": PairsOf(INFERRED)}).asked(first, second, "")

    assert 'role="alert"' in panel
    assert expected in panel


def test_what_a_model_refuses_is_told() -> None:
    refusing = {"nli": PairsOf(DataError("texts[0] has an empty text_a"))}
    failing = {"nli": PairsOf(RuntimeError("broken <b>"))}

    assert "有一句里没有模型能读的字符" in PairAnswers(CHINESE, refusing).asked("\0", "她", None)
    assert "没能完成：broken &lt;b&gt;" in PairAnswers(CHINESE, failing).asked("她", "她", None)


def test_while_typing_a_missing_sentence_is_no_error_and_a_long_one_waits() -> None:
    models = {"nli": PairsOf(INFERRED)}

    assert "结果会显示在这里" in PairAnswers(CHINESE, models).typed("她", " ", "")
    assert "请按“比较”按钮" in PairAnswers(CHINESE, models).typed("她" * LIVE_CHARACTERS, "她", "")
    assert "蕴含" in PairAnswers(CHINESE, models).typed("她骑车", "她不开车", "")
