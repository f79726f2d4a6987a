import numpy as np


TOLERANCE = {"target": (0, 0), "gain": (0, 0)}


def make_inputs(rng, vertices, entries, pattern="groups"):
    # The adjacency as drawn need not be symmetric; half of the neighbours are close by, as in a graph with communities.
    rows = rng.integers(0, vertices, entries)
    near = (rows + rng.integers(1, 6, entries)) % vertices
    far = (rows + rng.integers(1, vertices, entries)) % vertices
    columns = np.where(rng.random(entries) < 0.6, near, far)
    columns = np.where(columns == rows, (rows + 1) % vertices, columns)
    community = np.arange(vertices) // 5 * 3 % vertices
    weights = rng.integers(1, 101, entries)
    if pattern == "hubs":  # two rows with hundreds of neighbours, equal weights, and communities of one vertex each
        rows[:900] = 3
        rows[900:2100] = 7
        columns[:2100] = np.where(rows[:2100] == columns[:2100], 0, columns[:2100])
        columns[:2100] = np.where(rows[:2100] == columns[:2100], 1, columns[:2100])
        weights[:] = 1
        community = np.arange(vertices)[::-1].copy()
        community[::7] = 4
    order = np.argsort(rows, kind="stable")
    return {
        "sizes": np.array([vertices, entries], dtype=np.int32),
        "row_ptr": np.searchsorted(rows[order], np.arange(vertices + 1)).astype(np.int32),
        "neighbors": columns[order].astype(np.int32),
        "weights": weights.astype(np.int32),
        "community": community.astype(np.int32),
    }


def reference(inputs):
    vertices = int(inputs["sizes"][0])
    own = inputs["community"].astype(np.int64)
    weights = inputs["weights"].astype(np.int64)
    rows = np.repeat(np.arange(vertices), np.diff(inputs["row_ptr"]))
    strength = np.bincount(rows, weights, vertices).astype(np.int64)
    in_community = np.bincount(own, strength, vertices).astype(np.int64)
    everything = strength.sum()
    # Every vertex with its own community and those of its neighbours; the own one with a weight of 0 besides.
    pairs = np.concatenate([rows * vertices + own[inputs["neighbors"]], np.arange(vertices) * vertices + own])
    pairs, place = np.unique(pairs, return_inverse=True)
    links = np.bincount(place, np.append(weights, np.zeros(vertices)), len(pairs)).astype(np.int64)
    vertex, group = pairs // vertices, pairs % vertices
    stays = own[vertex] == group
    score = everything * links - strength[vertex] * (in_community[group] - np.where(stays, strength[vertex], 0))
    order = np.lexsort((group, ~stays, -score, vertex))
    first = order[np.searchsorted(vertex[order], np.arange(vertices))]
    return {
        "target": group[first].astype(np.int32),
        "gain": score[first] - score[stays],
    }
