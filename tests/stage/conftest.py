import sys
from pathlib import Path
from types import SimpleNamespace

import pytest


sys.path.insert(0, str(Path(__file__).parent))
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


@pytest.fixture(scope="session")
def texts():
    import json

    rows = json.loads((ROOT / "data" / "cuset_kernels_hard.json").read_text())[:100]
    return [value for row in rows for value in row.values() if isinstance(value, str)] + [ANSWER]


@pytest.fixture(scope="session")
def byte_level(texts, load_script):
    return load_script("make_tiny_model").make_tokenizer(texts, 1500)


@pytest.fixture(scope="session")
def sentencepiece_type(texts):
    """A BPE with SentencePiece's habits: a leading space, ▁ for spaces, unknown characters as bytes."""
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
    """A real SentencePiece model behind a tokenizer without offsets."""
    import sentencepiece
    from transformers.models.gpt_sw3.tokenization_gpt_sw3 import GPTSw3Tokenizer

    folder = tmp_path_factory.mktemp("sentencepiece")
    (folder / "text.txt").write_text("\n".join(texts), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text.txt"),
        model_prefix=str(folder / "spiece"),
        vocab_size=1500,
        model_type="bpe",
        byte_fallback=True,
        character_coverage=0.99,
        remove_extra_whitespaces=False,
        normalization_rule_name="identity",
        user_defined_symbols=["\n", "\t"],
        bos_id=1,
        eos_id=2,
        unk_id=0,
        pad_id=3,
        minloglevel=2,
    )
    return GPTSw3Tokenizer(
        str(folder / "spiece.model"), eos_token="</s>", pad_token="<pad>", unk_token="<unk>", bos_token="<s>"
    )


@pytest.fixture
def recipe(tiny_model, tmp_path):
    """Of a short run in this process."""
    recipe = {"stage": "cuset", "model_name_or_path": str(tiny_model), "output_dir": str(tmp_path / "out")}
    recipe |= {"dataset_dir": str(ROOT / "data"), "dataset": "cuset_kernels", "template": "qwen", "do_train": True}
    recipe |= {"finetuning_type": "full", "max_samples": 8, "cutoff_len": 128, "max_steps": 1, "save_strategy": "no"}
    return recipe | {"report_to": "none", "use_cpu": True, "overwrite_cache": True}


@pytest.fixture
def data_args():
    from llamafactory.hparams import DataArguments

    def make(**changes):
        return DataArguments(**{"template": "qwen", "cutoff_len": 2048, **changes})

    return make


@pytest.fixture
def rows():
    """Rows as LLaMA-Factory's converters hand them to a processor."""

    def make(*conversations, system=""):
        columns = {name: [] for name in ("_prompt", "_response", "_system", "_tools", "_images", "_videos", "_audios")}
        for conversation in conversations:
            messages = [
                {"role": "user" if index % 2 == 0 else "assistant", "content": text}
                for index, text in enumerate(conversation)
            ]
            columns["_prompt"].append(messages[:-1])
            columns["_response"].append(messages[-1:])
            columns["_system"].append(system)
            columns["_tools"].append("")
            for name in ("_images", "_videos", "_audios"):
                columns[name].append(None)
        return columns

    return make


@pytest.fixture(scope="session")
def answers():
    return SimpleNamespace(kernel=KERNEL, answer=ANSWER, spans=SPANS)
