import numpy as np


# Positive quantities in float32 over up to 365 steps; relative errors grow slowly.
TOLERANCE = {"course": (5e-4, 1e-3), "peak": (5e-4, 1e-3)}


def make_inputs(rng, days, regions):
    wave = 0.22 + 0.12 * np.sin(np.arange(days)[:, None] / 15 + rng.uniform(0, 6, (1, regions)))
    population = np.exp(rng.uniform(8, 14, regions))
    return {
        "contact": (wave * rng.uniform(0.5, 1.5, (days, regions))).astype(np.float32),
        "population": population.astype(np.float32),
        "infected": (population * rng.uniform(0.001, 0.05, regions)).astype(np.float32),
    }


def reference(inputs):
    n, i = inputs["population"].astype(np.float64), inputs["infected"].astype(np.float64)
    s, e = n - i, np.zeros_like(n)
    course = []
    for b in inputs["contact"].astype(np.float64):
        new, onset, cured = b * s * i / n, 0.25 * e, 0.1 * i
        s, e, i = s - new, e + new - onset, i + onset - cured
        course.append(i)
    course = np.array(course)
    return {"course": course.astype(np.float32), "peak": course.max(axis=0).astype(np.float32)}
