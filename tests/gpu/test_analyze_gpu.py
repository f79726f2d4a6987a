"""Token probabilities on a GPU: in bfloat16 and with 4-bit weights, in batches from the output layer, against each row's own logits."""

import numpy as np
import pytest
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from cuset_stage.analysis.readers import open_reader
from cuset_stage.analysis.requests import ModelRequest
from cuset_stage.analysis.token_probabilities import token_log_probabilities
from cuset_stage.stage.loading import open_tokenizer


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")]


@pytest.fixture(scope="module")
def folder(tiny_model, tmp_path_factory):
    """A wider model, whose logits differ, with the tiny model's tokenizer."""
    path = tmp_path_factory.mktemp("wide")
    tokenizer = open_tokenizer(str(tiny_model))
    torch.manual_seed(0)
    shape = dict(
        hidden_size=512, intermediate_size=1024, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=2
    )
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(tokenizer), tie_word_embeddings=False, **shape)).bfloat16()
    model.lm_head.weight.data *= 20
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@pytest.mark.parametrize("bits", [None, 8, 4])
def test_batches_against_rows(folder, bits):
    if bits:
        pytest.importorskip("bitsandbytes")
    tokenizer = open_tokenizer(str(folder))
    model = open_reader(ModelRequest(model=str(folder), quantization_bit=bits), tokenizer, "cuda:0")
    generator = torch.Generator().manual_seed(0)
    rows = [torch.randint(3, 400, (length,), generator=generator).tolist() for length in (700, 33, 1500, 4, 900)]
    rows = [{"input_ids": ids, "labels": [-100, *ids[1:]]} for ids in rows]
    own = []
    with torch.no_grad():
        for row in rows:
            ids = torch.tensor([row["input_ids"]], device="cuda:0")
            log_p = model(ids, use_cache=False).logits[0, :-1].float().log_softmax(-1)
            own.append(log_p.gather(1, ids[0, 1:, None])[:, 0].cpu().numpy())
    found = list(token_log_probabilities(model, rows))
    own, found = np.concatenate(own), np.concatenate(found)
    assert own.std() > 1
    assert np.abs(found - own).mean() < 0.03 * own.std()  # bfloat16 rounds, and a batch's products in another order
