"""A sample's window confidence along the response, as an inline SVG. Standard library only.

The SVG holds lines and areas alone and stretches with the page; everything that must keep its shape (labels, dots) is HTML placed in
percent over it.
"""

from html import escape

from .page_data import Reading, Sample


_POINTS = 400  # more than this many points of a curve cannot be seen


def chart(sample: Sample, first: int) -> str:
    """C_t of every reading over the tokens from `first` on, the minima marked, CUDA spans shaded."""
    length = len(sample.texts) - first
    highest = max((w for r in sample.readings.values() for w in r.window if w is not None), default=0.0)
    top = next(
        limit for limit in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0) if highest <= limit * 1.0001
    )

    shapes = [
        f'<rect class="span" x="{start - first}" y="0" width="{end - start}" height="1"/>'
        for start, end in cuda_runs(sample)
    ]
    shapes += [f'<line class="grid" x1="0" x2="{length}" y1="{y}" y2="{y}"/>' for y in (0, 0.5)]
    labels = [f'<em class="y" style="top:{100 * (1 - share):g}%">{top * share:.3g}</em>' for share in (0, 0.5, 1)]
    labels += [
        '<em class="x first" style="left:0">token 0</em>',
        f'<em class="x" style="left:50%">{length // 2:,}</em>',
        f'<em class="x last" style="left:100%">{length:,}</em>',
    ]
    captions = ["<b>Window confidence along the response</b>"]
    for name, reading in sample.readings.items():
        style = escape(name)
        for points in curves(reading, first):
            path = " ".join(f"{x:g},{1 - value / top:.4f}" for x, value in points)
            shapes.append(f'<polyline class="{style}" points="{path}"/>')
        for region in reading.regions:
            x, y = minimum(reading, region.start, region.end, region.confidence)
            labels.append(
                f'<span class="dot {style}" style="left:{100 * (x - first + 0.5) / length:.2f}%;top:{100 * (1 - y / top):.2f}%"></span>'
            )
        least = min(region.confidence for region in reading.regions)
        captions.append(f'<span><i class="swatch mark {style}"></i>{style}, minimum {least:.4f}</span>')
    captions.append('<span><i class="swatch area"></i>CUDA span</span>')
    return (
        f"<figure><figcaption>{''.join(captions)}</figcaption>"
        f'<div class="chart"><svg viewBox="0 0 {length} 1" preserveAspectRatio="none" role="img" '
        f'aria-label="Window confidence along the response">{"".join(shapes)}</svg>{"".join(labels)}</div></figure>'
    )


def cuda_runs(sample: Sample) -> list[tuple[int, int]]:
    """The runs [start, end) of CUDA tokens."""
    runs: list[list[int]] = []
    for position, cuda in enumerate(sample.cuda):
        if cuda and runs and runs[-1][1] == position:
            runs[-1][1] += 1
        elif cuda:
            runs.append([position, position + 1])
    return [(start, end) for start, end in runs]


def curves(reading: Reading, first: int) -> list[list[tuple[float, float]]]:
    """The points (x, C_t) of each stretch of supervised tokens, thinned out; the lowest point of each step is the one kept.

    Keeping the lowest, not every n-th, lets the curve go through the marked minimum.
    """
    stretches: list[list[tuple[float, float]]] = []
    previous = None
    for position, value in enumerate(reading.window):
        if value is None:
            continue
        if previous != position - 1:
            stretches.append([])
        stretches[-1].append((position - first + 0.5, value))
        previous = position
    thinned = []
    for points in stretches:
        step = max(1, -(-len(points) // _POINTS))
        thinned.append([min(points[i : i + step], key=lambda point: point[1]) for i in range(0, len(points), step)])
    return thinned


def minimum(reading: Reading, start: int, end: int, confidence: float) -> tuple[int, float]:
    """Where in the least confident window [start, end) its value C_t is reached first; a short sample is one window throughout."""
    values = [(position, reading.window[position]) for position in range(start, end)]
    position, _ = min(values, key=lambda item: (abs((item[1] if item[1] is not None else 2.0) - confidence), item[0]))
    return position, confidence
