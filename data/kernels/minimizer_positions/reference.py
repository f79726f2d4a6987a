import numpy as np


TOLERANCE = {"positions": (0, 0), "distinct": (0, 0)}
WORD = 15


def make_inputs(rng, reads, length, window, values="random"):
    letters = np.frombuffer(b"ACGT", dtype=np.uint8)
    bases = rng.choice(letters, (reads, length))
    if values == "repeats":
        bases = np.resize(np.frombuffer(b"ACA", dtype=np.uint8), (reads, length)).copy()
        bases[::2] = letters[0]
    return {"sizes": np.array([reads, length, window], dtype=np.int32), "bases": bases}


def reference(inputs):
    bases, window = inputs["bases"], int(inputs["sizes"][2])
    codes = np.searchsorted(np.frombuffer(b"ACGT", dtype=np.uint8), bases).astype(np.uint64)
    words = np.zeros((bases.shape[0], bases.shape[1] - WORD + 1), dtype=np.uint64)
    for k in range(WORD):
        words = words * np.uint64(4) + codes[:, k : k + words.shape[1]]
    scrambled = (words * np.uint64(0x9E3779B1)) & np.uint64(0xFFFFFFFF)
    views = np.lib.stride_tricks.sliding_window_view(scrambled, window, axis=1)
    positions = views.argmin(axis=2) + np.arange(views.shape[1])
    distinct = 1 + np.count_nonzero(np.diff(positions, axis=1), axis=1)
    return {"positions": positions.astype(np.int32), "distinct": distinct.astype(np.int32)}
