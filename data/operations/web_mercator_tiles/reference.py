import numpy as np


# u and v are good to 2e-7 in float32 and scaled by up to 256; positions within 1e-3 of a tile's edge are not drawn.
TOLERANCE = {"tiles": (0, 0), "local": (1e-4, 3e-4)}


def place(lon, lat, zoom):
    phi = np.deg2rad(lat.astype(np.float64))
    u = (lon.astype(np.float64) + 180.0) / 360.0
    v = 0.5 - np.log(np.tan(phi) + 1.0 / np.cos(phi)) / (2.0 * np.pi)
    return np.stack([u, v], axis=1) * 2.0 ** zoom[:, None]


def make_inputs(rng, n):
    m = n + n // 20 + 100
    lon = rng.uniform(-180.0, 180.0, m).astype(np.float32)
    lat = rng.uniform(-80.0, 80.0, m).astype(np.float32)
    zoom = rng.integers(0, 9, m).astype(np.int32)
    part = place(lon, lat, zoom) % 1.0
    good = np.flatnonzero((np.abs(part - 0.5) < 0.499).all(axis=1))[:n]
    return {"longitude": lon[good], "latitude": lat[good], "zoom": zoom[good]}


def reference(inputs):
    p = place(inputs["longitude"], inputs["latitude"], inputs["zoom"])
    tile = np.clip(np.floor(p), 0, 2.0 ** inputs["zoom"][:, None] - 1.0)
    return {"tiles": tile.astype(np.int32), "local": (p - tile).astype(np.float32)}
