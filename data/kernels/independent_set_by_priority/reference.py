import numpy as np


TOLERANCE = {"member": (0, 0)}


def make_inputs(rng, vertices, edges, pattern="random"):
    a, b = (vertices * rng.random((2, edges)) ** 1.5).astype(np.int64)
    order = rng.permutation(vertices)
    priority = rng.permutation(vertices) * 2 + 1
    if pattern == "path":  # priorities fall along the path: as many rounds as there can be
        a, b = np.arange(vertices - 1), np.arange(1, vertices)
        priority = np.empty(vertices, dtype=np.int64)
        priority[order] = -np.arange(vertices)
    b = np.where(a == b, (a + 1) % vertices, b)
    a, b = order[a], order[b]
    tails, heads = np.concatenate([a, b]), np.concatenate([b, a])
    by_tail = np.argsort(tails, kind="stable")
    counts = np.bincount(tails, minlength=vertices)
    return {
        "sizes": np.array([vertices, edges], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "neighbors": heads[by_tail].astype(np.int32),
        "priority": priority.astype(np.int32),
    }


def reference(inputs):
    row_ptr, neighbors = inputs["row_ptr"].tolist(), inputs["neighbors"].tolist()
    member = bytearray(inputs["priority"].size)
    blocked = bytearray(inputs["priority"].size)
    for v in np.argsort(-inputs["priority"].astype(np.int64)).tolist():
        if not blocked[v]:
            member[v] = 1
            for w in neighbors[row_ptr[v] : row_ptr[v + 1]]:
                blocked[w] = 1
    return {"member": np.frombuffer(bytes(member), dtype=np.uint8)}
