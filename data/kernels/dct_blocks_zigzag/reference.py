import numpy as np


TOLERANCE = {"coefficients": (1e-4, 1e-3)}


def make_inputs(rng, block_rows, block_cols, values="photo"):
    shape = (8 * block_rows, 8 * block_cols)
    y, x = np.indices(shape)
    image = 128.0 + 60.0 * np.sin(x / 11.0 + y / 17.0) + rng.normal(0.0, 25.0, shape)
    if values == "extremes":  # black and white: checkerboards and flat blocks
        image = 255.0 * ((x + y) % 2)
        image[:, : shape[1] // 2] = 255.0 * rng.integers(0, 2, shape)[:, : shape[1] // 2]
        image[:16] = 255.0
    sizes = np.array([block_rows, block_cols], dtype=np.int32)
    return {"sizes": sizes, "image": np.clip(image, 0, 255).astype(np.uint8)}


def zigzag():
    """The 64 places (row, column) of a block in zigzag order."""
    places = [(row, col) for row in range(8) for col in range(8)]
    return sorted(places, key=lambda p: (p[0] + p[1], p[0] if (p[0] + p[1]) % 2 else p[1]))


def reference(inputs):
    block_rows, block_cols = map(int, inputs["sizes"])
    u, x = np.indices((8, 8))
    basis = np.where(u == 0, np.sqrt(0.125), 0.5) * np.cos((2 * x + 1) * u * np.pi / 16.0)
    blocks = inputs["image"].astype(np.float64).reshape(block_rows, 8, block_cols, 8).transpose(0, 2, 1, 3) - 128.0
    spectrum = basis @ blocks @ basis.T
    row, col = np.array(zigzag()).T
    return {"coefficients": spectrum[:, :, row, col].astype(np.float32)}
