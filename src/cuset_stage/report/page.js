// The list of samples: filters, and the details of a sample unpacked when it is opened. What models and programs wrote is only ever
// put in as text.
"use strict";
(() => {
  const index = JSON.parse(document.getElementById("index").textContent);
  const { runs, tasks, verdicts, rows, messages, flags, sets } = index;
  const form = document.getElementById("filters"), list = document.getElementById("list");
  const count = document.getElementById("count"), more = document.getElementById("more");
  const keys = ["run", "verdict", "family", "set", "q"];
  const PAGE = 60;
  const NO_FAILURE = new Set(["passed", "compiled", "not_judged"]);

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    if (className) made.className = className;
    return made;
  }
  function option(select, value, text) {
    const made = element("option", text);
    made.value = value;
    select.append(made);
  }
  const present = new Set(rows.map(row => row[3]));
  for (const run of runs) option(form.elements.run, run.name, run.name);
  verdicts.forEach(([key, text], i) => { if (present.has(i)) option(form.elements.verdict, key, text); });
  for (const family of [...new Set(tasks.map(task => task[2]))].sort()) option(form.elements.family, family, family);
  if (tasks.some(task => task[3])) {
    option(form.elements.set, "flagged", "flagged by the audit");
    option(form.elements.set, "clean", "not flagged by the audit");
  }
  for (const set of sets) {
    set.members = new Set(set.tasks);
    option(form.elements.set, set.key, `${set.name}: ${set.tasks.length}`);
  }
  form.hidden = false;

  function matches(wanted) {
    const run = runs.findIndex(r => r.name === wanted.run), set = sets.find(s => s.key === wanted.set);
    const words = wanted.q.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = tasks.map(task => `${task[0]}\n${task[1]}\n${task[2]}\n${task[3]}`.toLowerCase());
    const said = messages.map(message => message.toLowerCase());
    return rows.map((_, i) => i).filter(i => {
      const [t, r, , v, , m] = rows[i];
      if (wanted.run && r !== run) return false;
      if (wanted.family && tasks[t][2] !== wanted.family) return false;
      if (wanted.verdict === "failures" ? NO_FAILURE.has(verdicts[v][0]) : wanted.verdict === "suspicious" ? !(i in flags)
        : wanted.verdict && verdicts[v][0] !== wanted.verdict) return false;
      if (wanted.set === "flagged" ? !tasks[t][3] : wanted.set === "clean" ? tasks[t][3]
        : wanted.set && !(set && set.members.has(t) && set.runs.includes(r))) return false;
      return words.every(word => texts[t].includes(word) || said[m].includes(word) || (flags[i] || "").toLowerCase().includes(word));
    });
  }

  let found = [], shown = 0;
  function wanted() { return Object.fromEntries(keys.map(key => [key, form.elements[key].value])); }
  function refresh() { show(matches(wanted())); }
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
    for (const i of found.slice(shown, shown + PAGE)) list.append(line(i));
    shown = Math.min(found.length, shown + PAGE);
    more.hidden = shown >= found.length;
    more.textContent = `Show more (${(found.length - shown).toLocaleString("en")} left)`;
  }
  function line(i) {
    const [t, r, number, v, tokens, m] = rows[i];
    const made = element("details", null, "sample"), head = element("summary");
    const task = element("span", tasks[t][0] === tasks[t][1] ? tasks[t][0] : `${tasks[t][0]} ${tasks[t][1]}`);
    task.title = task.textContent;
    const said = element("span", (i in flags ? "⚑ " : "") + messages[m], "said");
    head.append(element("span", verdicts[v][1], `chip v-${verdicts[v][0]}`), task, element("span", runs[r].name), element("span", `#${number}`, "count"),
      said, element("span", tokens === null ? "" : `${tokens.toLocaleString("en")} tok`, "count"));
    made.append(head);
    made.addEventListener("toggle", () => { if (made.open && made.children.length === 1) fill(made, i); });
    return made;
  }

  const blocks = new Map();
  async function block(t) {
    if (!blocks.has(t)) {
      const bytes = Uint8Array.from(atob(document.getElementById(`block-${t}`).textContent), c => c.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      blocks.set(t, JSON.parse(await new Response(stream).text()));
    }
    return blocks.get(t);
  }
  const firstRow = new Map();
  rows.forEach(([t], i) => { if (!firstRow.has(t)) firstRow.set(t, i); });

  async function fill(made, i) {
    const [t, r, number] = rows[i], box = element("div", "…", "detail");
    made.append(box);
    let d;
    try {
      d = (await block(t))[i - firstRow.get(t)];
    } catch (error) {
      box.textContent = `This browser cannot unpack the sample (${error.message}); one from 2023 or later can. The code is in results.jsonl.`;
      return;
    }
    box.textContent = "";
    const facts = element("dl", null, "facts");
    const fact = (name, value) => {
      if (value === undefined || value === null || value === "") return;
      const pair = element("div");
      pair.append(element("dt", name), element("dd", String(value)));
      facts.append(pair);
    };
    const time = value => value === undefined || value === null ? null : duration(value);
    const small = value => value === undefined || value === null ? null : Number(value.toPrecision(4));
    fact("task", tasks[t][0]); fact("name", tasks[t][1] === tasks[t][0] ? null : tasks[t][1]); fact("family", tasks[t][2]);
    fact("case", d.case);
    fact("finish reason", d.finish_reason); fact("prompt tokens", d.prompt_tokens);
    fact("nvcc", d.compile_cached ? "from the cache" : time(d.compile_s)); fact("program", time(d.run_s)); fact("judge", time(d.overhead_s));
    fact("speed-up", small(d.speedup)); fact("reference", time(d.reference_s)); fact("kernel", time(d.kernel_s));
    fact("largest absolute error", small(d.max_abs_error)); fact("largest relative error", small(d.max_rel_error));
    fact("code SHA-256", d.code_sha256 && d.code_sha256.slice(0, 12));
    box.append(facts);
    if (tasks[t][3]) box.append(element("p", `The audit found this task's oracle weak: ${tasks[t][3]}`, "mark"));
    if (flags[i]) box.append(element("p", `Suspicion: ${flags[i]}`, "mark"));
    if (!Object.keys(d).length) box.append(element("p", "There is no line for this sample in the results file.", "soft"));
    if (d.message) box.append(element("h4", "Message"), scrollable(element("pre", d.message, "said"), "Message"));
    if (d.cases) box.append(element("h4", "Cases"), caseTable(d.cases));
    if (d.code) {
      const head = element("h4", "Code"), copy = element("button", "Copy");
      copy.type = "button";
      const code = highlight(d.code, runs[r].python, wrongLines(d.message || ""));
      copy.addEventListener("click", async () => {
        try { await navigator.clipboard.writeText(d.code); copy.textContent = "Copied"; } catch { getSelection().selectAllChildren(code); copy.textContent = "Selected"; }
      });
      head.append(copy);
      box.append(head, scrollable(code, "Code"));
      const bad = code.querySelector(".bad");
      if (bad) code.scrollTop = bad.offsetTop - code.clientHeight / 3;
    } else if (d.code === null) box.append(element("p", "The code of passed samples is not in this page; it is in the results file.", "soft"));
    if (d.answer) {
      const rest = element("details");
      rest.open = !d.code;
      rest.append(element("summary", "Answer (excerpt)"), scrollable(element("pre", d.answer, "said"), "Answer"));
      box.append(rest);
    }
    const all = element("a", "All samples of this task"), self = element("a", "Link to this sample");
    all.href = "#" + new URLSearchParams({ task: tasks[t][0] });
    self.href = "#" + new URLSearchParams({ run: runs[r].name, task: tasks[t][0], sample: number });
    const end = element("p", null, "soft");
    end.append(all, " · ", self);
    box.append(end);
  }
  function duration(value) {
    // Three digits that count, in the unit that shows them: 45 µs, 1.23 ms, 2.5 s.
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
    const table = element("table"), head = table.createTHead().insertRow();
    for (const name of ["case", "verdict", "s", "largest absolute error", "largest relative error"]) {
      const th = element("th", name, name === "case" || name === "verdict" ? "text" : "number");
      th.scope = "col";
      head.append(th);
    }
    const body = table.createTBody(), shownNumber = value => typeof value === "number" ? String(Number(value.toPrecision(4))) : "–";
    for (const one of cases) {
      const row = body.insertRow(), known = verdicts.find(v => v[0] === one.verdict);
      row.append(element("td", one.name, "text"), element("td", known ? known[1] : one.verdict, "text"), element("td", shownNumber(one.run_s), "number"),
        element("td", shownNumber(one.max_abs_error), "number"), element("td", shownNumber(one.max_rel_error), "number"));
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
  function pattern(python) {
    const comment = python ? "#[^\\n]*" : "//[^\\n]*|/\\*[^]*?(?:\\*/|(?![^]))";
    const string = (python ? '"""[^]*?(?:"""|(?![^]))|\'\'\'[^]*?(?:\'\'\'|(?![^]))|' : "") + '"(?:\\\\.|[^"\\\\\\n])*"?|\'(?:\\\\.|[^\'\\\\\\n])*\'?';
    const macro = python ? "^[ \\t]*@[^\\n]*" : "^[ \\t]*#[ \\t]*\\w+(?:[ \\t]*<[^>\\n]*>)?";
    return new RegExp(`(${comment})|(\\b\\d[\\w.']*)|(${string})|(${macro})|(<<<|>>>|\\b(?:${CUDA})\\b)|\\b(${(python ? PYTHON : WORDS).replaceAll(" ", "|")})\\b`, "gm");
  }
  const NAMES = ["comment", "literal", "string", "macro", "cuda", "word"];
  function highlight(code, python, wrong) {
    const pre = element("pre", null, "code");
    let number = 1, current;
    const open = () => { current = element("span", null, wrong.has(number) ? "line bad" : "line"); pre.append(current); };
    const put = (text, kind) => text.split("\n").forEach((part, k) => {
      if (k) { number += 1; current.append("\n"); open(); }
      if (part) current.append(kind ? element("span", part, `t-${kind}`) : part);
    });
    open();
    let at = 0;
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
      show(rows.map((_, i) => i).filter(i => tasks[rows[i][0]][0] === asked.get("task") && (run < 0 || rows[i][1] === run)
        && (!asked.has("sample") || rows[i][2] === Number(asked.get("sample")))));
      if (asked.has("sample") && found.length === 1) list.firstChild.open = true;
    } else refresh();
    document.getElementById("samples").scrollIntoView();
    return true;
  }
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
