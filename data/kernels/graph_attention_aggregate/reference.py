import numpy as np


TOLERANCE = {"output": (1e-4, 1e-5)}


def make_inputs(rng, vertices, entries, heads, width, pattern="normal"):
    targets = (max(1, vertices - vertices // 8) * rng.random(entries) ** 1.5).astype(np.int64)
    scale = 1.5 if pattern == "normal" else 300.0
    return {
        "sizes": np.array([vertices, entries, heads, width], dtype=np.int32),
        "row_ptr": np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=vertices))]).astype(np.int32),
        "sources": rng.integers(0, vertices, entries).astype(np.int32),
        "source_score": (np.round(scale * rng.normal(0.0, 1.0, (vertices, heads)) * 64) / 64).astype(np.float32),
        "target_score": (np.round(scale * rng.normal(0.0, 1.0, (vertices, heads)) * 64) / 64).astype(np.float32),
        "features": rng.normal(0.0, 1.0, (vertices, heads, width)).astype(np.float32),
    }


def reference(inputs):
    row_ptr, sources = inputs["row_ptr"], inputs["sources"]
    targets = np.repeat(np.arange(row_ptr.size - 1), np.diff(row_ptr))
    score = inputs["source_score"].astype(np.float64)[sources] + inputs["target_score"][targets]
    score = np.where(score > 0, score, 0.2 * score)
    features = inputs["features"].astype(np.float64)
    output = np.zeros_like(features)
    for v in np.flatnonzero(np.diff(row_ptr)):
        part = slice(row_ptr[v], row_ptr[v + 1])
        weight = np.exp(score[part] - score[part].max(axis=0))
        weight /= weight.sum(axis=0)
        output[v] = np.einsum("eh,ehf->hf", weight, features[sources[part]])
    return {"output": output.astype(np.float32)}
