"""An answer, tokenizers of each sort, and LLaMA-Factory's processors next to ours, for the tests of the stage."""

import copy
import itertools
import json
from pathlib import Path

import make_tiny_model
import numpy as np
import pytest


ROOT = Path(__file__).parent.parent.parent

KERNEL = """__global__ void scale(float* x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { x[i] *= a; }  // größer, 더, 好
}"""
ANSWER = f"""Each thread scales one element; the bound check keeps the tail safe.

```cuda
#include <cuda_runtime.h>

{KERNEL}

int main() {{
    float* x;
    cudaMalloc(&x, 4 * 1000);
    scale<<<(1000 + 255) / 256, 256>>>(x, 2.0f, 1000);
    return 0;
}}
```"""
SPANS = (KERNEL[KERNEL.index("{") :], "<<<(1000 + 255) / 256, 256>>>")


def data_args(**changes):
    """Return LLaMA-Factory's DataArguments with these changed."""
    from llamafactory.hparams import DataArguments

    return DataArguments(**{"template": "qwen", "cutoff_len": 2048, **changes})


def columns_of(*conversations, system=""):
    """Return conversations as columns, in the form in which LLaMA-Factory's converters pass them to a processor."""
    count = len(conversations)
    columns = {"_prompt": [], "_response": [], "_system": [system] * count, "_tools": [""] * count}
    columns |= {name: [None] * count for name in ("_images", "_videos", "_audios")}
    for conversation in conversations:
        roles = itertools.cycle(("user", "assistant"))
        messages = [{"role": next(roles), "content": text} for text in conversation]
        columns["_prompt"].append(messages[:-1])
        columns["_response"].append(messages[-1:])
    return columns


@pytest.fixture(scope="session")
def texts():
    """Texts on which the tokenizers are trained: bundled rows and ANSWER."""
    rows = json.loads((ROOT / "data" / "cuset_kernels_hard.json").read_text())[:100]
    return [value for row in rows for value in row.values() if isinstance(value, str)] + [ANSWER]


@pytest.fixture(scope="session")
def byte_level(texts):
    """A fast byte-level BPE tokenizer, as Qwen's models have."""
    return make_tiny_model.make_tokenizer(texts, 1500)


@pytest.fixture(scope="session")
def sentencepiece_type(texts):
    """A fast BPE tokenizer that behaves like SentencePiece: a leading space, ▁ for spaces, unknown characters as
    bytes.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=1500, special_tokens=special, limit_alphabet=120, show_progress=False)
    tokenizer.train_from_iterator((line for text in texts for line in text.split("\n")), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )


@pytest.fixture(scope="session")
def slow(texts, tmp_path_factory):
    """A slow tokenizer, with a real SentencePiece model, that gives no character offsets."""
    import sentencepiece
    from transformers.models.gpt_sw3.tokenization_gpt_sw3 import GPTSw3Tokenizer

    folder = tmp_path_factory.mktemp("sentencepiece")
    (folder / "text.txt").write_text("\n".join(texts), encoding="utf-8")
    options = {"vocab_size": 1500, "model_type": "bpe", "byte_fallback": True, "character_coverage": 0.99}
    options |= {"remove_extra_whitespaces": False, "normalization_rule_name": "identity", "minloglevel": 2}
    options |= {"user_defined_symbols": ["\n", "\t"], "bos_id": 1, "eos_id": 2, "unk_id": 0, "pad_id": 3}
    files = {"input": str(folder / "text.txt"), "model_prefix": str(folder / "spiece")}
    sentencepiece.SentencePieceTrainer.train(**files, **options)
    return GPTSw3Tokenizer(
        str(folder / "spiece.model"), eos_token="</s>", pad_token="<pad>", unk_token="<unk>", bos_token="<s>"
    )


@pytest.fixture(scope="session")
def processor(byte_level):
    """A function that makes the processor of a data set.

    It takes the label rules (the paper's by default; None for LLaMA-Factory's own processor), a tokenizer, and options
    for DataArguments.
    """
    from llamafactory.data import get_template_and_fix_tokenizer
    from llamafactory.data.mm_plugin import get_mm_plugin
    from llamafactory.data.processor import PackedSupervisedDatasetProcessor, SupervisedDatasetProcessor

    from cuset_stage.stage.processors import LabelRules, labelling, labelling_processor

    paper = LabelRules(("kernel_body", "launch_config"))

    def make(rules=paper, tokenizer=byte_level, **options):
        args = data_args(**options)
        template = copy.copy(get_template_and_fix_tokenizer(tokenizer, args))
        # The other plugins need a model's image processor, even for plain text.
        template.mm_plugin = get_mm_plugin("base")
        processor_class = PackedSupervisedDatasetProcessor if args.packing else SupervisedDatasetProcessor
        plain = processor_class(template, tokenizer, None, args)
        if rules is None:
            return plain
        with labelling(rules):
            return labelling_processor(plain)

    return make


@pytest.fixture
def process(byte_level, processor):
    """A function that runs LLaMA-Factory's processor and ours on the same conversations and returns the tokenizer and
    our rows.

    It checks that our processor leaves LLaMA-Factory's columns as they are, adds exactly its own, and numbers the
    samples of a row 1, 2, 3, ... on supervised tokens alone. The argument `given` holds what the data say about each
    conversation, such as weights. None means that they say nothing.
    """
    from cuset_stage.stage.given import COLUMN
    from cuset_stage.stage.processors import LabelRules

    def run(*conversations, given=None, think_weight=1.0, tokenizer=byte_level, system="", added_tokens=(), **options):
        tokenizer = copy.deepcopy(tokenizer)
        tokenizer.add_tokens(added_tokens, special_tokens=True)
        examples = columns_of(*conversations, system=system)
        usable = columns_of(*(each for each in conversations if each[-1].strip()), system=system)
        theirs = processor(None, tokenizer, **options).preprocess_dataset(usable)
        if given is not None:
            examples[COLUMN] = [each and each.to_text() for each in given]
        rules = LabelRules(("kernel_body", "launch_config"), think_weight=think_weight)
        ours = processor(rules, tokenizer, **options).preprocess_dataset(examples)
        own = {"cuda_mask", "sample_ids"} | ({"token_weights"} if given is not None or think_weight != 1.0 else set())
        assert set(ours) == set(theirs) | own
        for name, column in theirs.items():
            our_column = [value.tolist() if isinstance(value, np.ndarray) else value for value in ours[name]]
            assert our_column == column, name
        for labels, ids in zip(ours["labels"], ours["sample_ids"], strict=True):
            assert np.array_equal(np.array(labels) != -100, ids != 0)
            numbers = ids[ids != 0]
            assert np.array_equal(np.unique(numbers), np.arange(1, numbers.max(initial=0) + 1))  # 1, 2, 3, ...
            assert np.all(np.diff(numbers) >= 0)
        return tokenizer, ours

    return run
