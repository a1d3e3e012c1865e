"""Small images whose colour says what they show."""

import os

# Before SciPy is imported: without it scikit-learn skips its checks of array API inputs.
os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    """A folder of forty images of 20 x 16 pixels in the order of their names, their pixels, and shares of two labels."""
    folder = tmp_path_factory.mktemp("pictures")
    draws = np.random.default_rng(0)
    red = draws.uniform(size=40)
    pixels = np.stack([[255 * red, 255 * (1 - red), 0 * red]], axis=-1)[0][:, None, None, :]
    pixels = np.clip(pixels + draws.normal(scale=10, size=(40, 16, 20, 3)), 0, 255).astype(np.uint8)
    for number, image in enumerate(pixels):
        Image.fromarray(image).save(folder / f"{number:02}.png")
    return folder, pixels, np.column_stack([red, 1 - red])
