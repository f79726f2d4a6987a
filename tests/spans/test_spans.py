"""find_spans on hard code: « and » in each case stand around exactly what is labelled."""

import pytest
from marked_spans import check_marks, labelled

from cuset_stage.spans import DEFAULT_KINDS, KERNEL_ALIASES, KINDS, LABEL_VERSION, find_spans


KERNELS = {
    "static, extern C": 'extern "C" static __global__ void k() «{ f(); }»',
    "template": "template <typename T, int N = (3 > 2)>\n__global__ void k(T *a) «{ a[N] = 1; }»",
    "specialisation": "template <> __global__ void k<A<B<int>>>(int *a) «{ *a = 1; }»",
    "return type first": "void __global__ k() «{ f(); }»",
    "attribute": "__attribute__((global)) void k(int n) «{ f(n); }»",
    "attribute, spelled out": "void __attribute__ (( __global__ )) k(int n) «{ f(n); }»",
    "default argument in braces": "__global__ void k(P p = {}, Q q = Q{1}) «{ f(p); }»",
    "requires": "template <class T> requires(N<T> > 1) __global__ void k(T a) «{ f(a); }»",
    "declaration": "__global__ void k(int *a);\nint x[] = {1};",
    "explicit instantiation": "template __global__ void k<float>(float *);\nvoid f() { g(); }",
    "comment between": "__global__ /* { */ void k(int a /* } */) // {\n«{ f(a); }»",
    "braces in literals": "__global__ void k() «{ char c = '}'; char d = '\\''; const char *s = \"}\\\"}\"; f(); }»",
    "a quote around raw code": 'w(path="k.cu", code="__global__ void k(int *a) «{\n printf("}");\n}»\n")',
    "raw string": '__global__ void k() «{ g(R"x(} )" })x"); }»',
    "digit separators": "__global__ void k() «{ f(1'000'000, '}', 0xFF'FF); }»",
    "inline asm": '__global__ void k() «{ asm volatile("{ .reg .b32 r; mov.b32 %0, r; " : "=r"(x)); }»',
    "comment inside belongs": "__global__ void k() «{ // it's }\n f(); }»",
    "in a comment": "// __global__ void k() { f(); }\n/* __global__ void k() { f(); } */ int x;",
    "nested lambda": "__global__ void k() «{ auto g = [&] { f(); }; g(); }»",
    "CRLF and tabs": "__global__ void k()\r\n«{\r\n\tf();\r\n}»\r\n",
    "non-ASCII": "// é 核函数\n__global__ void k() «{ /* 注释 */ f('x'); }»",
    "in a macro": "#define K(n) \\\n  __global__ void n() «{ \\\n f(); \\\n }»\nK(a)\nvoid g() { h(); }",
    "macro for the keyword": "#define KERNEL __global__ void\nKERNEL k(int a) «{ f(a); }»",
    "macro for the head": "#define HEAD(n) \\\n __global__ void n(int a)\nHEAD(k) «{ f(a); }»",
    "macro of a macro": "#define G __global__\n#define K G void\nK k(int a) «{ f(a); }»",
    "known alias": "RAFT_KERNEL k(int a) «{ f(a); }»",
    "alias with arguments": "ROCBLAS_KERNEL(256) k(int a) «{ f(a); }»",
    "brace in another macro": "__global__ void k() «{\n#define OPEN if (x) {\n f();\n}»\nint y;",
    "macro statement before": "REGISTER_KERNEL(k)\n__global__ void k() «{ f(); }»",
    "branches in a body": "__global__ void k() «{\n#if A\n if (x) {\n#else\n if (y) {\n#endif\n f(); }\n}»\nint z;",
    "branches of different depth": "__global__ void k() «{\n#if A\n if (x) {\n#else\n f();\n#endif\n g();\n#if A\n }\n#endif\n}»\nint z;",
    "branches that close": "__global__ void k() «{\n f();\n#ifdef A\n g(); }\n#else\n h(); }»\n#endif\nint z;",
    "branches around heads": "#if A\n__global__ void k(int a) «{\n»#else\n__global__ void k(float a) «{\n#endif\n f(a);\n}»\nint z;",
    "branches that split a head": "__global__ void\n#if A\nk(int a,\n#else\nk(float a,\n#endif\n int n) «{ f(a); }»",
    "a body in each branch": "__global__ void k()\n#if A\n«{ f(); }»\n#else\n«{ g(); }»\n#endif\n",
    "inactive branch": "#if 0\n__global__ void k() «{ f(); }»\n#endif",
    "a brace too few": "__global__ void a()\n«{\n if (x) {\n f();\n}»\n\nvoid h() {\n g();\n}\n\n__global__ void b()\n«{\n g();\n}»\n",
    "a brace too few, on one line": "__global__ void a() «{ if (x) { f(); }»\n__global__ void b() «{ g(); }»",
    "one definition of several": "#ifdef __CUDACC__\n#define K __global__ static\n#elif A\n#define K(x) {\n#else\n#define K static\n#endif\nK void k(int a) «{ f(a); }»",
    "the first definition of several": "#define K __global__\n#undef K\n#define K\nK void k(int a) «{ f(a); }»",
    "a known alias, empty here": "#ifndef CUDA_KERNEL\n#define CUDA_KERNEL\n#endif\nCUDA_KERNEL void h(int a) { f(a); }",
    "a known alias, of the host here": "#define GPU_KERNEL static inline\nGPU_KERNEL void h(int a) { f(a); }",
    "a known alias, a kernel here": "#define DEF_KERNEL(n, o) __global__ void n(T *a) «{ o; }»\nDEF_KERNEL(k, f(a))\n\nint main() { g(); }",
    "a known alias, by another": "#define CUDA_KERNEL RAFT_KERNEL void\nCUDA_KERNEL k(int a) «{ f(a); }»",
    "a known alias that is a kernel elsewhere": "DEF_KERNEL(twice, 2.f)\nDEF_KERNEL(half, .5f)\nint main() { g(); }",
    **{
        f"directive {line}": f"#{line}\nvoid h(int n) {{ g(); }}\n__global__ void k() «{{ f(); }}»"
        for line in (
            "ifndef __global__",
            "ifdef __global__",
            "undef __global__",
            "if !defined(__global__) && \\\n  !defined(CUDA_KERNEL)",
            "elif defined(__global__)",
            'pragma push_macro("a") __global__',
            "pragma omp __global__",
            "include <__global__>",
            "error __global__ is (not) defined {",
            "warning RAFT_KERNEL",
            " line 1 __global__",
            "define H __device__",
        )
    },
    "directives in a body": "__global__ void k() «{\n#ifdef __global__\n f();\n#endif\n#undef CUDA_KERNEL\n#pragma unroll (CUDA_KERNEL) {\n}»\nvoid h() { g(); }",
    **{
        f"no head: {use}": f"{use} }}\nvoid h(int n) {{ g(); }}"
        for use in (
            "switch (x) { case CUTLASS_GLOBAL: if (f(x)) { g(); }",
            "switch (x) { case K::GPU_KERNEL: if (f(x)) { g(); }",
            "enum E { CPU_KERNEL, GPU_KERNEL",
            "enum E { GPU_KERNEL = (1), B",
            "enum class E { GPU_KERNEL, B = f(1)",
            "{ f(x, GPU_KERNEL);",
            "{ f(GPU_KERNEL, g(x));",
            "{ T<GPU_KERNEL> a(x) {",
            "{ T<GPU_KERNEL, 3>::f(x) {",
            "A a = { .GPU_KERNEL = f(1), .b = { 1 }",
            "{ if (x == GPU_KERNEL && f(x)) { g(); }",
            "{ return x ? GPU_KERNEL : f(x);",
            "{ int a[GPU_KERNEL], b = f(1) {",
            "{ x->GPU_KERNEL(1) {",
            "void GPU_KERNEL::run(int x) {",
            "GPU_KERNEL::GPU_KERNEL(int x) {",
            "class GPU_KERNEL f(int x) {",
            "void GPU_KERNEL(int x) {",
            "int GPU_KERNEL = f(x), y {",
        )
    },
    "a tag that holds braces": "__global__ <% if (b) { %>__launch_bounds__(9)<% } %> void k() «{ f(); }»\nvoid h() { g(); }",
    "an empty body": "__global__ void k() «{}»\nvoid h() { g(); }",
    "an empty body, on the line of a function": "__global__ void k(int a) «{}» void h() { g(); }",
    "a placeholder for a body": "__global__ void k(int a) «{BODY}»\nvoid h() { g(); }",
    "a cut head": "__global__ void k(int *a, ",
    **{
        f"cut {where} behind {before!r}": f"{before}__global__ void k(int *a) «{{{body}»"
        for before in ("", "__global__ void a() «{ f(); }»\n", "namespace n {\n")
        for where, body in (
            ("in a body", "\n  if (a) {\n    a[0] = fma("),
            ("in a comment", "\n  // and now {"),
            ("in a string", '\n  printf("abc'),
            ("at the brace", ""),
        )
    },
    "a label in a body": "__global__ void k(int a) «{ switch (a) { case GPU_KERNEL: f<GPU_KERNEL>(a); break; } }»\nvoid h() { g(); }",
}


