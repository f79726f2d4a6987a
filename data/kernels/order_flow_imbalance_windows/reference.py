import numpy as np


TOLERANCE = {"imbalance": (0, 0), "unchanged": (0, 0)}


def make_inputs(rng, instruments, updates, window, values="market"):
    moves = rng.choice([-1, 0, 0, 0, 1], (instruments, updates))
    bid = 10000 + np.cumsum(moves, axis=1)
    ask = bid + rng.integers(1, 4, (instruments, updates))
    top = 2**31 - 1 if values == "huge" else 3000
    bid_size = rng.integers(top - 500 if values == "huge" else 0, top, (instruments, updates), endpoint=True)
    ask_size = rng.integers(0, top, (instruments, updates), endpoint=True)
    quotes = np.stack([bid, bid_size, ask, ask_size], axis=-1).astype(np.int32)
    repeated = np.flatnonzero(rng.random(updates) < 0.15)
    for t in repeated[repeated > 0]:
        quotes[:, t] = quotes[:, t - 1]
    return {"sizes": np.array([instruments, updates, window], dtype=np.int32), "quotes": quotes}


def reference(inputs):
    window = int(inputs["sizes"][2])
    quotes = inputs["quotes"].astype(np.int64)
    old, new = quotes[:, :-1], quotes[:, 1:]
    bid = np.where(new[..., 0] >= old[..., 0], new[..., 1], 0) - np.where(new[..., 0] <= old[..., 0], old[..., 1], 0)
    ask = np.where(new[..., 2] <= old[..., 2], new[..., 3], 0) - np.where(new[..., 2] >= old[..., 2], old[..., 3], 0)
    starts = np.arange(0, quotes.shape[1] - 1, window)
    same = (old == new).all(axis=-1)
    return {
        "imbalance": np.add.reduceat(bid - ask, starts, axis=1),
        "unchanged": np.add.reduceat(same.astype(np.int32), starts, axis=1, dtype=np.int32),
    }
