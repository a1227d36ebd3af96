"""Networks that mark entities."""

from __future__ import annotations

import pytest
import torch

from tests.helpers.entity_heads import (
    CONFIG,
)
from zh_albert.errors import ConfigError
from zh_albert.tasks.ner.networks import build_tagger, rotated
from zh_albert.tasks.ner.tags import TagSet


def test_rotation_makes_products_depend_on_the_distance() -> None:
    torch.manual_seed(0)
    one, two = torch.randn(8), torch.randn(8)
    first, second = rotated(one.expand(1, 10, 8))[0], rotated(two.expand(1, 10, 8))[0]
    products = first @ second.T
    for distance in (-4, 0, 3):
        line = products.diagonal(distance)
        torch.testing.assert_close(line, line[:1].expand_as(line))
    assert products[0, 3] != products[3, 0]
    torch.testing.assert_close(first[0], one)


def test_an_unknown_head_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown head 'crff'; did you mean 'crf'"):
        build_tagger(CONFIG, TagSet.of("ab"), "crff")  # type: ignore[arg-type]
