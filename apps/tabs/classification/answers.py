"""The answers of the classification tab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from apps.i18n.notice import Notice
from apps.markup.class_card import ClassAnswer
from apps.tabs.classification.panels import classification_panel
from apps.tabs.classification.strings import ClassificationStrings
from apps.text_answers import TextAnswers, chosen_models, timed
from zh_albert.tasks.classification.predictor import Classifier


class ClassificationAnswers(TextAnswers[ClassificationStrings]):
    """The panels with the classes of a text.

    Args:
        strings: The tab's strings.
        models: By name.
    """

    def __init__(self, strings: ClassificationStrings, models: Mapping[str, Classifier]) -> None:
        super().__init__(strings)
        self.unavailable = None if models else strings.no_models
        self._models = models

    def problem(self, texts: Sequence[str]) -> Notice | None:
        """Return a notice where there is no text."""
        return None if texts[0] else self.strings.empty

    def panel(self, texts: Sequence[str], chosen: str) -> str:
        """Return the answers of the chosen model, or of all."""
        answers = []
        for name, model in chosen_models(self._models, chosen):
            members, seconds = timed(model.members, texts[0])
            answers.append(ClassAnswer(name, members.together, seconds, members))
        return classification_panel(self.strings, texts[0], answers)
