// The filters above the samples, and what a sample opens to. What models and programs wrote arrives escaped.
"use strict";
(() => {
  const form = document.getElementById("filters"), count = document.getElementById("count");
  const rows = [...document.querySelectorAll(".sample")], blocks = new Map();

  // A data attribute of a row is one value, or several on lines of their own; `wanted` names those to show.
  function show(wanted) {
    const asked = [...wanted].filter(([key, value]) => key !== "q" && value);
    const words = (wanted.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
    const tasks = new Set();
    const found = rows.filter(row => {
      const has = (key, value) => key in row.dataset && (row.dataset[key] === value || row.dataset[key].split("\n").includes(value));
      let fits = asked.every(([key, value]) => has(key, value));
      if (fits && words.length) {
        const text = [row.firstElementChild.textContent, row.dataset.family, row.dataset.findings].join("\n").toLowerCase();
        fits = words.every(word => text.includes(word));
      }
      row.hidden = !fits;
      if (fits) tasks.add(row.dataset.task);
      return fits;
    });
    const whole = value => value.toLocaleString("en");
    count.textContent = found.length ? `${whole(found.length)} of ${whole(rows.length)} samples, on ${whole(tasks.size)} tasks`
      : "No sample matches these filters.";
    return found;
  }

  async function unpack(block) {
    const bytes = Uint8Array.from(atob(document.getElementById(`block-${block}`).textContent), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return (await new Response(stream).text()).split("<hr>");
  }
  async function fill(row) {
    const box = document.createElement("div"), [block, at] = row.dataset.at.split(".");
    box.className = "detail";
    row.append(box);
    try {
      if (!blocks.has(block)) blocks.set(block, unpack(block));
      box.innerHTML = (await blocks.get(block))[at];
    } catch (error) {
      box.textContent = `This browser cannot unpack the sample (${error.message}); one from 2024 or later can. The code is in results.jsonl.`;
    }
    const code = box.querySelector(".code");
    if (!code) return;
    highlight(code);
    const copy = box.querySelector(".copy"), wrong = code.querySelector(".wrong");
    copy.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(code.textContent); copy.textContent = "Copied"; } catch { getSelection().selectAllChildren(code); copy.textContent = "Selected"; }
    });
    if (wrong) code.scrollTop = wrong.offsetTop - code.clientHeight / 3;
  }

  // Of C++ and of Python, in HTML, where < and > are entities: comment, number, string, macro, CUDA, word.
  const WORDS = "alignas alignof and as assert async auto await bool break case char class const constexpr continue decltype def default del delete do double elif else " +
    "enum except extern finally float for friend from global goto if import in inline int is lambda long namespace new noexcept None not nullptr operator or pass private " +
    "protected public raise register return self short signed sizeof static static_assert static_cast reinterpret_cast const_cast struct switch template this throw " +
    "[Tt]rue [Ff]alse try typedef typename union unsigned using virtual void volatile while with yield size_t u?int\\d+_t";
  const CUDA = "__\\w+|threadIdx|blockIdx|blockDim|gridDim|warpSize|dim3|cuda[A-Z]\\w*|atomic[A-Z]\\w*|(?:float|int|double|uint|half|char|uchar|short|long)[234]";
  const END = "$(?![^])", QUOTED = `"(?:\\\\.|[^"\\\\\\n])*"?|'(?:\\\\.|[^'\\\\\\n])*'?`, LONG = `"""[^]*?(?:"""|${END})|'''[^]*?(?:'''|${END})|`;
  const TOKENS = [
    [`//[^\\n]*|/\\*[^]*?(?:\\*/|${END})`, QUOTED, "^[ \\t]*#[ \\t]*\\w+(?:[ \\t]*&lt;.*?&gt;)?"],
    ["#[^\\n]*", LONG + QUOTED, "^[ \\t]*@[^\\n]*"],
  ].map(([comment, string, macro]) => new RegExp(
    `(${comment})|(\\b\\d[\\w.']*)|(${string})|(${macro})|(&lt;&lt;&lt;|&gt;&gt;&gt;|\\b(?:${CUDA})\\b)|\\b(${WORDS.replaceAll(" ", "|")})\\b`, "gm"));
  const NAMES = ["comment", "literal", "string", "macro", "cuda", "word"];
  function highlight(pre) {
    const wrong = new Set(pre.dataset.wrong.split(" ")), code = pre.firstElementChild;
    const marked = code.innerHTML.replace(TOKENS[pre.dataset.python], (token, ...groups) => {
      const name = NAMES[groups.slice(0, 6).findIndex(Boolean)];
      return token.split("\n").map(part => `<span class="t-${name}">${part}</span>`).join("\n");
    });
    const lines = marked.split("\n").map((line, i) => `<span class="line${wrong.has(String(i + 1)) ? " wrong" : ""}">${line}\n</span>`);
    code.innerHTML = lines.join("");
  }

  // A link such as #run=SFT&verdict=mismatch sets the filters, #run=SFT&task=7&sample=0 opens a sample; what is not named is cleared.
  function follow() {
    if (!location.hash.includes("=")) return false;
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const field of form.elements) if (field.name) field.value = asked.get(field.name) || "";
    const found = show(asked);
    if (asked.has("sample") && found.length === 1) found[0].open = true;
    document.getElementById("samples").scrollIntoView();
    return true;
  }
  const refresh = () => show(new FormData(form));
  for (const row of rows) row.addEventListener("toggle", () => { if (row.open && row.children.length === 1) fill(row); });
  form.hidden = false;
  form.addEventListener("input", refresh);
  form.addEventListener("reset", () => setTimeout(refresh));
  form.addEventListener("submit", event => event.preventDefault());
  addEventListener("hashchange", follow);
  document.addEventListener("click", event => {
    // The same link twice changes no fragment.
    const link = event.target.closest('a[href*="="]');
    if (link && link.hash === location.hash) follow();
  });
  if (!follow()) {
    form.elements.verdict.value = "failures";
    refresh();
  }
})();
