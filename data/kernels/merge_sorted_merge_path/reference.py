import numpy as np


TOLERANCE = {"merged": (0, 0), "source": (0, 0)}


def make_inputs(rng, a, b, values="random"):
    # Many equal keys within and between the arrays, and a stretch where one of them is alone.
    keys_a, keys_b = rng.integers(-(a + b), a + b, a), rng.integers(-(a + b), a + b, b)
    keys_a[: a // 5] = rng.integers(-50, 50, a // 5)
    keys_b[: b // 5] = rng.integers(-50, 50, b // 5)
    keys_b[-(b // 6) - 1 :] += 2 * (a + b)
    if values == "ties":  # a single key, which occurs thousands of times on the other side; both ends of int32
        keys_a[:] = 7
        keys_b = rng.choice([-(2**31), -8, 7, 2**31 - 1], b, p=[0.2, 0.2, 0.4, 0.2])
    return {
        "sizes": np.array([a, b], dtype=np.int32),
        "keys_a": np.sort(keys_a).astype(np.int32),
        "keys_b": np.sort(keys_b).astype(np.int32),
    }


def reference(inputs):
    keys = np.concatenate([inputs["keys_a"], inputs["keys_b"]])
    source = np.argsort(keys, kind="stable")
    return {"merged": keys[source], "source": source.astype(np.int32)}
