import numpy as np


TOLERANCE = {"counts": (0, 0), "first": (0, 0)}


def make_inputs(rng, bytes, patterns, values="mixed"):
    text = rng.integers(97, 101, bytes, dtype=np.uint8)
    lengths = rng.integers(1, 17, patterns)
    if values == "same":
        text[: bytes // 2] = 97
    table = rng.integers(97, 101, (patterns, 16), dtype=np.uint8)
    for p in range(patterns):
        if rng.random() < 0.7 and bytes >= lengths[p]:
            at = rng.integers(0, bytes - lengths[p] + 1)
            table[p, : lengths[p]] = text[at : at + lengths[p]]
    return {
        "sizes": np.array([bytes, patterns], dtype=np.int32),
        "text": text,
        "patterns": table,
        "lengths": lengths.astype(np.int32),
    }


def reference(inputs):
    text = inputs["text"]
    counts, first = [], []
    for pattern, length in zip(inputs["patterns"], inputs["lengths"].tolist(), strict=True):
        at = np.arange(max(text.size - length + 1, 0))
        for k in range(length):
            at = at[text[at + k] == pattern[k]]
        counts.append(at.size)
        first.append(at[0] if at.size else -1)
    return {"counts": np.array(counts, dtype=np.int32), "first": np.array(first, dtype=np.int32)}
