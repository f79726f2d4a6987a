import numpy as np


# Up to 196 positive float32 terms a face; the function is continuous at d = w, so a rounded comparison does no harm.
TOLERANCE = {"loss": (3e-5, 1e-5)}


def make_inputs(rng, faces, points):
    truth = rng.uniform(0.0, 256.0, (faces, points, 2)).astype(np.float32)
    pred = (truth + rng.uniform(0.5, 15.0, (faces, 1, 1)) * rng.standard_normal(truth.shape)).astype(np.float32)
    visible = (rng.random((faces, points)) < rng.uniform(0.2, 1.0, (faces, 1))).astype(np.int32)
    visible[rng.random(faces) < 0.05] = 0
    return {"pred": pred, "truth": truth, "visible": visible}


def reference(inputs):
    d = np.abs(inputs["pred"].astype(np.float64) - inputs["truth"])
    c = 10.0 - 10.0 * np.log(6.0)
    wing = np.where(d < 10.0, 10.0 * np.log1p(d / 2.0), d - c).sum(axis=2)
    v = inputs["visible"]
    return {"loss": ((wing * v).sum(axis=1) / np.maximum(v.sum(axis=1), 1)).astype(np.float32)}
