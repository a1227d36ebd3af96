"""Readers that cannot work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.helpers.reading_windows import WINDOW, reader
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer


def test_settings_that_cannot_work_are_refused() -> None:
    from zh_albert.errors import ConfigError

    config = replace(reader().config, max_position_embeddings=12)
    with pytest.raises(ConfigError, match="must not exceed the encoder's"):
        TextReader(config, default_tokenizer(), window=WINDOW)
    for stride in (0, 6):
        window = WindowConfig(max_length=16, stride=stride)
        with pytest.raises(ConfigError, match=rf"stride \({stride}\) must be from 1 to 5"):
            TextReader(reader().config, default_tokenizer(), window=window)
