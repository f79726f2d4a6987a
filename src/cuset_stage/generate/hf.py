"""Answers from a Hugging Face model in this process. Imports torch, transformers and peft.

What is the same in every run: token counts include the end token and no padding; only temperature and top_p shape the
distribution (top_k, repetition penalties and the like of the model's generation_config.json are left aside); the
random numbers of a sample are its own (`sampling`). What batch size, padding and hardware still change is the rounding
of logits, in bfloat16 enough to turn a close decision.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size
from packaging.version import Version
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from ..stage.pretrained import explained, with_adapter
from ..tasks.answers_file import Answer
from .plan import Failure, Request
from .prompting import Prompt, Prompter
from .sampling import make_processors
from .settings import GenerationError, Settings


logger = logging.getLogger(__name__)
DTYPE = "dtype" if Version(transformers.__version__) >= Version("4.56") else "torch_dtype"


def resolve_device(device: str) -> str:
    """auto: the GPUs when there are any, otherwise the CPU."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise GenerationError(f"device={device}: torch sees no CUDA GPU here; give cpu, or auto.")
    return device


def resolve_dtype(dtype: str, device: str) -> str:
    """auto: bfloat16 on a GPU that has it, float16 on an older one, float32 on the CPU."""
    if dtype != "auto":
        return dtype
    if not device.startswith("cuda"):
        return "float32"
    return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float16"


