"""Networks of whole texts."""

from typing import Any

import pytest

from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.heads import SequenceClassifier

SIZES: dict[str, Any] = {
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 20,
}


@pytest.mark.parametrize("wrong", [{"num_labels": 0}, {"num_labels": 2, "pooling": "max"}])
def test_a_classifier_that_cannot_work_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="must be"):
        SequenceClassifier(AlbertConfig(**SIZES), **wrong)
