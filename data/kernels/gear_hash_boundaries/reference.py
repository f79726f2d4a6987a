import numpy as np


TOLERANCE = {"boundaries": (0, 0), "count": (0, 0)}


def make_inputs(rng, bytes, bits, values="any"):
    text = rng.integers(0, 256, bytes, dtype=np.uint8)
    if values == "zeros":
        text[bytes // 3 : bytes // 2] = 0
    gear = rng.integers(0, 2**64, 256, dtype=np.uint64)
    return {"sizes": np.array([bytes, bits], dtype=np.int32), "text": text, "gear": gear}


def reference(inputs):
    text, bits = inputs["text"], int(inputs["sizes"][1])
    terms = inputs["gear"][text]
    hashes = np.zeros(text.size, dtype=np.uint64)
    for back in range(min(64, text.size)):
        hashes[back:] += terms[: text.size - back] << np.uint64(back)
    hits = (hashes >> np.uint64(64 - bits)) == 0
    packed = np.packbits(np.concatenate([hits, np.zeros(-hits.size % 32, dtype=bool)]), bitorder="little")
    return {"boundaries": packed.view(np.uint32), "count": np.array([np.count_nonzero(hits)], dtype=np.int32)}
