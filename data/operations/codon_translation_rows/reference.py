import numpy as np


# Bytes and positions: exact.
TOLERANCE = {"protein": (0, 0), "stop": (0, 0)}


def make_inputs(rng, genes, codons):
    dna = np.frombuffer(b"TCAG", np.uint8)[rng.integers(0, 4, (genes, codons * 3))]
    quiet = rng.random(genes) < 0.6
    dna[quiet] = np.where(dna[quiet] == ord("T"), ord("C"), dna[quiet])
    dna[rng.random(dna.shape) < 0.01] = ord("N")
    dna[rng.random(dna.shape) < 0.005] = ord("t")
    table = np.frombuffer(b"FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG", np.uint8).copy()
    return {"dna": dna.astype(np.uint8), "table": table}


def reference(inputs):
    value = np.full(256, -1000)
    value[list(b"TCAG")] = range(4)
    v = value[inputs["dna"]].reshape(len(inputs["dna"]), -1, 3) @ np.array([16, 4, 1])
    p = np.where(v >= 0, inputs["table"][np.maximum(v, 0)], ord("X")).astype(np.uint8)
    hit = p == ord("*")
    return {"protein": p, "stop": np.where(hit.any(axis=1), hit.argmax(axis=1), p.shape[1]).astype(np.int32)}
