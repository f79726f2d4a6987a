import numpy as np


TOLERANCE = {"product": (0, 0)}


def make_inputs(rng, pairs, words, values="random"):
    a, b = rng.integers(0, 2**32, (2, pairs, words), dtype=np.uint32)
    if values == "edges":  # the largest numbers, whose carries run through; powers of two; zero and one
        a[::3] = b[::3] = 2**32 - 1
        a[1::3], b[1::6] = 0, 0
        a[1::3, words - 1] = 2**31
        b[4::6, 1:], b[4::6, 0] = 0, 1
    return {"sizes": np.array([pairs, words], dtype=np.int32), "a": a, "b": b}


def reference(inputs):
    words = inputs["a"].shape[1]
    product = [
        (int.from_bytes(a.tobytes(), "little") * int.from_bytes(b.tobytes(), "little")).to_bytes(8 * words, "little")
        for a, b in zip(inputs["a"], inputs["b"], strict=True)
    ]
    return {"product": np.frombuffer(b"".join(product), dtype="<u4").reshape(-1, 2 * words).astype(np.uint32)}
