import numpy as np


TOLERANCE = {"order": (0, 0), "lengths": (0, 0), "moves": (0, 0)}


def make_inputs(rng, tours, cities, rounds, pattern="random"):
    places = rng.integers(-32768, 32768, (tours, cities, 2))
    for tour in places[1::2]:  # round tours with a few turned pieces need few moves
        angle = np.sort(rng.uniform(0.0, 2 * np.pi, cities))
        tour[:] = np.stack([np.cos(angle), np.sin(angle)], axis=1) * 32000
        for _ in range(rng.integers(0, 8)):
            a, b = np.sort(rng.integers(0, cities + 1, 2))
            tour[a:b] = tour[a:b][::-1].copy()
    if pattern == "tied":  # a coarse grid with equal gains; a tour that is short already
        places = rng.integers(0, 6, (tours, cities, 2)) * 100
        half = cities // 2
        places[0] = 0
        places[0, :half, 0] = np.arange(half)
        places[0, half:, 0] = np.arange(cities - half)[::-1]
        places[0, half:, 1] = 1
    return {
        "sizes": np.array([tours, cities, rounds], dtype=np.int32),
        "places": places.astype(np.int16),
    }


def descend(places, rounds):
    cities = len(places)
    order = np.arange(cities)
    i, j = np.triu_indices(cities, 2)
    keep = (i > 0) | (j < cities - 1)
    i, j = i[keep], j[keep]
    for move in range(rounds):
        at = places[order]
        apart = np.abs(at[:, None] - at[None]).sum(axis=2)
        ahead = np.append(np.arange(1, cities), 0)
        step = apart[np.arange(cities), ahead]
        change = apart[i, j] + apart[ahead[i], ahead[j]] - step[i] - step[j]
        best = int(np.argmin(change))  # the first of the smallest: the pairs are in lexicographic order
        if change[best] >= 0:
            return order, move
        order[i[best] + 1 : j[best] + 1] = order[i[best] + 1 : j[best] + 1][::-1].copy()
    return order, rounds


def reference(inputs):
    places, rounds = inputs["places"].astype(np.int64), int(inputs["sizes"][2])
    orders, moves = zip(*(descend(tour, rounds) for tour in places), strict=True)
    lengths = [np.abs(p[o] - np.roll(p[o], -1, axis=0)).sum() for p, o in zip(places, orders, strict=True)]
    return {
        "order": np.array(orders, dtype=np.int32),
        "lengths": np.array(lengths, dtype=np.int32),
        "moves": np.array(moves, dtype=np.int32),
    }
