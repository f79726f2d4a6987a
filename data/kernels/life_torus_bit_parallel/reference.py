import numpy as np


TOLERANCE = {"evolved": (0, 0)}


def make_inputs(rng, rows, words, steps, pattern="soup"):
    cells = (rng.random((rows, 32 * words)) < 0.35).astype(np.uint8)
    if pattern == "gliders":  # they cross both edges of the torus; a row of blinkers goes through a word border
        cells[:] = 0
        cells[:3, :3] = [[0, 1, 0], [0, 0, 1], [1, 1, 1]]
        cells[-12, 31:34] = 1
        cells[-20, -1] = cells[-20, :2] = 1
    return {
        "sizes": np.array([rows, words, steps], dtype=np.int32),
        "cells": np.packbits(cells, axis=1, bitorder="little").view("<u4").astype(np.uint32),
    }


def reference(inputs):
    cells = np.unpackbits(inputs["cells"].astype("<u4").view(np.uint8), axis=1, bitorder="little")
    for _ in range(inputs["sizes"][2]):
        columns = cells + np.roll(cells, 1, axis=0) + np.roll(cells, -1, axis=0)
        block = columns + np.roll(columns, 1, axis=1) + np.roll(columns, -1, axis=1)  # the cell itself included
        cells = ((block == 3) | ((block == 4) & (cells == 1))).astype(np.uint8)
    return {"evolved": np.packbits(cells, axis=1, bitorder="little").view("<u4").astype(np.uint32)}
