import numpy as np


# Integer counts.
TOLERANCE = {"crossings": (0, 0)}


def make_inputs(rng, n, m):
    def draw(k):
        a = rng.integers(200, 801, (k, 2))
        return np.concatenate([a, np.clip(a + 10 * rng.integers(-20, 21, (k, 2)), 0, 1000)], axis=1)

    first, second = draw(n), draw(m)
    first[::5, :2] = second[np.arange(len(first[::5])) % m, 2:]
    return {"first": first.astype(np.int32), "second": second.astype(np.int32)}


def side(a, b, p):
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def reference(inputs):
    f = inputs["first"].T
    a, b = f[:2], f[2:]
    count = np.zeros(f.shape[1], np.int32)
    for s in inputs["second"]:
        c, d = s[:2], s[2:]
        p, q, r, t = side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b)
        count += (((p > 0) & (q < 0)) | ((p < 0) & (q > 0))) & (((r > 0) & (t < 0)) | ((r < 0) & (t > 0)))
    return {"crossings": count}
