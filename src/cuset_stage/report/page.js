// The list of samples: filters, and the details of a sample unpacked when it is opened. What models and programs wrote is only ever
// put in as text.
"use strict";
(() => {
  const { runs, tasks, verdicts, rows, messages, flags, sets } = JSON.parse(document.getElementById("index").textContent);
  const form = document.getElementById("filters"), list = document.getElementById("list");
  const count = document.getElementById("count"), more = document.getElementById("more");
  const keys = ["run", "verdict", "family", "set", "q"];
  const PAGE = 60;
  const NO_FAILURE = new Set(["passed", "compiled", "not_judged"]);
  const setByKey = new Map(sets.map(set => [set.key, { tasks: new Set(set.tasks), runs: new Set(set.runs) }]));

  function element(name, text, className, ...children) {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  function matches(wanted) {
    const run = runs.findIndex(r => r.name === wanted.run), set = setByKey.get(wanted.set);
    const words = wanted.q.toLowerCase().split(/\s+/).filter(Boolean);
    const told = { failures: i => !NO_FAILURE.has(verdicts[rows[i][3]][0]), suspicious: i => i in flags };
    const within = { flagged: i => tasks[rows[i][0]][3], clean: i => !tasks[rows[i][0]][3] };
    const ofVerdict = told[wanted.verdict] || (i => verdicts[rows[i][3]][0] === wanted.verdict);
    const ofSet = within[wanted.set] || (i => set && set.tasks.has(rows[i][0]) && set.runs.has(rows[i][1]));
    return [...rows.keys()].filter(i => {
      const [t, r, , , , m] = rows[i];
      if ((wanted.run && r !== run) || (wanted.family && tasks[t][2] !== wanted.family)) return false;
      if ((wanted.verdict && !ofVerdict(i)) || (wanted.set && !ofSet(i))) return false;
      const text = words.length ? [...tasks[t], messages[m], flags[i] || ""].join("\n").toLowerCase() : "";
      return words.every(word => text.includes(word));
    });
  }

  let found = [], shown = 0;
  function refresh() { show(matches(Object.fromEntries(keys.map(key => [key, form.elements[key].value])))); }
  function show(these) {
    found = these;
    shown = 0;
    list.replaceChildren();
    const tasksFound = new Set(found.map(i => rows[i][0])).size, whole = value => value.toLocaleString("en");
    count.textContent = found.length ? `${whole(found.length)} of ${whole(rows.length)} samples, on ${tasksFound} of ${tasks.length} tasks`
      : "No sample matches these filters.";
    grow();
  }
  function grow() {
    list.append(...found.slice(shown, shown + PAGE).map(line));
    shown = Math.min(found.length, shown + PAGE);
    more.hidden = shown >= found.length;
    more.textContent = `Show more (${(found.length - shown).toLocaleString("en")} left)`;
  }
  function line(i) {
    const [t, r, number, v, tokens, m] = rows[i];
    const task = element("span", tasks[t][0] === tasks[t][1] ? tasks[t][0] : `${tasks[t][0]} ${tasks[t][1]}`);
    task.title = task.textContent;
    const head = element("summary", null, null, element("span", verdicts[v][1], `chip v-${verdicts[v][0]}`), task, element("span", runs[r].name),
      element("span", `#${number}`, "count"), element("span", (i in flags ? "⚑ " : "") + messages[m], "said"),
      element("span", tokens === null ? "" : `${tokens.toLocaleString("en")} tok`, "count"));
    const made = element("details", null, "sample", head);
    made.addEventListener("toggle", () => { if (made.open && made.children.length === 1) fill(made, i); });
    return made;
  }

  const blocks = new Map(), firstRow = new Map();
  rows.forEach(([t], i) => { if (!firstRow.has(t)) firstRow.set(t, i); });
  async function details(i) {
    const t = rows[i][0];
    if (!blocks.has(t)) {
      const bytes = Uint8Array.from(atob(document.getElementById(`block-${t}`).textContent), c => c.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      blocks.set(t, JSON.parse(await new Response(stream).text()));
    }
    return blocks.get(t)[i - firstRow.get(t)];
  }

  async function fill(made, i) {
    const [t, r, number] = rows[i], box = element("div", "…", "detail");
    made.append(box);
    let d;
    try {
      d = await details(i);
    } catch (error) {
      box.textContent = `This browser cannot unpack the sample (${error.message}); one from 2023 or later can. The code is in results.jsonl.`;
      return;
    }
    const known = value => value !== undefined && value !== null && value !== "";
    const small = value => known(value) ? Number(value.toPrecision(4)) : null;
    const facts = {
      task: tasks[t][0], name: tasks[t][1] === tasks[t][0] ? null : tasks[t][1], family: tasks[t][2], case: d.case,
      "finish reason": d.finish_reason, "prompt tokens": d.prompt_tokens, nvcc: d.compile_cached ? "from the cache" : duration(d.compile_s),
      program: duration(d.run_s), judge: duration(d.overhead_s), "speed-up": small(d.speedup), reference: duration(d.reference_s),
      kernel: duration(d.kernel_s), "largest absolute error": small(d.max_abs_error), "largest relative error": small(d.max_rel_error),
      "code SHA-256": d.code_sha256 && d.code_sha256.slice(0, 12),
    };
    const pairs = Object.entries(facts).filter(([, value]) => known(value));
    box.replaceChildren(element("dl", null, "facts", ...pairs.map(([name, value]) => element("div", null, null, element("dt", name), element("dd", value)))));
    if (tasks[t][3]) box.append(element("p", `The audit found this task's oracle weak: ${tasks[t][3]}`, "mark"));
    if (flags[i]) box.append(element("p", `Suspicion: ${flags[i]}`, "mark"));
    if (!Object.keys(d).length) box.append(element("p", "There is no line for this sample in the results file.", "soft"));
    if (d.message) box.append(element("h4", "Message"), scrollable(element("pre", d.message, "said"), "Message"));
    if (d.cases) box.append(element("h4", "Cases"), caseTable(d.cases));
    if (d.code) {
      const code = highlight(d.code, runs[r].python, wrongLines(d.message || "")), copy = element("button", "Copy");
      copy.type = "button";
      copy.addEventListener("click", async () => {
        try { await navigator.clipboard.writeText(d.code); copy.textContent = "Copied"; } catch { getSelection().selectAllChildren(code); copy.textContent = "Selected"; }
      });
      box.append(element("h4", "Code", null, copy), scrollable(code, "Code"));
      const bad = code.querySelector(".bad");
      if (bad) code.scrollTop = bad.offsetTop - code.clientHeight / 3;
    }
    if (d.answer) {
      const rest = element("details", null, null, element("summary", "Answer (excerpt)"), scrollable(element("pre", d.answer, "said"), "Answer"));
      rest.open = !d.code;
      box.append(rest);
    }
    const all = element("a", "All samples of this task"), self = element("a", "Link to this sample");
    all.href = "#" + new URLSearchParams({ task: tasks[t][0] });
    self.href = "#" + new URLSearchParams({ run: runs[r].name, task: tasks[t][0], sample: number });
    box.append(element("p", null, "soft", all, " · ", self));
  }
  function duration(value) {
    // Three digits that count, in the unit that shows them: 45 µs, 1.23 ms, 2.5 s.
    if (value === undefined || value === null) return null;
    for (const [unit, scale] of [["µs", 1e6], ["ms", 1e3]]) {
      if (value < 0.9995 * 1000 / scale) return `${Number((value * scale).toPrecision(3))} ${unit}`;
    }
    return value < 100 ? `${value.toFixed(2)} s` : `${value.toFixed(0)} s`;
  }
  function scrollable(pre, name) {
    pre.tabIndex = 0;
    pre.setAttribute("role", "region");
    pre.setAttribute("aria-label", name);
    return pre;
  }
  function caseTable(cases) {
    const table = element("table"), classes = ["text", "text", "number", "number", "number"];
    const shownNumber = value => typeof value === "number" ? String(Number(value.toPrecision(4))) : "–";
    const fill = (row, name, texts) => row.append(...texts.map((text, i) => element(name, text, classes[i])));
    fill(table.createTHead().insertRow(), "th", ["case", "verdict", "s", "largest absolute error", "largest relative error"]);
    const body = table.createTBody(), names = new Map(verdicts);
    for (const one of cases) {
      const numbers = [one.run_s, one.max_abs_error, one.max_rel_error].map(shownNumber);
      fill(body.insertRow(), "td", [one.name, names.get(one.verdict) || one.verdict, ...numbers]);
    }
    return table;
  }
  function wrongLines(message) {
    return new Set([...message.matchAll(/\.(?:cu|cpp|cc|py)(?:\((\d+)\)|:(\d+):\d+): (?:fatal |catastrophic )?error/g)].map(m => Number(m[1] || m[2])));
  }

  const WORDS = "alignas alignof asm auto bool break case catch char class const constexpr continue decltype default delete do double else enum explicit extern " +
    "false float for friend goto half if inline int long mutable namespace new noexcept nullptr operator private protected public register return short " +
    "signed sizeof static static_assert static_cast reinterpret_cast const_cast struct switch template this throw true try typedef typename union unsigned " +
    "using virtual void volatile while size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t";
  const PYTHON = "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not " +
    "or pass raise return self True try while with yield";
  const CUDA = "__\\w+__|__(?:syncthreads|syncwarp|shfl|ballot|popc|ldg|expf|fmaf|any|all|activemask|launch_bounds)\\w*|threadIdx|blockIdx|blockDim|gridDim|warpSize|" +
    "dim3|cuda[A-Z]\\w*|atomic[A-Z]\\w*|(?:float|int|double|uint|half|char|uchar|short|long)[234]";
  const NAMES = ["comment", "literal", "string", "macro", "cuda", "word"];
  function pattern(python) {
    const comment = python ? "#[^\\n]*" : "//[^\\n]*|/\\*[^]*?(?:\\*/|(?![^]))";
    const string = (python ? '"""[^]*?(?:"""|(?![^]))|\'\'\'[^]*?(?:\'\'\'|(?![^]))|' : "") + '"(?:\\\\.|[^"\\\\\\n])*"?|\'(?:\\\\.|[^\'\\\\\\n])*\'?';
    const macro = python ? "^[ \\t]*@[^\\n]*" : "^[ \\t]*#[ \\t]*\\w+(?:[ \\t]*<[^>\\n]*>)?";
    return new RegExp(`(${comment})|(\\b\\d[\\w.']*)|(${string})|(${macro})|(<<<|>>>|\\b(?:${CUDA})\\b)|\\b(${(python ? PYTHON : WORDS).replaceAll(" ", "|")})\\b`, "gm");
  }
  function highlight(code, python, wrong) {
    const pre = element("pre", null, "code");
    let number = 0, current, at = 0;
    const open = () => { number += 1; current = element("span", null, wrong.has(number) ? "line bad" : "line"); pre.append(current); };
    const put = (text, kind) => text.split("\n").forEach((part, k) => {
      if (k) { current.append("\n"); open(); }
      if (part) current.append(kind ? element("span", part, `t-${kind}`) : part);
    });
    open();
    for (const match of code.matchAll(pattern(python))) {
      put(code.slice(at, match.index));
      put(match[0], NAMES[match.slice(1).findIndex(part => part !== undefined)]);
      at = match.index + match[0].length;
    }
    put(code.slice(at));
    return pre;
  }

  // A link such as #run=SFT&verdict=mismatch sets the filters, #run=SFT&task=7&sample=0 opens a sample; what is not named is cleared.
  function follow() {
    if (!location.hash.includes("=")) return false;
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const key of keys) form.elements[key].value = asked.get(key) || "";
    if (asked.has("task")) {
      const run = runs.findIndex(r => r.name === asked.get("run"));
      show([...rows.keys()].filter(i => tasks[rows[i][0]][0] === asked.get("task") && (run < 0 || rows[i][1] === run)
        && (!asked.has("sample") || rows[i][2] === Number(asked.get("sample")))));
      if (asked.has("sample") && found.length === 1) list.firstChild.open = true;
    } else refresh();
    document.getElementById("samples").scrollIntoView();
    return true;
  }
  form.hidden = false;
  form.addEventListener("input", refresh);
  form.addEventListener("reset", () => setTimeout(refresh));
  form.addEventListener("submit", event => event.preventDefault());
  more.addEventListener("click", grow);
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
