import numpy as np


TOLERANCE = {"component": (0, 0)}


def make_inputs(rng, vertices, edges, pattern="random"):
    # About two edges a vertex make one large component; edges among the last third only lead upwards.
    a, b = rng.integers(0, vertices, (2, edges))
    a, b = np.where(a > 2 * vertices // 3, np.minimum(a, b), a), np.where(a > 2 * vertices // 3, np.maximum(a, b), b)
    if pattern == "rings":  # rings of 12 vertices, some joined one way
        a = np.arange(edges) % vertices
        b = np.where(a % 12 == 11, a - 11, a + 1)
        b[vertices:] = rng.integers(0, vertices, edges - vertices) // 2
        a[vertices:] = vertices - 1 - b[vertices:] // 2
    order = rng.permutation(vertices)
    return {
        "sizes": np.array([vertices, edges], dtype=np.int32),
        "edges": rng.permutation(order[np.stack([a, b], axis=1)]).astype(np.int32),
    }


def reference(inputs):
    # Tarjan's algorithm, without recursion.
    vertices = int(inputs["sizes"][0])
    order = np.argsort(inputs["edges"][:, 0], kind="stable")
    heads = inputs["edges"][order, 1].tolist()
    starts = np.concatenate([[0], np.cumsum(np.bincount(inputs["edges"][:, 0], minlength=vertices))]).tolist()
    index, low, place = [-1] * vertices, [0] * vertices, starts[:-1]
    component, stack, time = [-1] * vertices, [], 0
    for root in range(vertices):
        path = [root] if index[root] < 0 else []
        while path:
            v = path[-1]
            if index[v] < 0:
                index[v] = low[v] = time
                time += 1
                stack.append(v)
            if place[v] < starts[v + 1]:
                w = heads[place[v]]
                place[v] += 1
                if index[w] < 0:
                    path.append(w)
                elif component[w] < 0:
                    low[v] = min(low[v], index[w])
                continue
            path.pop()
            if path:
                low[path[-1]] = min(low[path[-1]], low[v])
            if low[v] == index[v]:
                cut = stack.index(v) if len(stack) < 64 else len(stack) - 1 - stack[::-1].index(v)
                members = stack[cut:]
                del stack[cut:]
                label = max(members)
                for w in members:
                    component[w] = label
    return {"component": np.array(component, dtype=np.int32)}
