import numpy as np


TOLERANCE = {"packed": (0, 0), "bit_count": (0, 0)}


def make_inputs(rng, symbols, words, values="mixed"):
    lengths = rng.integers(1, 17, 256)
    if values == "one":
        lengths[:] = 24
    elif symbols * 16 > words * 32:
        lengths = np.minimum(lengths, 8)
    codes = rng.integers(0, 2**24, 256) & ((1 << lengths) - 1)
    return {
        "sizes": np.array([symbols, words], dtype=np.int32),
        "text": rng.integers(0, 256, symbols, dtype=np.uint8),
        "codes": codes.astype(np.uint32),
        "lengths": lengths.astype(np.uint8),
    }


def reference(inputs):
    text, words = inputs["text"], int(inputs["sizes"][1])
    table = np.zeros((256, 24), dtype=np.uint8)
    for symbol, (code, length) in enumerate(zip(inputs["codes"], inputs["lengths"], strict=True)):
        table[symbol, :length] = [int(code) >> k & 1 for k in range(length)]
    used = np.arange(24) < inputs["lengths"][:, None]
    bits = table[text][used[text]]
    packed = np.packbits(np.concatenate([bits, np.zeros(-bits.size % 32, dtype=np.uint8)]), bitorder="little")
    out = np.zeros(words, dtype=np.uint32)
    out[: packed.size // 4] = packed.view(np.uint32)
    return {"packed": out, "bit_count": np.array([bits.size], dtype=np.int64)}
