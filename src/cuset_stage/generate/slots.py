"""Continuous batching whose arithmetic never changes shape. Imports torch and transformers.

An answer lives in one of `count` slots of a static cache; as soon as it ends, the next prompt takes its slot. Two kinds of steps are ever
computed: reading CHUNK tokens of one prompt, and writing one token in every slot. On a GPU both always have the same shape, so a sample's
logits depend on neither its neighbours, its slot, the order nor `count`, bit for bit: a writing step has WIDTH rows, used or not,
and libraries choose their kernels by shape. That is also why a GPU can replay each step as one CUDA graph.

transformers has the parts, but not together with seeds: `generate_batch` tells a logits processor neither which request a row is nor how
far it has come, and computes batches of changing shapes; `generate` with a static cache keeps a batch until its last answer ends.
"""

import functools
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
CHUNK = 512  # tokens of a prompt in one step
WIDTH = 128  # rows of a writing step on a GPU
STRIDE = 8  # writing steps on a GPU between two looks at their tokens
GRAIN = 512  # steps attend to a multiple of so many positions; the cache has room for so many at first


def attend(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor, **options: Any
) -> tuple[Tensor, None]:
    """Attention of queries [rows, heads, tokens, size] to keys and values [slots, key heads, length, size], slots <= rows.

    The heads that share a key head become its queries: so keys are not repeated, and one kernel serves every shape. It goes through the
    keys of a head in order, in one thread block: neither rows nor masked keys behind the last one change a bit. Rows without a slot
    get zeros. attention_mask: [slots, 1, tokens, length], added to the scores. options: scaling, and what is not used.

    Returns:
        [rows, tokens, heads, size] and None, as transformers' attention functions do.
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
    """Keys and values of `count` slots, [count, key heads, capacity, size] a layer.

    `at` says where the next forward pass writes and what it sees. Only `update` of transformers' caches is used here: the mask comes ready.
    """

    def __init__(self, count: int) -> None:
        # Not the parent's, whose arguments changed with every release: it makes layers, which are not used.
        self.layers: list[Any] = []
        self.count = count
        self.capacity = 0
        self._stores: dict[int, tuple[Tensor, Tensor]] = {}

    def grow(self, capacity: int) -> None:
        """More positions; what is there stays. Memory for a layer is taken and given back before the next one's."""
        for layer, stores in self._stores.items():
            self._stores[layer] = tuple(pad(store, (0, 0, 0, capacity - self.capacity)) for store in stores)
        self.capacity = capacity

    def at(self, slots: Tensor, positions: Tensor, length: int) -> "SlotCache":
        """slots: [n], int64; positions: [n, tokens] where they are written; the first `length` positions are seen."""
        self._slots, self._positions, self._length = slots, positions, length
        return self

    def update(self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any) -> Any:
        """Write [rows, key heads, tokens, size] of the first rows; keys and values of their slots as far as they are seen."""
        if layer_idx not in self._stores:
            self._stores[layer_idx] = tuple(
                states.new_zeros(self.count, states.shape[1], self.capacity, states.shape[3])
                for states in (key_states, value_states)
            )
        n, seen = self._slots.shape[0], []
        for store, states in zip(self._stores[layer_idx], (key_states, value_states), strict=True):
            store[self._slots[:, None], :, self._positions] = states[:n].transpose(1, 2)
            mine = store if n == self.count else store.index_select(0, self._slots)
            seen.append(mine[:, :, : self._length])
        return tuple(seen)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0  # positions are given with each call


class Written(NamedTuple):
    """The answer to prompts[number]: its tokens, the end token included if there is one, and when it was begun (time.perf_counter)."""

    number: int
    ids: list[int]
    started: float


