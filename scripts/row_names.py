"""Other names for each row of a program that answers several (standard library only; scripts/build_data.py imports it).

A program answers three to five rows. Were its names the same in all of them, a model would learn them by heart, and would write names from
memory where it never declared them. So names differ from row to row: only the text before tells which one to write.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any


_TYPE = (
    r"(?:__shared__ )?\b(?:(?:unsigned|signed|short|long) )*(?:unsigned|int|float[234]?|double|long|short|char|bool|size_t|u?int\d+_t|auto|dim3|T"
    r"|void|cudaError_t|FILE|(?:std::)?(?:string|[io]fstream|vector<[^;()=]*?>)|(?:[A-Z]\w*)?(?:Buffer|Array)(?:<[^;()=]*?>)?)"
    r"(?: const)?(?: ?[*&]+ ?(?:__restrict__ )?| )"
)
_DECLARED = re.compile(rf"(?P<type>{_TYPE})(?P<name>\w+)(?=(?P<rest>[^;{{]{{0,99}}))|, ?[*&]? ?(?P<next>\w+) ?=(?!=)")
_SEVERAL = re.compile(rf"{_TYPE}\w+(?: ?=[^;(){{}},]+)?((?:, ?[*&]? ?\w+(?: ?=[^;(){{}},]+)?)+);")
_FUNCTION = re.compile(rf"{_TYPE}(\w+) ?\([^;{{}}]*\) ?\{{")
_KERNEL = re.compile(r"__global__ (?:void )?(?:__launch_bounds__ ?\([^)]*\) )?(?:void )?(\w+)")
_STRUCT = re.compile(r"^([ \t]*)(?:struct|class)\b.*?^\1\}", re.MULTILINE | re.DOTALL)
_CONSTANT = re.compile(
    r"^[ \t]*(?:#define[ \t]+(\w+)[ \t]+\S|(?:(?:static|inline|constexpr|const)[ \t]+)+[\w: \t]*?\b(\w+)[ \t]*=)",
    re.MULTILINE,
)
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<text>R"\(.*?\)"|"(?:\\.|[^"\\\n])*")|'(?:\\.|[^'\\\n])+'|\#[ \t]*include[^\n]*"""
    r"""|(?P<name>[A-Za-z_]\w*)|\.?\d(?:[eEpP][+-]|'\w|[\w.])*""",
    re.DOTALL,
)
_BUFFER = re.compile(
    r"(?P<before>h|host|cpu|d|dev|device|gpu)_(?P<right>.+)|(?P<left>.+)_(?P<after>h|host|cpu|d|dev|device|gpu)"
)
_INTEGER = "(?:int|size_t|unsigned|long long) "
BUFFERS = (  # host and device, around a tensor's name
    "h_{} d_{}", "host_{} dev_{}", "{}_host {}_dev", "host_{} device_{}", "cpu_{} gpu_{}", "{}_h {}_d", "{}_cpu {}_gpu", "{}_host {}_device",
)  # fmt: skip
OF_TENSOR = (  # how a declaration looks, what may stand around a tensor's name
    (f"{_INTEGER}@(?!.*sizeof)", "{}_count {}_size {}_elements {}_len n_{} num_{}"), (f"{_INTEGER}@.*sizeof", "{}_bytes bytes_{} {}_nbytes {}_size"),
    ("ifstream @", "in_{} {}_in {}_file fin_{} {}_stream"), ("ofstream @", "out_{} {}_out {}_file fout_{} {}_stream"),
    (r"FILE \* ?@", "{}_file file_{} fp_{} f_{}"),
)  # fmt: skip
ROLES = (  # how every declaration of a name looks, where @ is the name; names that such a variable may have; more that it is known by
    (r"= (?:\(\w+\) ?)?blockIdx\.x \* (?:\(\w+\) ?)?\w+(?:\.x)? \+ threadIdx\.x$", "i idx tid gid thread_id global_id", "?"),
    (r"@ = threadIdx\.x$", "t tid tx thread local_id lid", "?"), (r"@ = blockIdx\.x$", "b bid block_id blk", "?"),
    (r"(?:int|float|double|long) @ = 0(?:\.0?f?)?$", "sum acc total accum running_sum", "s"),
    ("cudaError_t @", "err error status cuda_err rc cuda_status", "e st result code ret"),
    (rf"{_INTEGER}@ = \d+$", "threads block_size threads_per_block num_threads block_threads", "block tpb"),
    (f"{_INTEGER}@ = ", "blocks grid_size num_blocks blocks_per_grid n_blocks", "grid"),
    ("dim3 @", "grid blocks grid_size num_blocks dim_grid", "grid_dim"),
    ("dim3 @", "block threads block_size threads_per_block dim_block", "block_dim"),
    (r"(?:ifstream |FILE \* ?)@", "in fin in_file infile in_stream", "is ifs input src"),
    (r"(?:ofstream |FILE \* ?)@", "out fout out_file outfile out_stream", "os ofs output dst"),
    (r"(?:[io]fstream |FILE \* ?)@", "f file fp fs handle stream", "fh"),
    (r"(?:string ?& ?|char ?\* ?)@ ?[,)]", "path filename file_name fname file_path", "name file"),
    (rf"{_INTEGER}@(?: = (?:\(size_t\) ?)?\w+(?: \* \w+)*$| ?[,)])", "n count num_items elements numel num_elements len total", "size num n_elements"),
    (f"{_INTEGER}@", "bytes nbytes num_bytes size_bytes size_in_bytes total_bytes", "buffer_bytes"),
    (r"int @ = [^,;]*(?:/ 2|>> 1)$", "s stride offset step half", "h d"),
    (r"__shared__ \w+ @ ?\[", "shared smem sdata scratch cache shm buf", "buffer"),
)  # fmt: skip
_KNOWN = [frozenset(f"{names} {known}".split()) for _, names, known in ROLES]
ALIKE = (  # functions, macros and constants that mean the same
    "CHECK CUDA_CHECK CHECK_CUDA CUDA_CALL CUDA_OK CUDA_TRY CK gpuErrchk checkCudaErrors", "DIV_UP CEIL_DIV DIVUP CDIV",
    "check check_cuda cuda_check ensure must verify require", "div_up ceil_div divide_up cdiv", "block_sum block_total block_reduce sum_over_block",
    "warp_sum warp_total warp_reduce", "N COUNT TOTAL NUM_ELEMENTS NUMEL SIZE", "BLOCK THREADS BLOCK_SIZE THREADS_PER_BLOCK NUM_THREADS",
)  # fmt: skip
READERS, WRITERS = "read load fetch slurp from get input", "write save store dump spill to put output"
FILE_NOUNS = "file binary array raw data values bin files vector all floats bytes into vec tensor"
VERBS = (
    "accumulate add advance advect amortize apply assign attend balance ban blend bounce bucketize build calibrate capitalize center centre "
    "check classify clear climb clip collect collide combine compare compose compress compute convert copy correct count cut decide decode "
    "devignette distort divide draw embed evaluate evolve expand factorize fill filter find finish fly follow from gather grade grow halve "
    "hash init integrate interpolate intersect invert join judge keep locate look make map mark match max merge move multiply normalize offer "
    "pack pad parse penalize perturb plant pool prepare present project prolongate radiate rank react reflect relax render repeat respond "
    "restrict restyle reverse rotate round run sample scale scan scatter score select set sharpen shift shoot simulate solve split start step "
    "subtract sum summarize sweep take to trace transfer translate unpack unwrap update walk widen write"
)
RESERVED = "blockDim gridDim threadIdx blockIdx warpSize cudaError index read write signal"


