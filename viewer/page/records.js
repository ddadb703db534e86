// Bytes: the records of the file, byte by byte, with what the bytes mean.

import { count, failure, h, plural, size } from "./dom.js";
import { Rows } from "./virtual.js";

const height = 22, perRow = 16;

export function records(app) {
  const list = h("div", { class: "list", role: "listbox", tabindex: 0, "aria-label": "Records", onkeydown: listKey, onclick: (e) => choose(e.target.closest("[data-i]")?.dataset.i) });
  const index = new Rows(list, { height: 40, draw: drawList });
  const bytes = h("div", { class: "hex", tabindex: 0, role: "application", "aria-label": "Bytes: arrows move, the meaning is announced", onkeydown: bytesKey });
  const hex = new Rows(bytes, { height, draw: drawBytes });
  const meanings = h("div", { class: "meanings", tabindex: 0, role: "listbox", "aria-label": "Meanings", onkeydown: meaningsKey, onclick: (e) => mark(e.target.closest("[data-m]")?.dataset.m) });
  const lines = new Rows(meanings, { height, draw: drawMeanings });
  const title = h("div", { class: "record-title" });
  const status = h("p", { class: "dim now", role: "status" });
  const problem = h("div");
  let all = [], shownFor = null, recordFor = "";
  /** @type {any} */
  let record = null;
  let marked = -1; // the meaning whose bytes are marked
  let owner = new Int32Array(0); // of each byte, its meaning

  function drawList(first, last, y) {
    index.layer.replaceChildren(...all.slice(first, last).map((r, i) => h("div", { role: "option", id: `record-${first + i}`, class: "record", "data-i": first + i, "aria-selected": String(String(r.id) === app.state.record), style: { transform: `translateY(${y(first + i)}px)` } },
      h("span", { class: "name" }, r.name), h("span", { class: "type" }, `${r.what ? `${r.what}, ` : ""}${size(r.length)} at ${count(r.offset)}`))));
    const at = all.findIndex((r) => String(r.id) === app.state.record);
    if (at >= 0) list.setAttribute("aria-activedescendant", `record-${at}`);
  }

  const choose = (i) => i != null && app.go({ record: String(all[i].id) }, { step: true });

  function listKey(e) {
    const at = all.findIndex((r) => String(r.id) === app.state.record);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[e.key];
    if (to == null || !all[to]) return;
    e.preventDefault();
    index.reveal(to);
    choose(to);
  }

  function drawBytes(first, last, y) {
    if (!record) return hex.layer.replaceChildren();
    hex.layer.replaceChildren(...Array.from({ length: last - first }, (_, i) => {
      const start = (first + i) * perRow;
      const cells = [], text = [];
      for (let at = start; at < Math.min(start + perRow, record.bytes.length); at++) {
        const b = record.bytes[at], m = owner[at];
        const look = m < 0 ? "" : m === marked ? "marked" : m % 2 ? "odd" : "";
        cells.push(h("span", { class: look, "data-m": m }, b.toString(16).padStart(2, "0")));
        text.push(h("span", { class: look, "data-m": m }, b >= 32 && b < 127 ? String.fromCharCode(b) : "·"));
      }
      return h("div", { class: "line", style: { transform: `translateY(${y(first + i)}px)` } },
        h("span", { class: "offset" }, ((record.inFile ? record.offset : 0) + start).toString(16).padStart(8, "0")), h("span", { class: "octets" }, ...cells), h("span", { class: "chars" }, ...text));
    }));
  }

  function drawMeanings(first, last, y) {
    if (!record) return lines.layer.replaceChildren();
    lines.layer.replaceChildren(...record.meanings.slice(first, last).map((m, i) => h("div", { role: "option", id: `meaning-${first + i}`, class: first + i === marked ? "line marked" : "line", "data-m": first + i, "aria-selected": String(first + i === marked), style: { transform: `translateY(${y(first + i)}px)`, "padding-left": `${(m.depth ?? 0) * 12 + 6}px` }, title: `${m.name}: ${m.value}` },
      h("span", { class: "name" }, m.name || "unknown"), " ", h("span", { class: "value" }, m.value))));
    meanings.setAttribute("aria-activedescendant", marked >= 0 ? `meaning-${marked}` : "");
  }

  // mark marks a meaning and its bytes.
  function mark(m) {
    if (m == null || !record?.meanings[m]) return;
    marked = Number(m);
    const { offset, length, name, value } = record.meanings[marked];
    lines.reveal(marked);
    hex.reveal(Math.floor((offset + length - 1) / perRow));
    hex.reveal(Math.floor(offset / perRow));
    lines.draw();
    hex.draw();
    status.textContent = `${plural(length, "byte")} at ${count(offset)}: ${name || "unknown"} ${value ?? ""}`;
  }

  bytes.addEventListener("click", (e) => mark(e.target.dataset.m));
  bytes.addEventListener("pointerover", (e) => {
    const m = record?.meanings[e.target.dataset?.m];
    if (m) e.target.title = `${m.name}: ${m.value}`;
  });

  function meaningsKey(e) {
    const to = { ArrowDown: marked + 1, ArrowUp: marked - 1, Home: 0, End: (record?.meanings.length ?? 0) - 1, PageDown: Math.min(marked + lines.page, (record?.meanings.length ?? 1) - 1), PageUp: Math.max(marked - lines.page, 0) }[e.key];
    if (to == null) return;
    e.preventDefault();
    mark(to);
  }

  function bytesKey(e) {
    const to = { ArrowRight: marked + 1, ArrowLeft: marked - 1 }[e.key];
    const row = { ArrowDown: 1, ArrowUp: -1, PageDown: hex.page, PageUp: -hex.page }[e.key];
    if (!record || (to == null && row == null)) return;
    e.preventDefault();
    if (to != null) return mark(to);
    const at = (record.meanings[marked]?.offset ?? 0) + row * perRow;
    mark(owner[Math.min(Math.max(at, 0), record.bytes.length - 1)]);
  }

  async function showRecord() {
    const { state } = app;
    const wanted = state.record || (all.length ? String(all[0].id) : "");
    index.draw();
    if (wanted === recordFor) return;
    recordFor = wanted;
    record = null;
    if (wanted) {
      try {
        const answer = await app.engine.call("record", { id: wanted });
        if (recordFor !== wanted) return;
        record = { bytes: new Uint8Array(), ...answer, inFile: !answer.compressed };
        owner = new Int32Array(record.bytes.length).fill(-1);
        record.meanings.forEach((m, i) => owner.fill(i, m.offset, m.offset + m.length));
        title.replaceChildren(h("h2", null, record.name),
          h("p", { class: "dim" }, `${size(record.length)} at byte ${count(record.offset)} of the file`, record.compressed ? `; compressed, shown are the ${size(record.bytes.length)} uncompressed` : "", record.truncated ? "; the first of them" : ""),
          record.elements?.length ? h("details", null, h("summary", null, plural(record.elements.length, "element")), h("p", { class: "elements" }, record.elements.join(", "))) : "",
          record.error ? failure({ kind: "corrupt", message: record.error }) : "");
      } catch (error) {
        if (recordFor !== wanted) return;
        title.replaceChildren(failure(error));
      }
    }
    marked = -1;
    status.textContent = "";
    hex.resize(Math.ceil((record?.bytes.length ?? 0) / perRow));
    lines.resize(record?.meanings.length ?? 0);
    hex.moveTo(0);
    lines.moveTo(0);
    if (record?.meanings.length) mark(0);
  }

  return {
    element: h("div", { class: "records" }, problem, h("div", { class: "three" }, list, h("div", { class: "one" }, title, status, h("div", { class: "two" }, bytes, meanings)))),

    clear() {
      all = [];
      shownFor = record = null;
      recordFor = "";
      problem.replaceChildren();
      title.replaceChildren();
      index.resize(0);
      hex.resize(0);
      lines.resize(0);
    },

    async show() {
      if (shownFor === app.source) return showRecord();
      const now = shownFor = app.source;
      try {
        const answer = await app.engine.call("records");
        if (shownFor !== now) return;
        all = answer.records;
        problem.replaceChildren(...(answer.warnings ?? []).map((text) => h("p", { class: "warning" }, text)));
        index.resize(all.length);
        showRecord();
      } catch (error) {
        if (shownFor !== now) return;
        shownFor = null;
        problem.replaceChildren(failure(error));
      }
    },
  };
}
