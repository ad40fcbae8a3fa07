"""Small pictures and files of them."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from PIL import Image


def photo(height: int = 37, width: int = 53) -> np.ndarray:
    """Waves and a little noise."""
    y, x = np.mgrid[0:height, 0:width]
    waves = [128 + 100 * np.sin(x / 7 + y / 9), 128 + 90 * np.cos(x / 5), (x * 3 + y * 2) % 256]
    noise = np.random.default_rng(0).normal(0, 12, (height, width, 3))
    return np.clip(np.stack(waves, -1) + noise, 0, 255).astype(np.uint8)


def saved(image: Image.Image, kind: str, **options) -> bytes:
    """The bytes of a file as Pillow writes it."""
    buffer = BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()
