"""Tokens, and programs without the names they chose."""

import pytest

from cuset_stage.cuda_source import normalised, tokens


def test_tokens_have_kinds_and_places():
    code = 'x+=1.5e-3f; // no\n/* no */ k<<<2, 3>>>(u8"a\\"b", \'c\', R"t()"; )t"); a->b::c'
    found = tokens(code)
    texts = """x|+=|1.5e-3f|;|k|<<<|2|,|3|>>>|(|u8"a\\"b"|,|'c'|,|R"t()"; )t"|)|;|a|->|b|::|c"""
    assert [token.text for token in found] == texts.split("|")
    kinds = [found[at].kind for at in (0, 1, 2, 5, 11, 13, 15)]
    assert kinds == ["word", "sign", "number", "launch", "string", "char", "string"]
    assert all(code.startswith(token.text, token.start) for token in found)


SUM = "__global__ void sum(const float* x, int n) { int i = threadIdx.x; atomicAdd(&x[i], sqrtf(n)); }"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("__global__ void total(const float* in, int count) {\n  // each\n  int at1 = threadIdx.x; atomicAdd(&in[at1], sqrtf(count));\n}", True),
        (SUM.replace("sqrtf", "rsqrtf"), False),
        (SUM.replace("threadIdx.x", "threadIdx.y"), False),
        (SUM.replace("[i]", "[n]"), False),
        (SUM.replace("float", "double"), False),
    ],
)  # fmt: skip
def test_names_comments_and_layout_are_not_compared(other, same):
    assert (normalised(SUM) == normalised(other)) is same


def test_names_of_libraries_stay():
    code = "cg::plus<T>() + mine::plus(v.x, v.mine, F.relu, nn.Linear)"
    expected = "cg :: plus < v0 > ( ) + v1 :: v2 ( v3 . x , v3 . v1 , F . relu , nn . Linear )"
    assert normalised(code) == expected
