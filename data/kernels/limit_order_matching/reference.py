import numpy as np


TOLERANCE = {"filled": (0, 0), "notional": (0, 0), "depth": (0, 0)}
LEVELS = 128


def make_inputs(rng, books, orders, values="usual"):
    sides = rng.integers(0, 2, (books, orders), dtype=np.uint8)
    spread = 3 if values == "crossed" else -4
    centre = np.where(sides == 0, 64 + spread, 64 - spread)
    prices = np.clip(centre + np.rint(rng.normal(0.0, 9.0, (books, orders))), 0, LEVELS - 1).astype(np.int32)
    quantities = rng.integers(1, 1000, (books, orders), dtype=np.int32)
    if values == "crossed":  # a few orders sweep the whole book
        quantities[:, ::20] = 200000
        prices[:, ::20] = np.where(sides[:, ::20] == 0, LEVELS - 1, 0)
    return {
        "sizes": np.array([books, orders], dtype=np.int32),
        "sides": sides,
        "prices": prices,
        "quantities": quantities,
    }


def reference(inputs):
    sides, prices, quantities = inputs["sides"], inputs["prices"], inputs["quantities"]
    books, orders = sides.shape
    depth = np.zeros((books, 2, LEVELS), dtype=np.int64)
    filled = np.zeros((books, orders), dtype=np.int64)
    notional = np.zeros(books, dtype=np.int64)
    level, every = np.arange(LEVELS), np.arange(books)
    for k in range(orders):
        buys, price, quantity = sides[:, k] == 0, prices[:, k], quantities[:, k].astype(np.int64)
        opposite = np.where(buys[:, None], depth[:, 1], depth[:, 0])
        reached = np.where(buys[:, None], level <= price[:, None], level >= price[:, None])
        offered = np.where(reached, opposite, 0)
        # The best level comes first: the lowest price for a buyer, the highest for a seller.
        queue = np.where(buys[:, None], offered, offered[:, ::-1])
        before = np.cumsum(queue, axis=1) - queue
        taken = np.clip(quantity[:, None] - before, 0, queue)
        taken = np.where(buys[:, None], taken, taken[:, ::-1])
        depth[every, np.where(buys, 1, 0)] -= taken
        filled[:, k] = taken.sum(axis=1)
        notional += (taken * level).sum(axis=1)
        depth[every, np.where(buys, 0, 1), price] += quantity - filled[:, k]
    return {"filled": filled.astype(np.int32), "notional": notional, "depth": depth.astype(np.int32)}