@functools.cache
def cased(name: str, style: str) -> str:
    """A name in snake_case, camelCase, UPPER_CASE or kCamelCase."""
    words = re.findall(r"[A-Z]?[a-z\d]+|[A-Z\d]+(?![a-z])", re.sub(r"^k(?=[A-Z])", "", name))
    if style in ("snake", "upper"):
        return "_".join(words).upper() if style == "upper" else "_".join(words).lower()
    return ("k" + words[0].capitalize() if style == "k" else words[0].lower()) + "".join(
        map(str.capitalize, words[1:])
    )


def plain(name: str) -> str:
    """A size's name without what people add to it: kRows, ROWS and rows are the same."""
    return re.sub(r"^k(?=[A-Z])", "", name).replace("_", "").lower()


def is_code(word: str) -> bool:
    """Whether a word of a comment or a prompt is the name of something rather than English."""
    return not re.fullmatch(r"[A-Z]?[a-z]+|[AI]", word)


def renamed(program: str, names: dict[str, str]) -> str:
    """The program with other names: in code, and in comments where a word is a name beyond doubt; never in strings and includes."""

    def other(token: re.Match[str]) -> str:
        if token["comment"]:
            return re.sub(r"\w+", lambda word: names.get(word[0], word[0]) if is_code(word[0]) else word[0], token[0])
        return names.get(token["name"], token[0])

    return _TOKEN.sub(other, program)


