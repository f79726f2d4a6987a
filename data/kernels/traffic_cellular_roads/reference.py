import numpy as np


TOLERANCE = {"final": (0, 0), "flow": (0, 0)}


def make_inputs(rng, roads, cells, steps, values="mixed"):
    density = np.full((roads, 1), 0.9) if values == "jammed" else rng.uniform(0.05, 0.6, (roads, 1))
    cars = np.where(rng.random((roads, cells)) < density, rng.integers(0, 4, (roads, cells)), -1)
    if values == "mixed":
        cars[0] = -1
        cars[0, 1] = 0
    return {
        "sizes": np.array([roads, cells, steps], dtype=np.int32),
        "cars": cars.astype(np.int8),
        "random": rng.integers(0, 256, (steps, roads, cells), dtype=np.uint8),
        "rules": np.array([7 if values == "jammed" else 5, 60], dtype=np.uint8),
    }


def reference(inputs):
    cars = inputs["cars"].astype(np.int64)
    fastest, dawdle = (int(rule) for rule in inputs["rules"])
    roads, cells = cars.shape
    row = np.arange(roads)[:, None]
    column = np.arange(cells)[None]
    flow = np.zeros(roads, dtype=np.int64)
    for random in inputs["random"]:
        taken = cars >= 0
        gap = np.full(cars.shape, fastest)
        for ahead in range(min(fastest, cells), 0, -1):
            gap = np.where(np.roll(taken, -ahead, axis=1), ahead - 1, gap)
        speed = np.minimum(np.minimum(cars + 1, fastest), gap)
        speed = np.where((random < dawdle) & (speed > 0), speed - 1, speed)
        moved = np.full_like(cars, -1)
        where = np.broadcast_to(row, cars.shape)[taken], ((column + speed) % cells)[taken]
        moved[where] = speed[taken]
        flow += np.where(taken, speed, 0).sum(axis=1)
        cars = moved
    return {"final": cars.astype(np.int8), "flow": flow.astype(np.int32)}
