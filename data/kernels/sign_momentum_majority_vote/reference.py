import numpy as np


TOLERANCE = {"vote": (0, 0), "new_weights": (1e-6, 1e-7)}


def make_inputs(rng, workers, words, pattern="noisy"):
    # Workers agree with a common sign most of the time, so that majorities of all sizes occur.
    common = rng.integers(0, 2**32, words, dtype=np.uint32)
    noise = rng.integers(0, 2**32, (2, workers, words), dtype=np.uint32)
    signs = common ^ (noise[0] & noise[1])
    if pattern == "tied":  # the second half of the workers contradicts the first, in three words of four
        half = workers // 2
        signs[half : 2 * half] = ~signs[:half]
        signs[0, ::4] = 0xFFFFFFFF
    return {
        "sizes": np.array([workers, words], dtype=np.int32),
        "signs": signs,
        "weights": rng.normal(0.0, 0.1, 32 * words).astype(np.float32),
    }


def reference(inputs):
    workers, words = inputs["signs"].shape
    ones = np.zeros((words, 32), dtype=np.int64)
    for row in inputs["signs"]:
        ones += row[:, None] >> np.arange(32, dtype=np.uint32) & 1
    up = 2 * ones > workers
    vote = (up.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(axis=1)
    step = np.sign(2 * ones - workers).ravel() / 256
    return {"vote": vote.astype(np.uint32), "new_weights": (inputs["weights"] + step).astype(np.float32)}