class Names:
    """Other names, in `map`, for what a program declares. Tensors, members and what the prompt hands out or prescribes keep theirs.

    A new name stands nowhere in the program or in the prompt before, so that every renaming can be taken back.
    operation: as scripts/build_data.py reads it. share: the row's number in [0, 1) for a choice, by the name of the choice.
    """

    def __init__(self, program: str, operation: Any, prompt: str, given: str, share: Callable[[str], float]) -> None:
        lines = _TOKEN.sub(lambda token: token[0] if token["name"] or token[0][0] in ".0123456789" else " ", program)
        code = re.sub(r"\s+", " ", lines)
        texts = " ".join(
            token["text"] for token in _TOKEN.finditer(program) if token["text"] and "data/" not in token[0]
        )
        words = set(re.findall(r"\w+", prompt))
        self.map: dict[str, str] = {}
        self.share = share
        self.tensors = [tensor["name"] for tensor in operation.inputs + operation.outputs]
        self.fixed = {"main", *self.tensors, *re.findall(r"\w+", given + texts), *filter(is_code, words)}
        self.fixed |= set(re.findall(r"(?:\.|->|::) ?~?(\w+)", code)) | set(re.findall(r"\b(\w+) ?::", code))
        self.fixed |= {word for body in _STRUCT.finditer(lines) for word in re.findall(r"\w+", body[0])}
        self.taken = {*re.findall(r"\w+", program), *words, *RESERVED.split()}
        self.style = "camel" if share("style") < 0.35 else "snake"
        self.declared: dict[str, list[str]] = {}
        for found in _DECLARED.finditer(code):
            text = f"{found['type']}@{found['rest']}" if found["name"] else ", @"
            self.declared.setdefault(found["name"] or found["next"], []).append(text)
        for name in (name for several in _SEVERAL.findall(code) for name in re.findall(r", ?[*&]? ?(\w+)", several)):
            self.declared.setdefault(name, []).append(", @")
        prescribed = bool(re.search(r"\bh_", prompt))
        if prescribed:
            self.fixed |= {name for name in self.declared if re.match(r"[hd]_", name)}
        self._buffers(code, prescribed)
        self._constants(lines, operation.cases[0])
        self._functions(code, operation.name)
        self._variables(code)

    def _order(self, key: str, options: Iterable[str]) -> list[str]:
        """The options, from the one on that this row's hash chooses."""
        options = list(options)
        first = int(self.share(key) * len(options))
        return [*options[first:], *options[:first]]

    def _choose(self, old: str, options: Iterable[str]) -> None:
        """Give a name the first option that is free, or leave it where that is its own."""
        if old not in self.fixed:
            new = next((new for new in options if new == old or new not in self.taken), old)
            self.fixed.add(old)
            self.taken.add(new)
            if new != old:
                self.map[old] = new

    def _buffers(self, code: str, prescribed: bool) -> None:
        """One convention for the program's host and device buffers: h_ and d_ where the prompt prescribes that."""
        device = set(re.findall(r"cuda(?:Free(?:Async)? ?\(|Malloc ?\( ?(?:\(void ?\*\*\) ?)?&) ?(\w+)", code))
        found = {}
        for name in set(re.findall(r"\b[a-z]\w*", code)) - self.fixed:
            buffer, looks = _BUFFER.fullmatch(cased(name, "snake")), " ".join(self.declared.get(name, ""))
            is_number = re.search(r"(?:^| )(?!auto )\w+ @", looks) or (not looks and buffer and buffer["after"])
            if buffer and (name in device or re.search(r"[*<].*@|Buffer|Array", looks) or not is_number):
                side = buffer["before"] or buffer["after"]
                found[name] = (side[0] in "dg", buffer["left"] or buffer["right"])
        stems = {*self.tensors, *(stem for name, (side, stem) in found.items() if side and name in device)}
        found = {name: (side, stem) for name, (side, stem) in sorted(found.items()) if stem in stems}
        style = "snake" if prescribed else self.style
        for forms in BUFFERS[:1] if prescribed else self._order("buffers", BUFFERS):
            new = {name: cased(forms.split()[side].format(stem), style) for name, (side, stem) in found.items()}
            if len(set(new.values())) == len(new) and all(
                to == old or to not in self.taken for old, to in new.items()
            ):
                for name, to in new.items():
                    self._choose(name, [to])
                return

    def _constants(self, lines: str, sizes: dict[str, int]) -> None:
        """One convention for its constants; macros stay in capitals."""
        style, *_ = self._order("constants", ("upper", "k"))
        for macro, constant in _CONSTANT.findall(lines):
            name = macro or constant
            word = cased(name, "upper")
            if word and name in (word, cased(name, "k")):
                same = next((kind.split() for kind in ALIKE if word in kind.split()), [word])
                if "BLOCK" in same and not re.search(rf"<<<[^;]*,\s*{name}\b", lines):
                    same = [word]
                if re.search("[^SUI]S$", word) and plain(name) in map(plain, sizes):
                    same = [word, f"NUM_{word}"]
                self._choose(name, (cased(one, "upper" if macro else style) for one in self._order("sizes", same)))

    def _functions(self, code: str, operation: str) -> None:
        """Kernels, helpers that read, write, check or sum, and macros of that kind."""
        kernels = list(dict.fromkeys(_KERNEL.findall(code)))
        for name in kernels:
            base = re.sub(r"_kernel$", "", cased(name, "snake"))
            options = [base, f"{base}_kernel", f"{base}_gpu", f"compute_{base}", operation, f"{operation}_kernel"]
            fits = [
                "_" in base, True, "_" in base, base.split("_")[0] not in VERBS.split(), len(kernels) == 1 and "_" in operation, len(kernels) == 1,
            ]  # fmt: skip
            allowed = {option for option, is_fit in zip(options, fits, strict=True) if is_fit}
            self._choose(name, [cased(one, self.style) for one in self._order("kernels", options) if one in allowed])
        for name in re.findall(r"# ?define (\w+)\(", code):
            same = next((kind.split() for kind in ALIKE if name in kind.split()), [])
            self._choose(name, self._order("macros", same))
        on_device = re.findall(r"__device__ [^;{}()]*\b(\w+) ?\(", code)
        for name in dict.fromkeys(_FUNCTION.findall(code)):
            same = next((kind.split() for kind in ALIKE if cased(name, "snake") in kind.split()), [])
            verb, _, noun = cased(name, "snake").partition("_")
            side = (
                (verb in WRITERS.split()) if verb in f"{READERS} {WRITERS}".split() and name not in on_device else None
            )
            if side is not None and noun in ["", *FILE_NOUNS.split()]:
                verbs = [
                    pair.split()[side] for pair in self._order("verbs", ("read write", "load save", "load store"))
                ]
                nouns = self._order("nouns", FILE_NOUNS.split()[:6])
                self._choose(name, [cased(f"{one}_{noun}", self.style) for one in verbs for noun in nouns])
            elif same and ("check" not in same or re.search(rf"void {name} ?\( ?cudaError_t", code)):
                self._choose(name, [cased(one, self.style) for one in self._order("alike", same)])
            self.declared.setdefault(name, []).append("(")

    def _variables(self, code: str) -> None:
        """Variables whose every declaration shows what they are for; then all names that are left, in the row's style."""
        changes = re.findall(r"\b(\w+) ?(?:[-+*/]=|\+\+|--)|(?:\+\+|--) ?(\w+)", code)
        changed = {name for pair in changes for name in pair}
        loops = {*re.findall(r"for \([^=;]*?(\w+) =", code)}
        summed = {*re.findall(r"\b(\w+) ?\+=", code)} - loops
        is_flat = not re.search(r"(?:block|thread)Idx\.y", code)  # else x is no global index
        for name, looks in self.declared.items():
            word = cased(name, "snake")
            for place, (look, names, known) in enumerate(ROLES):
                if word not in _KNOWN[place] and not (known == "?" and len(name) < 3):
                    continue
                fits = name in summed if "acc" in names else not (name in changed and look.startswith(_INTEGER))
                if fits and (is_flat or "gid" not in names) and all(re.search(look, text) for text in looks):
                    if known == "?" and name in loops:  # the place of an element rather than of a thread
                        names = "i j k idx pos"
                    self._choose(name, [cased(one, self.style) for one in self._order(f"role {place}", names.split())])
                    break
            for tensor in self.tensors if "_" in word else ():
                for look, forms in OF_TENSOR:
                    mine = forms.replace("{}", tensor).split()
                    if word in mine and all(re.search(look, text) for text in looks):
                        self._choose(name, [cased(one, self.style) for one in self._order(look, mine)])
        for name in self.declared:
            if re.fullmatch(r"[a-z]+\d*(?:_[a-z\d]+)+|(?!k[A-Z])[a-z]+\d*(?:[A-Z][a-z\d]*)+", name):
                self._choose(name, [cased(name, self.style)])