class HFBackend:
    """Batches of left-padded prompts, longest first, so that memory runs out at the beginning if at all.

    Args:
        batch_size: samples in a batch; halved for the rest of the run whenever memory runs out.
        device: cpu, one GPU such as cuda:1, or cuda: all GPUs, the model's layers spread over them.

    Raises:
        GenerationError: the model, the adapter, the tokenizer or the template cannot be used.
    """

    def __init__(
        self, settings: Settings, *, batch_size: int, device: str = "cpu", trust_remote_code: bool = False
    ) -> None:
        self.batch_size = batch_size
        self._settings = settings
        tokenizer = _load(AutoTokenizer, settings.model, trust_remote_code=trust_remote_code)
        self._prompter = Prompter(
            tokenizer, model=settings.model, template=settings.template, arguments=settings.template_args
        )
        several = device == "cuda" and torch.cuda.device_count() > 1
        self.model, info = _load(
            AutoModelForCausalLM,
            settings.model,
            **{DTYPE: resolve_dtype(settings.dtype or "auto", device)},
            device_map="auto" if several else {"": device},
            trust_remote_code=trust_remote_code,
            output_loading_info=True,
        )
        lost = sorted((*info["missing_keys"], *(key for key, *_ in info["mismatched_keys"])))
        if lost:  # transformers only warns, and goes on with random numbers in their place
            raise GenerationError(
                f"{settings.model}: {len(lost)} of the model's weights are missing in its files or have another shape, "
                f"such as {lost[0]}: the checkpoint is not complete, or not this model's."
            )
        if settings.adapter is not None:
            adapted = with_adapter(self.model, settings.adapter)
            quantised = "quantization_config" in self.model.config.to_dict()
            self.model = adapted if quantised else adapted.merge_and_unload()
        self.model.eval()
        ends = self.model.generation_config.eos_token_id
        self._stop_ids = self._prompter.stop_ids | set([ends] if isinstance(ends, int) else ends or [])
        if not self._stop_ids:
            raise GenerationError(
                f"{settings.model}: neither its tokenizer nor its generation_config.json names an end token."
            )
        self._pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else min(self._stop_ids)
        # generate() fills what a call leaves open from here, so only what is wanted may stand here
        self.model.generation_config = GenerationConfig(
            do_sample=False,
            max_new_tokens=settings.max_tokens,
            eos_token_id=sorted(self._stop_ids),
            pad_token_id=self._pad_id,
        )

    def replies(self, requests: Sequence[Request]) -> Iterator[Answer | Failure]:
        """One outcome a request. Raises GenerationError when prompt and answer do not fit into the model's context."""
        prompts = {request.task: request.messages for request in requests}
        encoded = {task: self._prompter.encode(messages) for task, messages in prompts.items()}
        self._check_lengths(encoded)
        queue = sorted(requests, key=lambda request: -len(encoded[request.task].ids))
        while queue:
            batch, shortage = queue[: self.batch_size], ""
            try:
                outcomes: Sequence[Answer | Failure] = self._run(batch, [encoded[request.task] for request in batch])
            except RuntimeError as error:
                if not should_reduce_batch_size(error):
                    raise
                shortage = str(error).splitlines()[0]
            if shortage:  # outside the except block: the traceback holds the batch's tensors
                clear_device_cache(garbage_collection=True)
                if len(batch) > 1:
                    self.batch_size = len(batch) // 2
                    text = "Memory ran out with %d samples in a batch: going on with %d."
                    logger.warning(text, len(batch), self.batch_size)
                    continue
                message = f"memory ran out with one sample in a batch; lower max_tokens ({shortage})"
                outcomes = [Failure(batch[0], message)]
            yield from outcomes
            del queue[: len(batch)]

    @torch.inference_mode()
    def _run(self, batch: list[Request], prompts: list[Prompt]) -> list[Answer]:
        started = time.perf_counter()
        width = max(len(prompt.ids) for prompt in prompts)
        rows = [[self._pad_id] * (width - len(prompt.ids)) + prompt.ids for prompt in prompts]
        mask = [[0] * (width - len(prompt.ids)) + [1] * len(prompt.ids) for prompt in prompts]
        device = self.model.get_input_embeddings().weight.device
        sampling = {"temperature": self._settings.temperature, "top_p": self._settings.top_p}
        output = self.model.generate(
            input_ids=torch.tensor(rows, device=device),  # [batch, width]
            attention_mask=torch.tensor(mask, device=device),
            logits_processor=make_processors([request.seed for request in batch], width, **sampling),
        )
        seconds = round(time.perf_counter() - started, 3)
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
        replies = []
        for request, prompt, ids in zip(batch, prompts, output[:, width:].tolist(), strict=True):
            end = next((index for index, token in enumerate(ids) if token in self._stop_ids), None)
            reply = Answer(
                request.task,
                request.sample,
                answer=prompt.opened + self._prompter.decode(ids[:end]),
                tokens=len(ids) if end is None else end + 1,
                prompt_tokens=len(prompt.ids),
                finish_reason="length" if end is None else "stop",
                seconds=seconds,
                extra={"batch_size": len(batch), "device": name},
            )
            replies.append(reply)
        return replies

    def _check_lengths(self, encoded: dict[str, Prompt]) -> None:
        vocabulary = self.model.get_input_embeddings().num_embeddings
        config = self.model.config.get_text_config().to_dict()
        rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
        stretched = isinstance(rope, dict) and rope.get("rope_type", "default") != "default"  # YaRN and the like
        context = None if stretched else config.get("max_position_embeddings")
        task, longest = max(encoded.items(), key=lambda item: len(item[1].ids))
        length, limit = len(longest.ids), self._settings.max_tokens
        if (largest := max(max(prompt.ids) for prompt in encoded.values())) >= vocabulary:
            raise GenerationError(
                f"a prompt has token {largest}, the model knows {vocabulary}: the tokenizer or the template is not the model's."
            )
        if context is not None and length + limit > context:
            room = context - length
            fix = f"give max_tokens={room} or less" if room > 0 else "leave it out, or take a model with a longer one"
            raise GenerationError(
                f"task {task!r} has {length} prompt tokens; with max_tokens={limit} that is more than the model's context of "
                f"{context}: {fix}."
            )


def _path(name: str) -> str:
    folder = Path(name).expanduser()
    return str(folder) if folder.is_dir() else name


def _load(kind: Any, name: str, **options: Any) -> Any:
    """kind.from_pretrained, with its errors as a sentence."""
    what = "tokenizer" if kind is AutoTokenizer else "model"
    with explained(
        f"cannot load the {what} of {name}; give a folder or a Hub name with config.json, weights and tokenizer"
    ):
        return kind.from_pretrained(_path(name), **options)
