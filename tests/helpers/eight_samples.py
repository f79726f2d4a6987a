"""The fixture `eight_samples`: a data set of eight short conversations, used by `tests/invariant` and `tests/real`."""

import pytest
from data_sets import CHAT_TAGS, write_data_set


SNIPPETS = [
    (
        "Add one to each element.",
        "__global__ void add(float* x, int n) {{ int i = threadIdx.x; if (i < n) x[i] += {0}.0f; }}",
    ),
    ("What is a warp?", "Threads that run in step, 32 of them; number {0}."),
    ("Launch it.", "add<<<{0}, 256>>>(x, n);\ncudaDeviceSynchronize();"),
    (
        "Sum a block.",
        "```cuda\n__global__ void sum(float* x) {{\n  __shared__ float s[{0}];\n  s[threadIdx.x] = x[threadIdx.x];\n  __syncthreads();\n}}\n```",
    ),
]


@pytest.fixture(scope="session")
def eight_samples(tmp_path_factory):
    """The folder of the data set `eight`: eight short conversations of different lengths, with and without CUDA code.

    Two of them have two turns. The tests use all eight samples in every optimizer step, however they split them over
    ranks and micro-batches, so the order of the samples cannot matter.
    """
    folder = tmp_path_factory.mktemp("data")
    rows = []
    for number in range(8):
        messages = []
        for turn in range(2 if number in (3, 6) else 1):
            question, answer = SNIPPETS[(number + turn) % len(SNIPPETS)]
            answer = "\n".join([answer.format(number + 1)] * (1 + number % 3))
            messages += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
        rows.append({"messages": messages})
    write_data_set(folder, "eight", rows, formatting="sharegpt", columns={"messages": "messages"}, tags=CHAT_TAGS)
    return folder
