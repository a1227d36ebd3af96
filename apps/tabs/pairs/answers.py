"""The answers of the tab of sentence pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from apps.i18n.notice import Notice
from apps.markup.class_card import ClassAnswer
from apps.tabs.pairs.panels import ValueAnswer, pair_panel
from apps.tabs.pairs.strings import PairStrings
from apps.text_answers import TextAnswers, chosen_models, timed
from zh_albert.tasks.classification.predictor import Classifier, Estimate, Regressor


class PairAnswers(TextAnswers[PairStrings]):
    """The panels with the class or the value of two sentences.

    Args:
        strings: The tab's strings.
        models: Of pairs, by name; at least one.
    """

    text_count = 2

    def __init__(self, strings: PairStrings, models: Mapping[str, Classifier | Regressor]) -> None:
        super().__init__(strings)
        self._models = models

    @property
    def unreadable(self) -> Notice:
        """The notice for a sentence in which the model can read nothing."""
        return self.strings.nothing_to_read

    def problem(self, texts: Sequence[str]) -> Notice | None:
        """Return a notice where a sentence is missing."""
        return None if all(text.strip() for text in texts) else self.strings.one_missing

    def panel(self, texts: Sequence[str], chosen: str) -> str:
        """Return the answers of the chosen model, or of all."""
        answers: list[ClassAnswer | ValueAnswer] = []
        for name, model in chosen_models(self._models, chosen):
            [result], seconds = timed(model, [(texts[0], texts[1])])
            if isinstance(result, Estimate):
                assert isinstance(model, Regressor)
                low, high = model.lowest, model.highest
                differences = [
                    (one.kind, _parts(texts[0], one.first), _parts(texts[1], one.second))
                    for one in model.differences(texts[0], texts[1])
                ]
                answers.append(ValueAnswer(name, result.value, seconds, low, high, differences))
            else:
                answers.append(ClassAnswer(name, result, seconds))
        return pair_panel(self.strings, texts, answers)


def _parts(text: str, spans: Sequence[tuple[int, int]]) -> str:
    return " … ".join(text[start:end] for start, end in spans)
