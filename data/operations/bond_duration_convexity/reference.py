import numpy as np


# Up to 60 positive terms with a running float32 product: about 60 roundings of 6e-8.
TOLERANCE = {"price": (5e-5, 1e-5), "duration": (5e-5, 1e-5), "convexity": (5e-5, 1e-5)}


def make_inputs(rng, n):
    return {
        "coupon": rng.uniform(0.0, 5.0, n).astype(np.float32),
        "yield_rate": rng.uniform(-0.01, 0.06, n).astype(np.float32),
        "periods": rng.integers(1, 61, n).astype(np.int32),
    }


def reference(inputs):
    c, g = inputs["coupon"].astype(np.float64), 1.0 + inputs["yield_rate"].astype(np.float64)
    m = inputs["periods"]
    price, first, second = np.zeros((3, len(c)))
    discount = np.ones(len(c))
    for k in range(1, 61):
        discount /= g
        pay = np.where(k < m, c, np.where(k == m, c + 100.0, 0.0)) * discount
        price += pay
        first += k * pay
        second += k * (k + 1) * pay
    out = {"price": price, "duration": first / (price * g), "convexity": second / (price * g * g)}
    return {k: v.astype(np.float32) for k, v in out.items()}
