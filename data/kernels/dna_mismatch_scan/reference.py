import numpy as np


TOLERANCE = {"best": (0, 0)}


def make_inputs(rng, bases, queries, values="rich"):
    letters = np.frombuffer(b"ACGT" if values == "rich" else b"AC", dtype=np.uint8)
    genome = rng.choice(letters, bases)
    probes = np.empty((queries, 32), dtype=np.uint8)
    for q in range(queries):
        at = rng.integers(0, bases - 31)
        wrong = rng.random(32) < 0.2
        probes[q] = np.where(wrong, rng.choice(letters, 32), genome[at : at + 32])
    return {"sizes": np.array([bases, queries], dtype=np.int32), "genome": genome, "probes": probes}


def reference(inputs):
    genome, best = inputs["genome"], []
    for probe in inputs["probes"]:
        wrong = np.zeros(genome.size - 31, dtype=np.int8)
        for k in range(32):
            wrong += genome[k : k + wrong.size] != probe[k]
        best.append([wrong.argmin(), wrong.min()])
    return {"best": np.array(best, dtype=np.int32)}
