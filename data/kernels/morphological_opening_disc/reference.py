import numpy as np


TOLERANCE = {"opened": (0, 0)}


def make_inputs(rng, height, width, radius, values="texture"):
    y, x = np.mgrid[:height, :width]
    image = 90.0 + 50.0 * np.sin(x / 19.0) * np.sin(y / 23.0) + rng.normal(0.0, 10.0, x.shape)
    image[rng.random(x.shape) < 0.02] = 250.0
    if values == "specks":  # a few black pixels, each of which erases a whole disc, in two bright areas
        image = np.where(x < width // 3, 255.0, 200.0)
        image[rng.random(x.shape) < 0.0015] = 0.0
    return {
        "sizes": np.array([height, width, radius], dtype=np.int32),
        "gray": np.clip(np.round(image), 0, 255).astype(np.uint8),
    }


def over_disc(combine, image, outside, radius):
    height, width = image.shape
    padded = np.pad(image, radius, constant_values=outside)
    result = np.full_like(image, outside)
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            if dy * dy + dx * dx <= radius * radius:
                y, x = radius + dy, radius + dx
                combine(result, padded[y : y + height, x : x + width], out=result)
    return result


def reference(inputs):
    radius = int(inputs["sizes"][2])
    eroded = over_disc(np.minimum, inputs["gray"], 255, radius)
    return {"opened": over_disc(np.maximum, eroded, 0, radius)}
