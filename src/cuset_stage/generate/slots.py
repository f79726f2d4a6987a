"""Continuous batching in which the tensors never change shape. Imports torch and transformers.

Each answer occupies one of `count` slots of a static cache. As soon as it ends, the next prompt takes its slot. There
are only two kinds of steps: a reading step processes CHUNK tokens of one prompt, and a writing step writes one token
in every slot.

On a GPU both kinds of steps always have the same shape: a writing step has WIDTH rows, whether they are used or not.
Libraries choose their kernels by shape, so a sample's logits do not depend on its neighbours, its slot, the order or
`count`, bit for bit. For the same reason a GPU can replay each step as one CUDA graph.

transformers has the parts, but does not combine them with seeds per sample. Its `generate_batch` does not tell a
logits processor which request a row belongs to and how far it has come, and it computes batches of changing shapes.
Its `generate` with a static cache keeps a batch until the last answer ends.
"""

import functools
import gc
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import pad, scaled_dot_product_attention
from transformers import AttentionInterface, Cache

from .sampling import draw, draw_among


ATTENTION = "cuset_slots"
CHUNK = 256  # tokens of a prompt in a reading step
WIDTH = 128  # rows of a writing step on a GPU
STRIDE = 8  # writing steps on a GPU before the host reads their tokens
GRAIN = 512  # steps attend to a multiple of this many positions, and the cache has room for this many at first


def attend(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor, **options: Any
) -> tuple[Tensor, None]:
    """Compute attention of the first rows of queries to the keys and values of their slots, one slot per row.

    The heads that share a key head are treated as further queries of this key head, so that keys are not repeated and
    one kernel serves all shapes. The kernel goes through the keys of a head in order, in one thread block. Neither the
    number of rows nor masked keys after the last one therefore change a bit of the result. Rows without a slot get
    zeros.

    Args:
        module: not used.
        query: [rows, heads, tokens, size].
        key: [slots, key heads, length, size], with slots <= rows.
        value: like `key`.
        attention_mask: [slots, 1, tokens, length], added to the scores.
        options: `scaling` is used. Other options are ignored.

    Returns:
        [rows, tokens, heads, size] and None, like other attention functions of transformers.

    Raises:
        NotImplementedError: the model needs soft caps or sinks.
    """
    if options.get("softcap") is not None or options.get("s_aux") is not None:
        raise NotImplementedError("attention with soft caps or sinks")
    slots, groups, length, _ = key.shape
    rows, heads, tokens, size = query.shape
    share = heads // groups
    query = query[:slots].reshape(slots, groups, share * tokens, size)
    mask = attention_mask.to(query.dtype).expand(slots, share, tokens, length)
    mask = mask.reshape(slots, 1, share * tokens, length).expand(-1, groups, -1, -1)
    kernel = sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]) if query.is_cuda else nullcontext()
    with kernel:
        output = scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=options.get("scaling"))
    output = output.reshape(slots, heads, tokens, -1).transpose(1, 2)
    return pad(output, (0, 0, 0, 0, 0, 0, 0, rows - slots)).contiguous(), None


AttentionInterface.register(ATTENTION, attend)


class SlotCache(Cache):
    """Static cache of the keys and values of `count` slots, [count, key heads, capacity, size] per layer.

    `at` sets where the next forward pass writes, and which positions it sees. Of the interface of transformers' caches
    only `update` is used, because the caller makes the attention mask itself.

    Attributes:
        capacity: number of positions per slot.
    """

    def __init__(self, count: int) -> None:
        # The parent's __init__ is not called: its arguments changed with every release, and its layers are not needed.
        self.layers: list[Any] = []
        self.count = count
        self.capacity = 0
        self._stores: dict[int, tuple[Tensor, Tensor]] = {}

    def grow(self, capacity: int) -> None:
        """Enlarge the cache to `capacity` positions and keep its content.

        Layers are copied one after the other, so that the extra memory needed at a time is that of one layer.
        """
        for layer, stores in self._stores.items():
            grown = tuple(pad(store, (0, 0, 0, capacity - self.capacity)) for store in stores)
            finish_work(stores[0].device)
            self._stores[layer] = grown
        self.capacity = capacity

    def copy(self, source: int, slot: int, length: int) -> None:
        """Copy the first `length` positions of the slot `source` to another slot."""
        for stores in self._stores.values():
            for store in stores:
                store[slot, :, :length] = store[source, :, :length]

    def at(self, slots: Tensor, positions: Tensor, length: int) -> "SlotCache":
        """Set the slots and positions of the next forward pass, and return this cache.

        Args:
            slots: slots to write to, [n], int64.
            positions: positions to write to, [n, tokens].
            length: the pass sees the first `length` positions.
        """
        self._slots, self._positions, self._length = slots, positions, length
        return self

    def update(self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any) -> Any:
        """Write the states of the first n rows to the slots that `at` set.

        Args:
            key_states: [rows, key heads, tokens, size].
            value_states: like `key_states`.
            layer_idx: number of the layer.

        Returns:
            Keys and values of these slots, [n, key heads, length, size] each.
        """
        if layer_idx not in self._stores:
            self._stores[layer_idx] = tuple(
                states.new_zeros(self.count, states.shape[1], self.capacity, states.shape[3])
                for states in (key_states, value_states)
            )
        n, seen = self._slots.shape[0], []
        for store, states in zip(self._stores[layer_idx], (key_states, value_states), strict=True):
            store[self._slots[:, None], :, self._positions] = states[:n].transpose(1, 2)
            selected = store if n == self.count else store.index_select(0, self._slots)
            seen.append(selected[:, :, : self._length])
        return tuple(seen)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0  # positions are passed with each call, so no offset is needed