@pytest.mark.parametrize("text", KERNELS.values(), ids=KERNELS)
def test_kernel_bodies(text):
    check_marks(text, kinds=["kernel_body"])


LAUNCHES = {
    "lines": "k«<<<\n  g,\n  b\n>>>»\n(a);",
    "template argument": "k<T, (N > 1)>«<<<g, b>>>»(a);",
    "nested template": "k<A<B<C>>>«<<<g, b>>>»(a);",
    "shift and ternary": "k«<<<n >> 3, (x > 1) ? 2 : (y >> 4)>>>»(a);",
    "template inside": "k«<<<g, V<C<int>>::v, S<T>>>>»(a);",
    "braces": "k«<<<{1, 2}, dim3{4}>>>»(a);",
    "lambda inside": "k«<<<[&] { return 1; }(), b>>>»(a);",
    "branch inside": "k«<<<g, b\n#ifdef S\n, 0, s\n#endif\n>>>»(a);",
    "comment inside": "k«<<<g /* >>> */, b>>>»(a);",
    "in a macro": "#define RUN(k, ...) \\\n k«<<<g, b>>>» \\\n (__VA_ARGS__)\n",
    "macro callee": "#define RUN k«<<<g, b>>>»(x)\n",
    "macro argument": "CHECK((k«<<<g, b>>>»(a)));",
    "call result": "get(k)«<<<g, b>>>»(a); fs[0]«<<<g, b>>>»(a);",
    "after else": "if (x) f«<<<1, 2>>>»(a); else k«<<<g, b>>>»(a);",
    "in a diff": "-  k«<<<g, b>>>»(a);\n+\tk<T, 1>«<<<g, 2>>>»(a);\n- the k<<<g, b>>>",
    "macro arguments": "k«<<<g, b>>>»ARGUMENTS;",
    "in a comment": "// k<<<g, b>>>(a);\nint x;",
    "in a string": 'printf("k<<<g, b>>>(a);");',
    "conflict marker": "<<<<<<< HEAD\nint a;\n>>>>>>> branch\nint b(c);",
    "no launch": "x = a <<<b;",
    **{
        f"spacing {opening}{closing}": f"k «{opening}g, b{closing}»(a);"
        for opening in ("<< <", "< < < ", "< <<", "<<< ", "<<\n  <", "<<<")
        for closing in (">> >", " > > >", ">>>", " >> >", ">>\n >", "> >>")
    },
    "spacing, templates": "k< T >«<< < g, V< C< int > >::v >> >» (a);",
    "spacing, the kernel on its own line": "k\n  «<< <g, b >> 1 >> >»\n  (a);",
    "shifts": "x = a << b << c; y = a < < b; std::cout << a << (1 < 2) << '<' << b >> c;",
    "operators": "template <class T> S &operator<< <T>(S &s, A<T> >> > a); friend S &operator << <>(S &);",
    "three close templates": "k«<<<1, P<Q<R<int>>>::n, 0, s>>>»(a);",
    "three close templates, then a call": "k«<<<g<A<B<int>>>(), 256>>>»(a);",
    "three close templates, then braces": "k«<<<g<A<B<int>>>{}, 256>>>»(a);",
    "four close templates": "k«<<<g<A<B<C<int>>>>(n), 2>>>»(a); h«<<<3, 4>>>»();",
    "six at the end": "k«<<<g, P<Q<R<int>>>>>>»(a);",
    "spaced templates": "k«<<<P< Q< R<int> > >::n, 2>>>»(a);",
    "comparisons": "k«<<<a<b ? 1 : 2, c < d, e<f>>>»(a);",
    "comparison and templates": "k«<<<n < 9 ? n : 9, P<Q<int>>::n, n >= 3, n <= 3>>>»(a);",
    "in parentheses": "k«<<<(a > b), f(a >> 3, x >>> 1), p->n>>>»(a);",
    "macro around": "#define RUN(k, ...) k«<<<__VA_ARGS__>>>»\n",
    "macro of the configuration": "#ifdef __INTELLISENSE__\n#define ARGS(g, b)\n#else\n#define ARGS(g, b) «<<< g, b >>>»\n#endif\nvoid f() { k ARGS(1, 2)(a); }",
    "macro of the configuration, over lines": "#define ARGS \\\n  «<< <g, \\\n  b>> >»\nint x;",
    "macro that opens": "#define OPEN(k) \\\n  k«<<<grid, \\\n    block»\nvoid f() { OPEN(k)>>>(a); }",
    "placeholders": "{{ k }}«<<<{{ g }}, {{ b }}>>>»(a); ${k}«<<<${g}, 1>>>»(a); @k@«<<<@g@, 1>>>»(a); %(k)s«<<<%(g)s, 1>>>»(a); <%= k %>«<<<1, 2>>>»();",
}


