"""Fixtures of the comparisons with ``transformers``."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture
def quiet_transformers() -> Iterator[None]:
    """Keep ``transformers`` from telling about weights that are not in a checkpoint."""
    import transformers

    level = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity(logging.ERROR)
    transformers.logging.disable_progress_bar()
    yield
    transformers.logging.set_verbosity(level)
