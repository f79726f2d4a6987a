import numpy as np


TOLERANCE = {"parity": (0, 0)}


def make_inputs(rng, data_shards, parity_shards, words, values="random"):
    matrix = rng.integers(0, 256, (parity_shards, data_shards))
    shards = rng.integers(0, 256, (data_shards, 4 * words))
    if values == "edges":  # zeros and ones in the matrix, and bytes whose products wrap around
        matrix = rng.choice([0, 1, 2, 128, 255], matrix.shape)
        shards = rng.choice([0, 1, 128, 141, 255], shards.shape)
    return {
        "sizes": np.array([data_shards, parity_shards, words], dtype=np.int32),
        "matrix": matrix.astype(np.uint8),
        "shards": shards.astype(np.uint8),
    }


def product_table():
    """Carry-less products of all bytes, reduced by x^8 + x^4 + x^3 + x^2 + 1."""
    a, b = np.arange(256)[:, None], np.arange(256)
    product = np.zeros((256, 256), dtype=np.int64)
    for bit in range(8):
        product ^= np.where(b >> bit & 1, a << bit, 0)
    for bit in range(14, 7, -1):
        product ^= np.where(product >> bit & 1, 0x11D << (bit - 8), 0)
    return product.astype(np.uint8)


def reference(inputs):
    table = product_table()
    parity = np.zeros((len(inputs["matrix"]), inputs["shards"].shape[1]), dtype=np.uint8)
    for row, coefficients in zip(parity, inputs["matrix"], strict=True):
        for coefficient, shard in zip(coefficients, inputs["shards"], strict=True):
            row ^= table[coefficient][shard]
    return {"parity": parity}
