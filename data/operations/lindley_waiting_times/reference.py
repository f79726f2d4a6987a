import numpy as np


# Integers are exact.
TOLERANCE = {"wait": (0, 0)}


def make_inputs(rng, queues, customers):
    service = rng.geometric(0.02, (queues, customers))
    gap = rng.geometric(0.02 / rng.uniform(0.95, 1.5, (queues, 1)), (queues, customers))
    return {"service": service.astype(np.int32), "gap": gap.astype(np.int32)}


def reference(inputs):
    service, gap = inputs["service"].astype(np.int64), inputs["gap"].astype(np.int64)
    step = np.zeros(service.shape, np.int64)
    step[:, 1:] = service[:, :-1] - gap[:, 1:]
    total = np.cumsum(step, axis=1)
    return {"wait": (total - np.minimum.accumulate(total, axis=1)).astype(np.int32)}
