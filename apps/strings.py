"""All strings of the page, by language."""

from __future__ import annotations

from dataclasses import dataclass

from apps.i18n import page
from apps.tabs.batch import strings as batch
from apps.tabs.classification import strings as classification
from apps.tabs.entities import strings as entities
from apps.tabs.fill_mask import strings as fill_mask
from apps.tabs.finetuning import strings as finetuning
from apps.tabs.inside import strings as inside
from apps.tabs.pairs import strings as pairs
from apps.tabs.reading import strings as reading
from apps.tabs.search import strings as search
from apps.tabs.tokens import strings as tokens
from apps.tabs.training_curves import strings as training_curves


@dataclass(frozen=True, kw_only=True, slots=True)
class Strings:
    """Everything that the page says in one language, tab by tab."""

    page: page.PageStrings
    classification: classification.ClassificationStrings
    entities: entities.EntityStrings
    reading: reading.ReadingStrings
    pairs: pairs.PairStrings
    search: search.SearchStrings
    fill_mask: fill_mask.FillMaskStrings
    tokens: tokens.TokenStrings
    inside: inside.InsideStrings
    training_curves: training_curves.TrainingCurveStrings
    batch: batch.BatchStrings
    finetuning: finetuning.FinetuningStrings


CHINESE = Strings(
    page=page.CHINESE,
    classification=classification.CHINESE,
    entities=entities.CHINESE,
    reading=reading.CHINESE,
    pairs=pairs.CHINESE,
    search=search.CHINESE,
    fill_mask=fill_mask.CHINESE,
    tokens=tokens.CHINESE,
    inside=inside.CHINESE,
    training_curves=training_curves.CHINESE,
    batch=batch.CHINESE,
    finetuning=finetuning.CHINESE,
)
ENGLISH = Strings(
    page=page.ENGLISH,
    classification=classification.ENGLISH,
    entities=entities.ENGLISH,
    reading=reading.ENGLISH,
    pairs=pairs.ENGLISH,
    search=search.ENGLISH,
    fill_mask=fill_mask.ENGLISH,
    tokens=tokens.ENGLISH,
    inside=inside.ENGLISH,
    training_curves=training_curves.ENGLISH,
    batch=batch.ENGLISH,
    finetuning=finetuning.ENGLISH,
)
