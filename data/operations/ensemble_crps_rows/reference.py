import numpy as np


# Up to 40,000 float32 terms of the pair sum, whose mean is subtracted from one of similar size.
TOLERANCE = {"crps": (1e-4, 3e-5)}


def make_inputs(rng, cases, members):
    centre = rng.normal(0.0, 5.0, (cases, 1))
    x = centre + rng.uniform(0.2, 3.0, (cases, 1)) * rng.standard_normal((cases, members))
    return {
        "ensemble": x.astype(np.float32),
        "observed": (centre[:, 0] + rng.normal(0.0, 2.0, cases)).astype(np.float32),
    }


def reference(inputs):
    x, y = inputs["ensemble"].astype(np.float64), inputs["observed"].astype(np.float64)
    m = x.shape[1]
    first = np.abs(x - y[:, None]).mean(axis=1)
    # The pair sum by sorted values: sum over k of (2k - m + 1) x_(k), counted twice.
    pairs = 2.0 * (np.sort(x, axis=1) * (2.0 * np.arange(m) - m + 1.0)).sum(axis=1)
    return {"crps": (first - 0.5 * pairs / (m * m)).astype(np.float32)}
