#!/usr/bin/env python3
"""APPA-REAL as a table for `ldlf`: features of every face, the votes on its age, its real age and its part.

    python -m venv venv && venv/bin/pip install numpy pillow
    venv/bin/python experiments/ordered/appa-real.py DATA/appa_real appa-real.npz [pixels|gradients]

DATA/appa_real holds faces_128_jpeg.zip, labels.csv (columns file, split, real_age) and votes_0_100.npy (how many people guessed each
age from 0 to 100, in the order of labels.csv). The table holds the arrays features, labels (vote counts), label_values (0 to 100),
real_age and split (train, valid, test).

pixels     32 x 32 grey values from 0 to 1: 1024 features
gradients  (default) histograms of oriented gradients (Dalal and Triggs 2005) of the face at 64 x 64: 8 x 8 cells, 9 directions, every cell
           with its neighbours brought to length 1: 576 features
"""

import csv
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

CELLS, DIRECTIONS = 8, 9


def grey(image, side):
    small = image.convert("L").resize((side, side), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float32) / 255


def pixels(image):
    return grey(image, 32).ravel()


def gradients(image):
    face = grey(image, 64)
    down, across = np.gradient(face)
    strength = np.hypot(down, across)
    angle = np.mod(np.arctan2(down, across), np.pi) * DIRECTIONS / np.pi
    lower = np.floor(angle).astype(int)
    share = angle - lower
    side = face.shape[0] // CELLS
    cell = np.arange(face.shape[0]) // side
    place = (cell[:, None] * CELLS + cell) * DIRECTIONS
    counts = np.zeros(CELLS * CELLS * DIRECTIONS, dtype=np.float64)
    np.add.at(counts, place + lower % DIRECTIONS, strength * (1 - share))
    np.add.at(counts, place + (lower + 1) % DIRECTIONS, strength * share)
    counts = counts.reshape(CELLS, CELLS, DIRECTIONS)
    energy = np.pad((counts**2).sum(axis=2), 1, mode="edge")
    around = sum(energy[i : i + CELLS, j : j + CELLS] for i in range(3) for j in range(3))
    return (counts / np.sqrt(around / 9 + 1e-4)[:, :, None]).ravel().astype(np.float32)


def main(folder, out, extractor):
    with open(folder / "labels.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    votes = np.load(folder / "votes_0_100.npy")
    if len(rows) != len(votes):
        sys.exit(f"{len(rows)} rows in labels.csv but {len(votes)} rows of votes")
    with zipfile.ZipFile(folder / "faces_128_jpeg.zip") as images:
        features = np.stack([extractor(Image.open(io.BytesIO(images.read(row["file"])))) for row in rows])
    np.savez_compressed(
        out,
        features=features,
        labels=votes.astype(np.float64),
        label_values=np.arange(votes.shape[1], dtype=np.float64),
        real_age=np.array([float(row["real_age"]) for row in rows]),
        split=np.array([row["split"] for row in rows]),
    )
    print(f"{out}: {features.shape[0]} rows, {features.shape[1]} features, {votes.shape[1]} labels")


if __name__ == "__main__":
    extractors = {"pixels": pixels, "gradients": gradients}
    name = sys.argv[3] if len(sys.argv) > 3 else "gradients"
    if len(sys.argv) not in (3, 4) or name not in extractors:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), extractors[name])
