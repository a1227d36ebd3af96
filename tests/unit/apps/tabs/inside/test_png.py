"""Shares as a picture."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image

from apps.tabs.inside.png import shares_png


def test_a_picture_has_a_pixel_for_each_share() -> None:
    shares = np.array([[0.0, 1.0, 0.25], [0.5, 0.0, 2.0]], np.float32)
    content = base64.b64decode(shares_png(shares).removeprefix("data:image/png;base64,"))

    opacity = np.array(Image.open(io.BytesIO(content)).convert("RGBA"))[..., 3]
    wanted = 255 * np.sqrt(shares.clip(0, 1))
    np.testing.assert_allclose(opacity, wanted, atol=255 / 30)
    assert opacity.shape == (2, 3)