@pytest.mark.parametrize("text", LAUNCHES.values(), ids=LAUNCHES)
def test_launch_configurations(text):
    check_marks(f"void f() {{\n{text}\n}}" if "#" not in text else text, kinds=["launch_config"])


def test_bodies_and_launches_together():
    check_marks("__global__ void k() «{ c«<<<1, 1>>>»(); }»")
    check_marks("void f() { k«<<<dim3(1, 2), n >> (3»")
    check_marks("```cuda\nvoid f() { k«<<<g,\n»```\n")
    for name in KERNEL_ALIASES:
        check_marks(f"{name} void k(int a) «{{ f(a); }}»")


PLACEHOLDERS = "{{ x }}", "{{x}}", "{{{ x }}}", "{{ n // 2 }}", "{{ d['k'] }}", "${x}", "${ n // 2 }", "$x", "{x}", "{x!r:>3}", "{}", "{0}", "%(x)s", "%s", "@x@", "<%= x %>", "{% if x %}y{% else %}z{% endif %}", "{# it is #}x"  # fmt: skip
HEADS = {
    "name": "__global__ void @(float *a)",
    "part of the name": "__global__ void k_@_fast(float *a)",
    "template parameters": "template <typename @>\n__global__ void k(@ *a)",
    "template arguments": "template <> __global__ void k<@, 3>(float *a)",
    "return": "__global__ @ k(float *a)",
    "launch bounds": "__global__ void __launch_bounds__(@, 2) k(float *a)",
    "launch bounds and name": "__global__ __launch_bounds__(@) void @(float *a)",
    "arguments": "__global__ void k(@ *a, @)",
    "before": "@ __global__ void k(float *a)",
    "everywhere": "template <typename @>\n__global__ void __launch_bounds__(@) @(@ *a)\n",
}


