// The filters above the samples, and what a sample opens to. What models and programs wrote arrives escaped.
"use strict";
(() => {
  const form = document.getElementById("filters"), count = document.getElementById("count");
  const rows = [...document.querySelectorAll(".sample")], blocks = new Map();

  // A data attribute of a row is one value, or several on lines of their own; `wanted` names those to show.
  function show(wanted) {
    const asked = [...wanted].filter(([key, value]) => key !== "q" && value);
    const words = (wanted.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter(row => {
      const text = [row.firstElementChild.textContent, row.dataset.family, row.dataset.findings].join("\n").toLowerCase();
      const fits = asked.every(([key, value]) => (row.dataset[key] || "").split("\n").includes(value)) && words.every(word => text.includes(word));
      row.hidden = !fits;
      return fits;
    });
    const whole = value => value.toLocaleString("en"), tasks = new Set(found.map(row => row.dataset.task));
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
    const code = box.querySelector(".code"), wrong = box.querySelector(".wrong");
    if (wrong) code.scrollTop = wrong.offsetTop - code.clientHeight / 3;
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
  if (!follow()) {
    form.elements.verdict.value = "failures";
    refresh();
  }
})();
