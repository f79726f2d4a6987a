import itertools

import numpy as np


TOLERANCE = {"depth": (0, 0), "summary": (0, 0)}


def make_inputs(rng, documents, bytes, values="walk"):
    letters = b"[]]}a," if values == "unbalanced" else b"[[{]]}abcdef,:0"
    inner = np.sort(rng.integers(0, bytes + 1, documents - 1))
    return {
        "sizes": np.array([documents, bytes], dtype=np.int32),
        "offsets": np.concatenate([[0], inner, [bytes]]).astype(np.int32),
        "text": rng.choice(np.frombuffer(letters, dtype=np.uint8), bytes),
    }


def reference(inputs):
    text, offsets = inputs["text"], inputs["offsets"]
    step = np.isin(text, list(b"[{")).astype(np.int64) - np.isin(text, list(b"]}"))
    depth = np.zeros(text.size, dtype=np.int16)
    summary = np.zeros((offsets.size - 1, 3), dtype=np.int32)
    for k, (begin, end) in enumerate(itertools.pairwise(offsets)):
        sums = np.cumsum(step[begin:end])
        depth[begin:end] = np.clip(sums, -32768, 32767)
        below = np.flatnonzero(sums < 0)
        last = sums[-1] if sums.size else 0
        summary[k] = max(sums.max(initial=0), 0), last, below[0] if below.size else -1
    return {"depth": depth, "summary": summary}