@pytest.mark.parametrize("place", HEADS)
@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
@pytest.mark.parametrize("body", ["{ f(a); }", "{\n  a[@] = @;\n}", "{{ if (a) {{ f(); }} }}"])
def test_placeholders_in_a_kernel(placeholder, place, body):
    head, body = HEADS[place].replace("@", placeholder), body.replace("@", placeholder)
    text = f"void g() {{ h(); }}\n{head} {body}\nvoid h() {{ g(); }}\n"
    assert labelled(text) == [body]
    assert labelled(f"```cpp\n{text}```", "kernel_signature") == [head.strip()] or "{" in placeholder


TAGS = {
    "Jinja": ("{% if a %}", "{%- elif b -%}", "{% else %}", "{% endif %}"),
    "Mako": ("% if a < 3:", "% elif b:", "% else:", "% endif"),
    "C": ("#if A", "#elif B", "#else", "#endif"),
}


@pytest.mark.parametrize("tags", TAGS.values(), ids=TAGS)
def test_branches_of_a_template_are_those_of_the_preprocessor(tags):
    first, second, third, last = tags
    heads = f"{first}\n__global__ void k(int a) «{{\n»{second}\n__global__ void k(half a) «{{\n»"
    check_marks(f"int y;\n{heads}{third}\n__global__ void k(float a) «{{\n{last}\n f(a);\n}}»\nint z;")


