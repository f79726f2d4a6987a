import numpy as np


# Weighted sums of up to 40 sizes in float32; the difference B - A is divided by the sum, so the error is absolute.
TOLERANCE = {"imbalance": (1e-5, 2e-6), "microprice": (2e-6, 0)}


def make_inputs(rng, snapshots, levels):
    bid = 100 + np.cumsum(rng.integers(-1, 2, snapshots)) * 0.01

    def size():
        return rng.integers(0, 60, (snapshots, levels)) * (rng.random((snapshots, levels)) < 0.8)

    b, a = size(), size()
    b[3::50] = 0
    a[3::100] = 0
    return {
        "bid_price": bid.astype(np.float32),
        "ask_price": (bid + rng.integers(1, 6, snapshots) * 0.01).astype(np.float32),
        "bid_size": b.astype(np.float32),
        "ask_size": a.astype(np.float32),
    }


def reference(inputs):
    b, a = inputs["bid_size"].astype(np.float64), inputs["ask_size"].astype(np.float64)
    w = 0.8 ** np.arange(b.shape[1])
    B, A = b @ w, a @ w
    imbalance = np.where(B + A > 0, (B - A) / np.where(B + A > 0, B + A, 1), 0)
    pb, pa = inputs["bid_price"].astype(np.float64), inputs["ask_price"].astype(np.float64)
    top = b[:, 0] + a[:, 0]
    micro = np.where(top > 0, (pb * a[:, 0] + pa * b[:, 0]) / np.where(top > 0, top, 1), (pb + pa) / 2)
    return {"imbalance": imbalance.astype(np.float32), "microprice": micro.astype(np.float32)}
