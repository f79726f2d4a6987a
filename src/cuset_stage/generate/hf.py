"""Sample answers from a Hugging Face model in this process. Imports torch, transformers and peft.

In every run, token counts include the end token and no padding. Only temperature and top_p shape the distribution.
Other sampling settings in the model's generation_config.json (top_k, repetition penalties) are ignored. Each sample
has its own random numbers (`sampling`).

Models that `slots.can_write` accepts use continuous batching, in which the batch does not change a sample (`slots`).
Other models (sliding windows, experts, several GPUs) use `generate` of transformers, one batch at a time. There, batch
size and padding change the rounding of the logits, which in bfloat16 is enough to change a close decision.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers
from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size
from packaging.version import Version
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig, GenerationConfig

from .. import attention
from ..stage.pretrained import check_vocabulary, explained, tokenizer_of, with_adapter, written_beside
from ..tasks.answers_file import Answer
from .plan import Failure, Request
from .prompting import Prompt, Prompter
from .sampling import Draw
from .settings import GenerationError, RecordedSettings
from .slots import Slots, can_write, finish_work, is_quantised, unwrapped


logger = logging.getLogger(__name__)
DTYPE = "dtype" if Version(transformers.__version__) >= Version("4.56") else "torch_dtype"


def resolve_dtype(dtype: str, device: str) -> str:
    """Return the dtype. "auto" is bfloat16 on a GPU that supports it, float16 on an older one, float32 on a CPU."""
    if dtype != "auto":
        return dtype
    if not device.startswith("cuda"):
        return "float32"
    return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float16"


class HFBackend:
    """Samples answers from a model, up to `batch_size` at a time.

    Samples with the longest prompts come first. If memory runs out at all, it then does so at the beginning.

    Args:
        settings: the settings of the answers.
        batch_size: most samples at a time. It is halved for the rest of the run whenever memory runs out.
        device: "cpu", one GPU such as "cuda:1", or "cuda" for all GPUs with the model's layers spread over them.
        trust_remote_code: run code that comes with the model.

    Attributes:
        model: the model, with its adapter.
        slots: the `Slots` in use; None before the first answer, and when batches are generated.
        continuous: whether a sample that ends makes room for the next one (`slots`). Otherwise batches are generated
            one after the other.

    Raises:
        GenerationError: the model, the adapter, the tokenizer or the template cannot be used.
    """

    def __init__(
        self, settings: RecordedSettings, *, batch_size: int, device: str = "cpu", trust_remote_code: bool = False
    ) -> None:
        self.batch_size = batch_size
        self.slots: Slots | None = None
        self._settings = settings
        self._sampling = {"temperature": settings.temperature, "top_p": settings.top_p}
        tokenizer_path = tokenizer_of(settings.model, settings.adapter)
        tokenizer = _load(AutoTokenizer, tokenizer_path, trust_remote_code=trust_remote_code)
        self._prompter = Prompter(tokenizer, template=settings.template, arguments=settings.template_args)
        self.model = self._load_model(device, trust_remote_code)
        self.model.eval()
        check_vocabulary(tokenizer, self.model, settings.model, settings.adapter)
        ends = self._generation_config().eos_token_id
        self._stop_ids = self._prompter.stop_ids | set([ends] if isinstance(ends, int) else ends or [])
        if not self._stop_ids:
            places = "neither its tokenizer nor its generation_config.json"
            raise GenerationError(f"{settings.model}: {places} names an end token.")
        self._pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else min(self._stop_ids)
        # generate() takes all settings that a call leaves open from this object, so it must not hold anything else.
        unwrapped(self.model).generation_config = GenerationConfig(
            do_sample=False,
            max_new_tokens=settings.max_tokens,
            eos_token_id=sorted(self._stop_ids),
            pad_token_id=self._pad_id,
        )
        self.continuous = can_write(self.model)

    def _load_model(self, device: str, trust_remote_code: bool) -> Any:
        """Return the model on its device, with the adapter."""
        settings = self._settings
        if note := attention.switch(device):
            logger.warning(note)
        several = device == "cuda" and torch.cuda.device_count() > 1
        dtype = resolve_dtype(settings.dtype or "auto", device)
        options: dict[str, Any] = {DTYPE: dtype, "device_map": "auto" if several else {"": device}}
        if bits := settings.quantization_bit:
            options["quantization_config"] = _quantization(bits, dtype)
        options |= {"trust_remote_code": trust_remote_code, "output_loading_info": True}
        model, info = _load(AutoModelForCausalLM, settings.model, **options)
        lost = sorted((*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])))
        if lost:  # transformers only warns about these, and initialises them with random numbers
            raise GenerationError(
                f"{settings.model}: {len(lost)} of the model's weights are missing in its files or have another shape, "
                f"such as {lost[0]}: the checkpoint is not complete, or not this model's."
            )
        if settings.adapter is not None:
            adapted = with_adapter(model, settings.adapter)
            return adapted if is_quantised(model) else adapted.merge_and_unload()
        return model

    def _generation_config(self) -> GenerationConfig:
        """Return the generation config that the adapter's training run wrote, or else the model's."""
        for folder in written_beside(self._settings.adapter, self._settings.model):
            file = folder / "generation_config.json"
            if file.is_file():  # transformers takes a damaged one of a model for one that is not there
                with explained(f"{file} cannot be read; copy it again"):
                    return GenerationConfig.from_pretrained(folder)
        return self.model.generation_config

    def replies(self, requests: Sequence[Request]) -> Iterator[Answer | Failure]:
        """Yield one outcome per request, in any order.

        Raises:
            GenerationError: prompt and answer do not fit into the model's context, or the tokenizer does not fit the
                model.
        """
        messages = {request.task: request.messages for request in requests}
        prompts = {task: self._prompter.encode(message) for task, message in messages.items()}
        self._check_lengths(prompts)
        queue = sorted(requests, key=lambda request: -len(prompts[request.task].ids))
        pending = {(request.task, request.sample): request for request in queue}
        write = self._write_continuously if self.continuous else self._write_batches
        while pending:
            try:
                for answer in write(list(pending.values()), prompts):
                    yield answer
                    del pending[answer.task, answer.sample]
                return
            except RuntimeError as error:
                if not should_reduce_batch_size(error):
                    raise
                shortage = str(error).splitlines()[0]
            # Outside of the except block, because the traceback keeps the tensors alive.
            finish_work(self.model.get_input_embeddings().weight.device)
            clear_device_cache(garbage_collection=True)
            tried = min(self.batch_size, len(pending))
            if tried > 1:
                self.batch_size = tried // 2
                logger.warning(f"Memory ran out with {tried} samples in a batch: going on with {self.batch_size}.")
            else:
                message = f"memory ran out with one sample in a batch; lower max_tokens ({shortage})"
                yield Failure(pending.pop(next(iter(pending))), message)

    def _write_continuously(self, requests: list[Request], prompts: dict[str, Prompt]) -> Iterator[Answer]:
        self.slots = slots = Slots(
            self.model,
            min(self.batch_size, len(requests)),
            longest=max(len(prompts[request.task].ids) for request in requests) + self._settings.max_tokens,
            max_tokens=self._settings.max_tokens,
            stop_ids=self._stop_ids,
            **self._sampling,
        )
        for written in slots.write([(prompts[request.task].ids, request.seed) for request in requests]):
            request = requests[written.number]
            seconds = time.perf_counter() - written.started
            yield self._answer(request, prompts[request.task], written.ids, seconds, slots.count)

    @torch.inference_mode()
    def _write_batches(self, requests: list[Request], prompts: dict[str, Prompt]) -> Iterator[Answer]:
        for begin in range(0, len(requests), self.batch_size):
            batch, started = requests[begin : begin + self.batch_size], time.perf_counter()
            lines = [prompts[request.task].ids for request in batch]
            width = max(map(len, lines))
            rows = [[self._pad_id] * (width - len(ids)) + ids for ids in lines]
            mask = [[0] * (width - len(ids)) + [1] * len(ids) for ids in lines]
            device = self.model.get_input_embeddings().weight.device
            output = self.model.generate(
                input_ids=torch.tensor(rows, device=device),  # [batch, width]
                attention_mask=torch.tensor(mask, device=device),
                logits_processor=[Draw([request.seed for request in batch], width, **self._sampling)],
            )
            seconds = time.perf_counter() - started
            for request, ids in zip(batch, output[:, width:].tolist(), strict=True):
                end = next((index for index, token in enumerate(ids, 1) if token in self._stop_ids), None)
                yield self._answer(request, prompts[request.task], ids[:end], seconds, len(batch))

    def _answer(self, request: Request, prompt: Prompt, ids: list[int], seconds: float, batch_size: int) -> Answer:
        """Return an answer. `ids` are its tokens, with the end token if there is one."""
        ended = ids[-1] in self._stop_ids
        device = self.model.get_input_embeddings().weight.device
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
        return Answer(
            request.task,
            request.sample,
            answer=prompt.opened + self._prompter.decode(ids[:-1] if ended else ids),
            tokens=len(ids),
            prompt_tokens=len(prompt.ids),
            finish_reason="stop" if ended else "length",
            seconds=round(seconds, 3),
            extra={"batch_size": batch_size, "device": name},
        )

    def _check_lengths(self, encoded: dict[str, Prompt]) -> None:
        """Check that all prompts fit into the model's vocabulary and context. Raises GenerationError."""
        vocabulary = self.model.get_input_embeddings().num_embeddings
        config = self.model.config.get_text_config().to_dict()
        rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
        # With YaRN and the like, the context may be longer than max_position_embeddings says.
        stretched = isinstance(rope, dict) and rope.get("rope_type", "default") != "default"
        context = None if stretched else config.get("max_position_embeddings")
        task, longest = max(encoded.items(), key=lambda item: len(item[1].ids))
        length, limit = len(longest.ids), self._settings.max_tokens
        if (largest := max(max(prompt.ids) for prompt in encoded.values())) >= vocabulary:
            why = "the tokenizer or the template is not the model's"
            raise GenerationError(f"a prompt has token {largest}, the model knows 0 to {vocabulary - 1}: {why}.")
        if context is not None and length + limit > context:
            room = context - length
            fix = f"give max_tokens={room} or less" if room > 0 else "leave it out, or take a model with a longer one"
            raise GenerationError(
                f"task {task!r} has {length} prompt tokens; with max_tokens={limit} that is more than the model's context of "
                f"{context}: {fix}."
            )


def _quantization(bits: int, dtype: str) -> BitsAndBytesConfig:
    """Return the quantisation settings that LLaMA-Factory uses in training."""
    if find_spec("bitsandbytes") is None:
        raise GenerationError(f"quantization_bit={bits} needs bitsandbytes: pip install bitsandbytes")
    if bits == 8:
        return BitsAndBytesConfig(load_in_8bit=True)
    four_bit = {"bnb_4bit_compute_dtype": dtype, "bnb_4bit_use_double_quant": True, "bnb_4bit_quant_type": "nf4"}
    return BitsAndBytesConfig(load_in_4bit=True, **four_bit)


def _load(kind: Any, name: str, **options: Any) -> Any:
    """Call `kind.from_pretrained`, and explain its errors to the user."""
    what, folder = "tokenizer" if kind is AutoTokenizer else "model", Path(name).expanduser()
    fix = "give a folder or a Hub name with config.json, weights and tokenizer"
    with explained(f"cannot load the {what} of {name}; {fix}"):
        return kind.from_pretrained(str(folder) if folder.is_dir() else name, **options)
