import numpy as np


TOLERANCE = {"direction": (1e-3, 1e-3)}


def make_inputs(rng, dims, history, pattern="mild"):
    # Changes are steps times a positive diagonal Hessian, so that all s.y are positive.
    curvature = rng.uniform(0.5, 2.0, dims) if pattern == "mild" else 10.0 ** rng.uniform(-0.7, 0.7, dims)
    steps = rng.normal(0.0, 1.0, (history, dims)) * rng.choice([0.1, 1.0], (history, 1))
    return {
        "sizes": np.array([dims, history], dtype=np.int32),
        "gradient": rng.normal(0.0, 1.0, dims).astype(np.float32),
        "steps": steps.astype(np.float32),
        "changes": (steps * curvature).astype(np.float32),
    }


def reference(inputs):
    q = inputs["gradient"].astype(np.float64)
    steps, changes = inputs["steps"].astype(np.float64), inputs["changes"].astype(np.float64)
    products = (steps * changes).sum(axis=1)
    factors = np.zeros(products.size)
    for i in range(products.size - 1, -1, -1):
        factors[i] = steps[i] @ q / products[i]
        q = q - factors[i] * changes[i]
    q = q * products[-1] / (changes[-1] @ changes[-1])
    for i in range(products.size):
        q = q + (factors[i] - changes[i] @ q / products[i]) * steps[i]
    return {"direction": (-q).astype(np.float32)}