def test_aliases_of_the_user():
    assert labelled("MY_KERNEL void k(int a) { f(a); }") == []
    for before in ("", "#define MY_KERNEL ANOTHER\n"):
        check_marks(f"{before}MY_KERNEL void k(int a) «{{ f(a); }}»", aliases=("MY_KERNEL",))


ANALYSIS = """
template <typename T>
__global__ void k(T *a) {
  extern __shared__ __align__(16) float s[];
  __shared__ float t[2][2];
  int i = blockIdx.x * blockDim.x + threadIdx.x;  // threadIdx.y
  __syncthreads();
  atomicAdd(&a[i], f(1));
  v += __shfl_down_sync(0xffffffff, v, 16);
  cg::this_grid().sync();
}
__device__ __forceinline__ float sq(float x) { return x * x; }
__device__ int table[2] = {1, 2};
void run(dim3 a, dim3 b) {
  dim3 grid(4, 4), block = dim3(8);
  cudaMalloc(&p, n * sizeof(float));
  k<float><<<grid, block>>>(p);
  cudaLaunchKernel((void *)k<float>, grid, block, args, 0, s);
  hipLaunchKernelGGL((k<float>), dim3(1), dim3(2), 0, 0, p);
  cudaDeviceSynchronize();
}
"""
KIND_CASES = {
    "kernel_signature": ["template <typename T>\n__global__ void k(T *a)"],
    "device_function": ["__device__ __forceinline__ float sq(float x) { return x * x; }"],
    "shared_memory": ["extern __shared__ __align__(16) float s[];", "__shared__ float t[2][2];"],
    "thread_indexing": ["blockIdx.x", "blockDim.x", "threadIdx.x"],
    "synchronization": ["__syncthreads()", "cudaDeviceSynchronize()"],
    "atomic": ["atomicAdd(&a[i], f(1))"],
    "warp_intrinsic": ["__shfl_down_sync(0xffffffff, v, 16)"],
    "memory_api": ["cudaMalloc(&p, n * sizeof(float))"],
    "launch_setup": [
        "dim3 grid(4, 4), block = dim3(8);",
        "cudaLaunchKernel((void *)k<float>, grid, block, args, 0, s)",
        "hipLaunchKernelGGL((k<float>), dim3(1), dim3(2), 0, 0, p)",
    ],
    "launch_config": ["<<<grid, block>>>"],
}


@pytest.mark.parametrize("kind", KIND_CASES)
@pytest.mark.parametrize("wrap", ["{}", "Text.\n```cuda\n{}```\n"])
def test_kinds_of_the_analysis(kind, wrap):
    assert labelled(wrap.replace("{}", ANALYSIS), kind) == KIND_CASES[kind]


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        *(("warp_intrinsic", call) for call in ("__nanosleep(9)", "__uni(p)", "tile.any(p)", "t->match_all(p)")),
        *(
            ("synchronization", call)
            for call in ("bar.arrive_and_wait()", "cg::wait(b)", "cooperative_groups::wait(b)")
        ),
        ("thread_indexing", "block.dim_threads()"),
    ],
)
def test_a_kind_alone_is_found_without_a_kernel_beside_it(kind, call):
    text = f"```cuda\n__device__ void f() {{ {call}; }}\n```"
    assert labelled(text, kind) == labelled(text, kind, "device_function")[1:] == [call]


def test_more_kinds_never_move_the_spans_of_the_paper():
    text = f"{ANALYSIS}\nThen free it:\n```cpp\ncudaFree(p);\n```\n"
    more, paper = find_spans(text, tuple(KINDS)), find_spans(text)
    assert len(paper) == 2 and [span for span in more if span.kind in DEFAULT_KINDS] == paper
    assert {span.kind for span in find_spans(ANALYSIS, tuple(KINDS))} == set(KINDS) and LABEL_VERSION


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kinds": ["kernels"]}, r"'kernels' is not a kind.*kernel_body, launch_config.*mask is"),
        ({"kinds": "kernel_body"}, "a sequence of kinds"),
        ({"aliases": ["a b"]}, "'a b' is not a macro name"),
    ],
)
def test_refusals_name_the_value_and_the_way_out(wrong, message):
    with pytest.raises(ValueError, match=message):
        find_spans("", **wrong)
