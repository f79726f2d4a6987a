"""Find the reasoning, the fenced blocks and the code in a language model's answer.

The labels (`spans`), the judge and curation all read answers through this package, so the code that is trained on is
the code that is judged. It needs only the standard library. Its time grows linearly with the length of an answer, and
no answer makes it raise. A hostile answer may contain millions of fences and reasoning tags, so only the first
`MARKS_LIMIT` of each are read.

**Reasoning** is not part of the answer.

- It opens with a tag (`REASONING_TAGS`) at the start of a line, or within a line if there was reasoning earlier in the
  answer. It ends at the balancing tag.
- If no tag balances it, two sorts of openings are no longer counted: those within a line, which may be mentions, and
  those directly behind another opening, because the chat template and the model may both have opened the reasoning.
- If this does not find an ending, an ending of another kind is taken, provided that it ends nothing else.
- Without any ending, everything that follows is reasoning that was cut off.
- An ending before any opening closes reasoning that the prompt opened, as the chat templates of DeepSeek-R1 and QwQ
  do. Everything before it is dropped, unless there is a closed block of code before it and no code after it.
- Tags in quotes or backticks are mentions. Tags inside a block that has its own closing fence are code.

**Blocks** open at a line with three or more backticks or tildes. Indentation, list or quote markers and tags may stand
before them, and any info string after them. A block ends

- at a fence of at least as many of the same character, which stands alone, at the end of a line of code, or before
  text ("```</answer>", "``` This kernel ...");
- before a fence that names a language, because the block's own closing fence is then missing;
- at the end of the text, when the answer was cut off.

The next fence may follow the previous one on the same line, even without a space ("``````cuda"). A markdown fence is
not a block, and neither is a longer fence around a block that names its language. Their contents, up to their own
closing fence, are searched for blocks. Two more forms are read: a fence that names its language after other text on
its line, when code follows ("Here it is: ```cpp"), and an answer that starts as code, up to its first fence without an
info string (the prompt opened that block).

**Containers** are the parts that may hold a program. In a block, these are the cells of a notebook (`%%writefile
k.cu`, `%%cuda`) and the here-documents (`cat > k.cu <<EOF`), or the whole block where it has neither. Outside of
blocks, the text is cut where a tag such as `<answer>` or `</code>` opens or closes. Containers outside of blocks count
only if none in a block looks like code.

**The code** (`extract_code`), by the rule `first`, is the first of these that exists:

1. where a whole program is asked for, the first container in a block that defines `main`;
2. the first container in a block that looks like code (`main(` or `__global__` for CUDA, `class ModelNew` for Python);
3. the first container outside of blocks that looks like code, for CUDA from the first line that only code has;
4. the first block that is not tagged as another kind of text;
5. the first block.

In 1 and 2, a container that is tagged as another kind of text (bash, json, output; python for a CUDA task; C++ and
CUDA for a Python task) comes after all others. The rule `last` takes the last one in each of these steps. The rule
`first-any` is CUDABench's own, for comparison with its published numbers. It keeps the reasoning, and takes the text
between the first two runs of three backticks anywhere, without a word that stands directly behind the first run.
"""

from .extract import ExtractRule, extract_code
from .languages import NO_CODE, SHELLS, looks_like_code, starts_as_code
from .reader import read_answer
from .reasoning import REASONING_TAGS, open_reasoning