class Written(NamedTuple):
    """An answer.

    Attributes:
        number: index of its prompt.
        ids: its tokens, including the end token if there is one.
        started: start time (time.perf_counter).
    """

    number: int
    ids: list[int]
    started: float


class Slots:
    """Writes answers with continuous batching.

    Args:
        model: a causal model that `can_write` accepts. It uses `attend` only in the forward passes of this class.
        count: answers at a time, at most WIDTH.
        longest: most tokens of a prompt and its answer together.
        max_tokens: most tokens of an answer.
        stop_ids: ids of the tokens that end an answer.
        sampling: temperature and top_p, see the module `sampling`. Temperature 0 takes the likeliest token.

    Attributes:
        count: number of slots.
        tokens: number of tokens written so far. On a GPU it includes up to STRIDE - 1 tokens per answer that are
            written after its end and discarded.
    """

    def __init__(
        self, model: Any, count: int, *, longest: int, max_tokens: int, stop_ids: set[int], **sampling: float
    ) -> None:
        self.count = count = min(count, WIDTH)
        self.tokens = 0
        self._model, self._stop_ids, self._max_tokens = model, stop_ids, max_tokens
        self._longest, self._sampling = longest, sampling
        self._device = model.get_input_embeddings().weight.device
        on_gpu = self._device.type == "cuda"
        self._graphs: dict[Any, torch.cuda.CUDAGraph] | None = {} if on_gpu and not is_quantised(model) else None
        self._stride = STRIDE if on_gpu else 1
        rows = WIDTH if on_gpu else count
        self._cache = SlotCache(count)
        self._every = self._zeros(count) + torch.arange(count, device=self._device)
        # State of each row: the last token, its position, the number of the answer's tokens so far, the seed, and
        # whether the slot is in use.
        self._tokens, self._positions = self._zeros(rows, 1), self._zeros(rows, 1)
        self._steps, self._seeds, self._busy = self._zeros(rows), self._zeros(rows), self._zeros(rows)
        # The tokens of the last steps, and the column for the next step's tokens.
        self._block, self._column = self._zeros(rows, self._stride), self._zeros(1)
        self._stops = torch.tensor(sorted(stop_ids), device=self._device)
        # Whether tokens are drawn among few candidates first (`draw_among`), and whether these were too few in the
        # last steps. Then the number of blocks of steps, and of those that were repeated with the whole vocabulary.
        self._is_quick, self._missed = sampling["temperature"] > 0 and sampling["top_p"] < 1, self._zeros(1)
        self._blocks = self._again = 0
        # The slot of the prompt that was read last, and its tokens that the cache has.
        self._latest: tuple[int, list[int]] = 0, []
        # Inputs of a reading step: a slot, tokens and their positions. CUDA graphs need them at fixed addresses.
        self._slot, self._chunk, self._chunk_positions = self._zeros(1), self._zeros(1, CHUNK), self._zeros(1, CHUNK)

    def _zeros(self, *shape: int) -> Tensor:
        return torch.zeros(*shape, dtype=torch.int64, device=self._device)

    @torch.inference_mode()
    def write(self, prompts: Sequence[tuple[list[int], int]]) -> Iterator[Written]:
        """Yield the answers to prompts, each as soon as it ends.

        Args:
            prompts: token ids and seed of each prompt.

        Raises:
            torch.OutOfMemoryError: the GPU's memory does not suffice.
        """
        waiting, free, active = deque(enumerate(prompts)), list(range(self.count)), dict[int, Written]()
        while waiting or active:
            while waiting and free:
                slot, (number, (ids, seed)) = free.pop(), waiting.popleft()
                active[slot] = Written(number, [], time.perf_counter())
                self._read(slot, ids, seed)
            last = max(len(prompts[answer.number][0]) + len(answer.ids) for answer in active.values())
            self._write_block(last + self._stride - 1)
            for slot, ids in zip(active.copy(), self._block[list(active)].tolist(), strict=True):
                answer = active[slot]
                self.tokens += len(ids)
                for token in ids:
                    answer.ids.append(token)
                    if token in self._stop_ids or len(answer.ids) == self._max_tokens:
                        # The free slot goes on writing: within its cache, and after what it has read.
                        self._busy[slot], self._positions[slot] = 0, len(prompts[answer.number][0]) - 1
                        free.append(slot)
                        yield active.pop(slot)
                        break

    def _write_block(self, needed: int) -> None:
        """Run a block of writing steps, which see at least `needed` positions.

        If the nucleus of a row does not fit among the candidates, the block is repeated with the whole vocabulary. If
        that happens often, all later blocks use the whole vocabulary from the start.
        """
        state = self._tokens, self._positions, self._steps, self._busy
        before = [tensor.clone() for tensor in state]
        step = self._write_quickly if self._is_quick else self._write_step
        for _ in range(self._stride):
            self._run(step, needed)
        self._blocks += 1
        if self._is_quick and self._missed:
            self._again += 1
            self._missed.zero_()
            for tensor, old in zip(state, before, strict=True):
                tensor.copy_(old)
            for _ in range(self._stride):
                self._run(self._write_step, needed)
            self._is_quick = self._again <= 1 + self._blocks // 8

    def _read(self, slot: int, ids: list[int], seed: int) -> None:
        """Read a prompt into a slot. Its last token is left for the first writing step.

        The chunks with which the prompt read before begins as well are copied from there: computed again, they would be
        the same bit for bit.
        """
        self._slot.fill_(slot)
        last, (source, read) = len(ids) - 1, self._latest
        self._latest = slot, ids[:last]
        shared = 0
        while (end := shared + CHUNK) <= min(last, len(read)) and ids[shared:end] == read[shared:end]:
            shared = end
        if shared and source != slot:
            self._cache.copy(source, slot, shared)
        for start in range(shared, last, CHUNK):
            part = ids[start : min(start + CHUNK, last)]
            if self._graphs is None:
                self._chunk, self._chunk_positions = self._zeros(1, len(part)), self._zeros(1, len(part))
            # Copied without waiting for the GPU.
            self._chunk[0, : len(part)] = torch.tensor(part).to(self._device, non_blocking=True)
            # Unused places of the chunk are written to the position of the last token, which overwrites them later.
            places = torch.arange(start, start + self._chunk.shape[1], device=self._device)
            self._chunk_positions[0] = places.clamp(max=last)
            self._run(self._read_step, start + len(part) + 1)
        self._tokens[slot], self._positions[slot], self._steps[slot], self._seeds[slot] = ids[-1], last, 0, seed
        self._busy[slot] = 1

    def _read_step(self, length: int) -> None:
        self._forward(self._chunk, self._chunk_positions, self._slot, length)

    def _write_step(self, length: int) -> None:
        self._keep(draw(*self._of_row(length), **self._sampling))

    def _write_quickly(self, length: int) -> None:
        tokens, is_whole = draw_among(*self._of_row(length), **self._sampling)
        self._missed |= (~is_whole & (self._busy > 0)).any()
        self._keep(tokens)

    def _of_row(self, length: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return the next token's logits, the seed and the step of each row."""
        return self._forward(self._tokens, self._positions, self._every, length).float(), self._seeds, self._steps

    def _keep(self, tokens: Tensor) -> None:
        """Store the next token of each row.

        An answer that has reached max_tokens continues to the end of the block, but its positions stay within the
        cache.
        """
        self._tokens[:, 0] = tokens
        self._block.index_copy_(1, self._column, self._tokens)
        self._column.add_(1).remainder_(self._stride)
        self._steps.add_(self._busy)
        self._busy.mul_((self._tokens != self._stops).all(1))
        self._positions.add_(self._busy[:, None]).clamp_(max=self._longest - 1)

    def _forward(self, ids: Tensor, positions: Tensor, slots: Tensor, length: int) -> Tensor:
        """Return the logits after the last token of each row, [rows, vocabulary].

        Each token sees the positions of its slot up to its own.
        """
        places = positions[: slots.shape[0]]
        cache = self._cache.at(slots, places, length)
        seen = torch.arange(length, device=self._device) <= places[:, :, None]
        mask = torch.zeros(seen.shape, dtype=self._model.dtype, device=self._device).masked_fill_(~seen, -torch.inf)
        usual = self._model.config._attn_implementation
        self._model.set_attn_implementation(ATTENTION)
        try:
            output = self._model(
                input_ids=ids,
                position_ids=positions,
                attention_mask=mask[:, None],
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            )
        finally:
            self._model.set_attn_implementation(usual)
        return output.logits[:, -1]

    def _run(self, step: Any, needed: int) -> None:
        """Run a step that sees at least the first `needed` positions.

        The cache grows by doubling if it is too small, up to the longest possible answer. On a GPU the step is
        recorded as a CUDA graph the first time, and replayed later.
        """
        most = -(-self._longest // 64) * 64
        room = min(max(GRAIN, 1 << (needed - 1).bit_length()), most)
        if room > self._cache.capacity:
            if self._graphs:
                finish_work(self._device)
                self._graphs.clear()
            self._cache.grow(room)
        length = min(-(-needed // GRAIN) * GRAIN, self._cache.capacity)
        if self._graphs is None:
            step(length)
        elif (graph := self._graphs.get((step, length))) is not None:
            graph.replay()
        else:
            self._graphs[step, length] = self._record(step, length)

    def _record(self, step: Any, length: int) -> torch.cuda.CUDAGraph:
        """Run the step directly, then capture it as a CUDA graph for later. Capturing itself computes nothing.

        Python's garbage collection waits meanwhile: a graph that it destroys during a capture makes the capture fail.
        """
        with torch.cuda.device(self._device):
            current, side = torch.cuda.current_stream(), side_stream(self._device)
            side.wait_stream(current)
            with torch.cuda.stream(side):
                step(length)
            current.wait_stream(side)
            graph, was_on = torch.cuda.CUDAGraph(), gc.isenabled()
            gc.disable()
            try:
                with torch.cuda.graph(graph, stream=side, capture_error_mode="thread_local"):
                    step(length)
            finally:
                if was_on:
                    gc.enable()
        return graph


def finish_work(device: torch.device) -> None:
    """Wait for a GPU, before memory that steps use is let go.

    With expandable segments the allocator waits for the stream that asked for the memory before it returns it to the
    driver. Graphs and the first keys and values get theirs on the side stream, and other streams use it.
    """
    if device.type == "cuda":
        torch.cuda.synchronize(device)


@functools.cache
def side_stream(device: torch.device) -> torch.cuda.Stream:
    """Return the device's stream for capturing CUDA graphs.

    All captures on a device share one stream, because cuBLAS keeps memory for each stream that it has seen.
    """
    return torch.cuda.Stream(device)


def unwrapped(model: Any) -> Any:
    """Return the transformers model inside a peft adapter, or the model itself if there is no adapter."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def is_quantised(model: Any) -> bool:
    """Return True if the model's weights are quantised.

    The kernels for quantised weights may wait for the GPU, which a CUDA graph cannot contain.
    """
    return "quantization_config" in model.config.to_dict()


def can_write(model: Any) -> bool:
    """Return True if `Slots` computes the same as the model itself.

    This holds for dense decoders on one device whose layers attend to all previous positions through transformers'
    attention interface, with rotary embeddings that do not change with the length.
    """
    model = unwrapped(model)
    values = model.config.get_text_config().to_dict()
    layer_type = "sliding_attention" if values.get("sliding_window") else "full_attention"
    rope = values.get("rope_parameters") or values.get("rope_scaling") or {}
    return (
        getattr(model, "_supports_attention_backend", False)
        and not getattr(model, "_is_stateful", False)
        and set(values.get("layer_types") or [layer_type]) == {"full_attention"}
        and not any("expert" in name for name in values)
        and not any(values.get(name) for name in ("attn_logit_softcapping", "is_encoder_decoder"))
        and rope.get("rope_type", rope.get("type")) not in ("dynamic", "longrope")
        and len(set(getattr(model, "hf_device_map", None) or {"": 0}.values())) == 1
    )
