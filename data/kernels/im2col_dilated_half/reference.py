import numpy as np


TOLERANCE = {"columns": (0, 0)}


def make_inputs(rng, channels, height, width, dilation, stride, values="normal"):
    image = rng.normal(0.0, 3.0, (channels, height, width)).astype(np.float16)
    if values == "extremes":  # the largest finite values, the smallest subnormal and negative zero
        image = rng.choice(np.array([65504.0, -65504.0, 6e-8, -0.0, 1.0], dtype=np.float16), image.shape)
    return {"sizes": np.array([channels, height, width, dilation, stride], dtype=np.int32), "image": image}


def reference(inputs):
    channels, height, width, dilation, stride = (int(size) for size in inputs["sizes"])
    padded = np.pad(inputs["image"], ((0, 0), (dilation, dilation), (dilation, dilation)))
    taps = [
        padded[:, i * dilation : i * dilation + height : stride, j * dilation : j * dilation + width : stride]
        for i in range(3)
        for j in range(3)
    ]
    return {"columns": np.stack(taps, axis=1).reshape(channels * 9, -1)}