class Slots:
    """Writes answers in slots.

    Args:
        count: answers at a time; WIDTH at most.
        model: a causal model that `can_write` accepts; only its own forward passes here use `attend`.
        longest: prompt tokens and answer tokens together, at most.
        sampling: temperature and top_p, see the module `sampling`; temperature 0 takes the likeliest token.

    Attributes:
        tokens: how many have been written, on a GPU up to STRIDE - 1 more an answer than it has.
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
        # Of each row: the last token, its position, the answer's tokens so far, the seed, and whether the slot is in use.
        self._tokens, self._positions = self._zeros(rows, 1), self._zeros(rows, 1)
        self._steps, self._seeds, self._busy = self._zeros(rows), self._zeros(rows), self._zeros(rows)
        # The tokens of the last steps, and where the next ones go.
        self._block, self._column = self._zeros(rows, self._stride), self._zeros(1)
        self._stops = torch.tensor(sorted(stop_ids), device=self._device)
        # Whether tokens are drawn among few candidates, and whether these were too few in the last steps. Blocks of steps so far, and of
        # these the ones that were written again with the whole vocabulary.
        self._is_quick, self._missed = sampling["temperature"] > 0 and sampling["top_p"] < 1, self._zeros(1)
        self._blocks = self._again = 0
        # What a reading step reads: a slot, tokens and their positions.
        self._slot, self._chunk, self._chunk_positions = self._zeros(1), self._zeros(1, CHUNK), self._zeros(1, CHUNK)

    def _zeros(self, *shape: int) -> Tensor:
        return torch.zeros(*shape, dtype=torch.int64, device=self._device)

    @torch.inference_mode()
    def write(self, prompts: Sequence[tuple[list[int], int]]) -> Iterator[Written]:
        """The answers to prompts (token ids and seed), each as soon as it ends. Raises torch.OutOfMemoryError."""
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
                        self._busy[slot] = 0
                        free.append(slot)
                        yield active.pop(slot)
                        break

    def _write_block(self, needed: int) -> None:
        """`stride` writing steps. If the nucleus of a row was wider than the candidates, the block is written again with the whole
        vocabulary, and if that happens often, so is all that follows."""
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
        """Put a prompt into a slot. Its last token is left for the first writing step."""
        self._slot.fill_(slot)
        last = len(ids) - 1
        for start in range(0, last, CHUNK):
            part = ids[start : min(start + CHUNK, last)]
            if self._graphs is None:
                self._chunk, self._chunk_positions = self._zeros(1, len(part)), self._zeros(1, len(part))
            # Without waiting for the GPU.
            self._chunk[0, : len(part)] = torch.tensor(part).to(self._device, non_blocking=True)
            # What is left of the chunk goes where the last token will be written over it.
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
        return self._forward(self._tokens, self._positions, self._every, length).float(), self._seeds, self._steps

    def _keep(self, tokens: Tensor) -> None:
        """The next token of each row. An answer of max_tokens goes on to the end of a block, but not beyond its cache."""
        self._tokens[:, 0] = tokens
        self._block.index_copy_(1, self._column, self._tokens)
        self._column.add_(1).remainder_(self._stride)
        self._steps.add_(self._busy)
        self._busy.mul_((self._tokens != self._stops).all(1))
        self._positions.add_(self._busy[:, None]).clamp_(max=self._longest - 1)

    def _forward(self, ids: Tensor, positions: Tensor, slots: Tensor, length: int) -> Tensor:
        """Logits behind the last token of each row, [rows, vocabulary]; each token sees the positions of its slot up to its own."""
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
        """A step that sees at least the first `needed` positions. The cache grows by doubling, to all that there can be at most."""
        most = -(-self._longest // 64) * 64
        room = min(max(GRAIN, 1 << (needed - 1).bit_length()), most)
        if room > self._cache.capacity:
            if self._graphs:
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
        """Compute this step as it is, then capture it for those to come; capturing computes nothing."""
        with torch.cuda.device(self._device):
            current, side = torch.cuda.current_stream(), side_stream(self._device)
            side.wait_stream(current)
            with torch.cuda.stream(side):
                step(length)
            current.wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=side, capture_error_mode="thread_local"):
                step(length)
        return graph


@functools.cache
def side_stream(device: torch.device) -> torch.cuda.Stream:
    """One a device for what is captured: cuBLAS keeps memory for each stream it has seen."""
    return torch.cuda.Stream(device)


def unwrapped(model: Any) -> Any:
    """The model of transformers below an adapter of peft, or the model."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def is_quantised(model: Any) -> bool:
    """Whether its weights are quantised: their kernels may wait for the GPU, which no CUDA graph can hold."""
    return "quantization_config" in model.config.to_dict()


def can_write(model: Any) -> bool:
    """Whether `Slots` computes what the model does.

    That is so for dense decoders on one device whose layers attend to everything before, through transformers' attention
    interface, with rotary embeddings that do not change with the length.
    """
    model = unwrapped(model)
    values = model.config.get_text_config().to_dict()
    kinds = values.get("layer_types") or ["sliding_attention" if values.get("sliding_window") else "full_attention"]
    rope = values.get("rope_parameters") or values.get("rope_scaling") or {}
    return (
        getattr(model, "_supports_attention_backend", False)
        and not getattr(model, "_is_stateful", False)
        and set(kinds) == {"full_attention"}
        and not any("expert" in name for name in values)
        and not any(values.get(name) for name in ("attn_logit_softcapping", "is_encoder_decoder"))
        and rope.get("rope_type", rope.get("type")) not in ("dynamic", "longrope")
        and len(set(getattr(model, "hf_device_map", None) or {"": 0}.values())) == 1
    )
