"""Draws the arguments of a task's calls, beside worker.py, in a process that runs nothing but the task's own module."""

FEWEST_ROWS = 4  # fewer may be parts of one thing, as the two ends of edges
FEW_ZEROS = 0.01


def draw(module, seeds, seed_all, torch):
    """Each content's name, what its arguments.json holds, and its tensors: "init", every seed, and seed 0 "permuted"."""
    for name in ("init", *seeds):
        make = module.get_init_inputs if name == "init" else module.get_inputs
        seed_all(name)
        tensors = []
        values = encode(make(), name, tensors, torch)
        rows = [{"dtype": str(tensor.dtype), "shape": list(tensor.shape)} for tensor in tensors]
        yield name, {"values": values, "tensors": rows}, tensors
        if name == "0" and (others := permuted(tensors, torch)):
            yield "permuted", {"values": values, "tensors": rows}, others


def encode(value, place, tensors, torch):
    """JSON for an argument, {kind: value}; a tensor is collected, and stands as its place among them."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"tensor": len(tensors) - 1}
    if value is None or isinstance(value, bool | int | float | str):
        return {"value": value}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value)}
    if isinstance(value, list | tuple):
        return {
            "list" if isinstance(value, list) else "tuple": [encode(item, place, tensors, torch) for item in value]
        }
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: encode(item, place, tensors, torch) for key, item in value.items()}}
    raise TypeError(
        f"{place}: a value of type {type(value).__name__}; expected tensors, numbers, text, lists or dicts"
    )


def permuted(tensors, torch):
    """The tensors with the slices of their first dimension above 1 in another order; tensors as long move alike.

    The first and the last slice stay where they are, as do tensors with fewer than four.

    None where an order may mean something that an answer may build upon: a symmetric, sorted, triangular, sparse or
    masked tensor; where nothing would change; and for dtypes that are not known here.
    """
    known = {torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.uint8, torch.int16,
             torch.int32, torch.int64, torch.bool}  # fmt: skip
    if any(tensor.dtype not in known for tensor in tensors):
        return None
    generator = torch.Generator().manual_seed(0)
    orders, moved = {}, []
    for tensor in (tensor.detach().cpu() for tensor in tensors):
        at = next((i for i, size in enumerate(tensor.shape) if size > 1), None)
        if at is None or not tensor.numel() or tensor.shape[at] < FEWEST_ROWS:
            moved.append(tensor)
            continue
        if _means_something(tensor, at):
            return None
        size = tensor.shape[at]
        if size not in orders:  # a cycle through all but the ends, in an order that is drawn
            orders[size] = torch.arange(size)
            drawn = torch.randperm(size - 2, generator=generator) + 1
            orders[size][drawn] = drawn.roll(1)
        moved.append(tensor.index_select(at, orders[size]))
    same = all(torch.equal(one.detach().cpu(), other) for one, other in zip(tensors, moved, strict=True))
    return None if same else moved


def _means_something(tensor, at):
    if tensor.dim() > 1:
        if int((tensor == 0).sum()) > FEW_ZEROS * tensor.numel():
            return True
        if tensor.shape[-1] == tensor.shape[-2] > 1 and bool((tensor == tensor.mT).all()):
            return True
    size = tensor.shape[at]
    one, other = tensor.narrow(at, 0, size - 1), tensor.narrow(at, 1, size - 1)
    return bool((one <= other).all()) or bool((one >= other).all())
