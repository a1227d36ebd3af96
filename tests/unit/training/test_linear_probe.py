"""A linear layer fitted to vectors."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from sklearn.linear_model import LogisticRegression
from torch import nn

from zh_albert.training.linear_probe import Standardization, fit_linear


def test_the_fit_is_that_of_logistic_regression() -> None:
    torch.manual_seed(0)
    vectors = 3 * torch.randn(300, 6) + 1
    classes = (vectors[:, :3] + torch.randn(300, 3)).argmax(1)
    layer = nn.Linear(6, 3)
    fit_linear(layer, vectors, lambda logits: F.cross_entropy(logits, classes), penalty=0.01)

    mean, spread = Standardization.of(vectors)
    scaled = ((vectors - mean) / spread).numpy()
    wanted = LogisticRegression(C=1 / (0.01 * 300), tol=1e-8).fit(scaled, classes.numpy())
    with torch.no_grad():
        found = layer(vectors).softmax(-1).numpy()
    np.testing.assert_allclose(found, wanted.predict_proba(scaled), atol=2e-3)


def test_a_direction_that_never_varies_is_no_trouble() -> None:
    vectors = torch.cat([torch.ones(4, 1), torch.tensor([[0.0], [1], [2], [3]])], dim=1)
    layer = nn.Linear(2, 1)
    fit_linear(layer, vectors, lambda out: ((out[:, 0] - vectors[:, 1]) ** 2).mean(), penalty=1e-4)
    assert torch.isfinite(layer.weight).all()
    assert torch.allclose(layer(vectors)[:, 0], vectors[:, 1], atol=0.05)
