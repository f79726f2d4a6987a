import numpy as np


TOLERANCE = {"ways": (0, 0)}

MODULUS = 1000000007


def make_inputs(rng, coins, amount, values="mixed"):
    drawn = np.concatenate([[1, 2], rng.integers(3, max(min(amount, 2000), 4), coins)])[:coins]
    if values == "large":  # some coins are worth more than the amount, two kinds have the same worth, none is worth 1
        drawn = rng.choice([3, 7, 31, 977, 12000, 29999, 30000, 30001, 2000000], coins)
    return {"sizes": np.array([coins, amount], dtype=np.int32), "values": rng.permutation(drawn).astype(np.int32)}


def reference(inputs):
    amount = int(inputs["sizes"][1])
    ways = np.zeros(amount + 1, dtype=np.int64)
    ways[0] = 1
    for value in inputs["values"].tolist():
        if value <= amount:
            # Rows of `value` amounts: down a column go the amounts that differ by the coin.
            rows = np.pad(ways, (0, -(amount + 1) % value)).reshape(-1, value)
            ways = (np.cumsum(rows, axis=0) % MODULUS).ravel()[: amount + 1]
    return {"ways": ways.astype(np.uint32)}
