// Entries: a table of all of them, of which only what is in view is read.

import { count, failure, h, labelled, plural } from "./dom.js";
import { length, nested, parts } from "./json.js";
import { Rows } from "./virtual.js";

const height = 26, header = 44, margin = 110; // of a row, the names above, and the column of entry numbers
const chunk = 32; // entries that are read at once
const mostValues = 20_000; // that are kept
const numeric = /^(-|\d)/;

/** Returns the paths that match patterns, such as "run, Muon_*"; all without patterns. */
export function matching(paths, patterns) {
  const wanted = patterns.split(/[,\s]+/).filter(Boolean);
  if (wanted.length === 0) return paths;
  const tests = wanted.map((p) => new RegExp(`^${p.split("*").map((s) => s.replace(/[.?+^${}()|[\]\\]/g, "\\$&")).join(".*")}$`));
  return paths.filter((path) => tests.some((test) => test.test(path)));
}

export function entries(app) {
  /** @type {{path: string, type: string, width: number}[]} */
  let columns = [];
  let lefts = [0]; // where columns begin
  let total = 0, active = { row: 0, column: 0 }, shownFor = "", lastShown = null;
  let values = new Map(); // of a field: of a chunk: texts
  let kept = 0;
  let reading = null;

  const fields = h("input", { type: "search", placeholder: "all, or run, Muon_*", spellcheck: "false", onchange: () => app.go({ fields: fields.value.trim() }) });
  const goTo = h("input", { type: "number", min: 0, step: 1, class: "number" });
  const where = h("p", { class: "dim", role: "status" });
  const problem = h("div");
  const grid = h("div", { class: "grid", role: "grid", tabindex: 0, "aria-label": "Entries", onkeydown: (e) => key(e), onclick: (e) => click(e) });
  const rows = new Rows(grid, { height, header, draw });
  const unfolded = h("aside", { class: "entry", hidden: true, "aria-label": "Entry" });
  grid.addEventListener("scroll", () => { if (total) rows.draw(); }, { passive: true });

  const inView = () => {
    const from = grid.scrollLeft, to = from + grid.clientWidth - margin;
    let first = lefts.findLastIndex((x) => x <= from), last = first;
    while (last < columns.length && lefts[last] < to) last++;
    return [Math.max(first, 0), last];
  };

  const textOf = (row, column) => values.get(columns[column].path)?.get(Math.floor(row / chunk))?.[row % chunk];

  function draw(first, last, y) {
    const [from, to] = inView();
    const place = (i) => ({ left: `${margin + lefts[i] - grid.scrollLeft}px`, width: `${columns[i].width}px` });
    const head = h("div", { role: "row", class: "head", "aria-rowindex": 1, style: { height: `${header}px` } }, h("div", { role: "columnheader", class: "index", "aria-colindex": 1 }, "entry"));
    for (let i = from; i < to; i++) {
      head.append(h("div", { role: "columnheader", class: "cell", "aria-colindex": i + 2, style: place(i), title: `${columns[i].path}: ${columns[i].type}` },
        h("span", { class: "name" }, columns[i].path), h("span", { class: "type" }, columns[i].type)));
    }
    const lines = [];
    for (let row = first; row < last; row++) {
      const line = h("div", { role: "row", class: row === active.row ? "line active" : "line", "aria-rowindex": row + 2, "data-row": row, style: { transform: `translateY(${y(row)}px)` } },
        h("div", { role: "rowheader", class: "index", "aria-colindex": 1 }, count(row)));
      for (let i = from; i < to; i++) {
        const text = textOf(row, i);
        line.append(h("div", {
          role: "gridcell", id: `cell-${row}-${i}`, "aria-colindex": i + 2, "data-column": i, style: place(i),
          class: `cell ${text == null ? "waits" : kind(text)}${row === active.row && i === active.column ? " active" : ""}`,
        }, text == null ? "…" : brief(text)));
      }
      lines.push(line);
    }
    rows.layer.replaceChildren(...lines, head);
    grid.setAttribute("aria-activedescendant", `cell-${active.row}-${active.column}`);
    if (total) {
      where.textContent = `Entries ${count(first)} to ${count(Math.min(first + rows.page, total) - 1)} of ${count(total)}`;
      if (String(first || "") !== (app.state.row ?? "")) noteRow(first);
    }
    read(first, last, from, to);
  }

  let noting = 0;

  // Browsers allow few changes of the address in a second.
  function noteRow(first) {
    clearTimeout(noting);
    noting = setTimeout(() => app.state.view === "entries" && app.note({ row: first || "" }), 300);
  }

  // read reads what is in view and not known yet, one call at a time.
  async function read(first, last, from, to) {
    const wanted = want(first, last, from, to);
    if (!wanted) return;
    const { at, missing } = wanted;
    if (reading && reading.at === at && missing.every((path) => reading.missing.includes(path))) return;
    const scrolledOn = reading && (reading.at >= last || reading.at + chunk <= first);
    if (reading && !scrolledOn) return; // it draws when it ends, which reads on
    reading?.stop.abort();
    const mine = reading = { at, missing, stop: new AbortController() };
    const { ntuple } = app;
    try {
      const lines = [], wanted = Math.min(chunk, total - at);
      while (lines.length < wanted) { // the engine gives fewer at once if they are long
        const answer = await app.engine.call("rows", { ntuple: ntuple.name, first: at + lines.length, count: wanted - lines.length, fields: missing }, { signal: mine.stop.signal });
        if (reading !== mine) return;
        if (answer.lines.length === 0) break;
        lines.push(...answer.lines);
      }
      keep(at / chunk, missing, lines);
      problem.replaceChildren();
    } catch (error) {
      if (reading !== mine || error.kind === "cancelled") return;
      problem.replaceChildren(failure(error));
      keep(at / chunk, missing, Array.from({ length: chunk }, () => null));
    }
    reading = null;
    rows.draw();
  }

  // want returns the first chunk in view with fields that are not known.
  function want(first, last, from, to) {
    for (let c = Math.floor(first / chunk); c * chunk < last; c++) {
      const missing = columns.slice(from, to).map((column) => column.path).filter((path) => !values.get(path)?.has(c));
      if (missing.length) return { at: c * chunk, missing };
    }
  }

  function keep(c, paths, lines) {
    if (kept > mostValues) {
      values = new Map();
      kept = 0;
    }
    const texts = new Map(paths.map((path) => [path, []]));
    lines.forEach((line, i) => {
      if (line == null) return texts.forEach((t) => { t[i] = "?"; });
      for (const [path, text] of parts(line)) texts.get(String(path))?.splice(i, 1, text);
    });
    for (const [path, t] of texts) {
      if (!values.has(path)) values.set(path, new Map());
      values.get(path).set(c, t);
      kept += t.length;
    }
  }

  function move(row, column) {
    active = { row: Math.min(Math.max(row, 0), total - 1), column: Math.min(Math.max(column, 0), columns.length - 1) };
    rows.reveal(active.row);
    const left = lefts[active.column], right = left + columns[active.column].width;
    if (left < grid.scrollLeft) grid.scrollLeft = left;
    else if (right > grid.scrollLeft + grid.clientWidth - margin) grid.scrollLeft = Math.min(left, right - grid.clientWidth + margin);
    rows.draw();
  }

  function key(e) {
    if (e.altKey || e.metaKey || !total) return;
    const { row, column } = active;
    switch (e.key) {
      case "ArrowDown": move(row + 1, column); break;
      case "ArrowUp": move(row - 1, column); break;
      case "ArrowRight": move(row, column + 1); break;
      case "ArrowLeft": move(row, column - 1); break;
      case "PageDown": move(row + rows.page, column); break;
      case "PageUp": move(row - rows.page, column); break;
      case "Home": e.ctrlKey ? move(0, 0) : move(row, 0); break;
      case "End": e.ctrlKey ? move(total - 1, columns.length - 1) : move(row, columns.length - 1); break;
      case "Enter": case " ": app.go({ entry: String(row) }); break;
      case "Escape": app.go({ entry: "" }); break;
      default: return;
    }
    e.preventDefault();
  }

  function click(e) {
    const row = e.target.closest("[data-row]")?.dataset.row;
    if (row == null) return;
    const column = e.target.closest("[data-column]")?.dataset.column ?? active.column;
    active = { row: Number(row), column: Number(column) };
    rows.draw();
    app.go({ entry: row });
  }

  let entryShown = "";

  // unfold shows all values of an entry as a tree.
  async function unfold() {
    const { ntuple, state } = app;
    const wanted = state.entry === "" || state.entry == null ? "" : JSON.stringify([ntuple.name, state.entry, state.fields]);
    if (wanted === entryShown) return;
    entryShown = wanted;
    unfolded.hidden = !wanted;
    delete unfolded.dataset.shown;
    if (!wanted) return;
    const entry = Number(state.entry);
    const step = (to, text) => h("button", { disabled: to < 0 || to >= total, "aria-label": text === "‹" ? "Entry before" : "Next entry", onclick: () => { move(to, active.column); app.go({ entry: String(to) }); } }, text);
    const body = h("div", { class: "values" }, h("p", { class: "dim" }, "Reading …"));
    unfolded.replaceChildren(h("div", { class: "bar" }, h("h2", null, `Entry ${count(entry)}`), step(entry - 1, "‹"), step(entry + 1, "›"),
      h("button", { "aria-label": "Close the entry", onclick: () => { app.go({ entry: "" }); grid.focus(); } }, "×")), body);
    try {
      if (!(entry >= 0 && entry < total)) throw Object.assign(new Error(`There is no entry ${state.entry}.`), { kind: "notfound" });
      const { lines } = await app.engine.call("rows", { ntuple: ntuple.name, first: entry, count: 1, fields: columns.map((c) => c.path) });
      if (wanted !== entryShown) return;
      body.replaceChildren(members(lines[0]));
      unfolded.dataset.shown = `${ntuple.name} ${entry}`;
    } catch (error) {
      if (wanted === entryShown) body.replaceChildren(failure(error));
    }
  }

  return {
    element: h("div", { class: "entries" },
      h("form", { class: "bar", onsubmit: (e) => { e.preventDefault(); if (goTo.value !== "" && total) { move(Number(goTo.value), active.column); rows.moveTo(active.row * height); grid.focus(); } } },
        labelled("Fields", fields), labelled("Go to entry", goTo), h("button", null, "Go"), where),
      problem, h("div", { class: "beside" }, grid, unfolded)),

    clear() {
      reading?.stop.abort();
      clearTimeout(noting);
      reading = lastShown = null;
      values = new Map();
      kept = total = 0;
      columns = [];
      shownFor = entryShown = "";
      rows.resize(0);
      rows.layer.replaceChildren();
      where.textContent = "";
      problem.replaceChildren();
      unfolded.hidden = true;
    },

    async show() {
      const { ntuple, state } = app;
      if (!ntuple) return problem.replaceChildren(h("p", null, "There is no RNTuple in this file."));
      if (ntuple.error) return problem.replaceChildren(failure(ntuple.error));
      const now = JSON.stringify([ntuple.name, state.fields]);
      if (now === shownFor) {
        rows.draw();
        return unfold();
      }
      shownFor = now;
      try {
        const schema = await app.schema(ntuple.name);
        if (shownFor !== now) return;
        if (lastShown !== ntuple.name) {
          this.clear();
          shownFor = now;
          lastShown = ntuple.name;
          active = { row: Number(state.row) || 0, column: 0 };
        }
        const all = schema.fields.filter((f) => !f.error);
        const chosen = new Set(matching(all.map((f) => f.path), state.fields ?? ""));
        columns = all.filter((f) => chosen.has(f.path)).map((f) => ({ path: f.path, type: f.type, width: widthOf(f) }));
      } catch (error) {
        return problem.replaceChildren(failure(error));
      }
      if (document.activeElement !== fields) fields.value = state.fields ?? "";
      lefts = [0];
      for (const c of columns) lefts.push(lefts.at(-1) + c.width);
      total = columns.length ? Number(ntuple.entries) : 0;
      active.column = Math.min(active.column, Math.max(columns.length - 1, 0));
      goTo.max = Math.max(total - 1, 0);
      grid.setAttribute("aria-rowcount", total + 1);
      grid.setAttribute("aria-colcount", columns.length + 1);
      where.textContent = columns.length === 0 ? "No field has such a name." : total === 0 ? "There are no entries." : "";
      problem.replaceChildren();
      rows.resize(total, margin + lefts.at(-1));
      if (state.row) rows.moveTo(Number(state.row) * height);
      unfold();
    },
  };
}

const widthOf = (field) => Math.min(Math.max(field.path.length, Math.min(field.type.length, 24)) * 7.5 + 28, 260) + (field.fields?.length ? 60 : 0);

const kind = (text) => (numeric.test(text) ? "numeric" : text[0] === '"' ? "text" : nested(text) ? "nested" : "word");

// brief returns a text as it fits into a cell.
const brief = (text) => (text.length > 160 ? `${text.slice(0, 160)}…` : text);

const many = 100; // parts that are unfolded at once

// members makes the list of the parts of a value, whose own parts unfold on demand.
function members(text) {
  const rest = parts(text);
  const list = h("ul", { class: "members" });
  more();
  return list;

  function more() {
    for (let i = 0; i < many; i++) {
      const { value, done } = rest.next();
      if (done) return;
      list.append(h("li", null, member(...value)));
    }
    const next = h("button", { class: "link", onclick: () => { next.parentElement.remove(); more(); } }, "more …");
    list.append(h("li", null, next));
  }
}

function member(name, text) {
  const key = h("span", { class: "key" }, String(name));
  if (!nested(text) || text.length === 2) return h("span", { class: "leaf" }, key, h("span", { class: kind(text) }, text));
  const n = length(text, 10_000);
  const what = text[0] === "[" ? plural(n, "item") : plural(n, "member");
  const fold = h("details", { ontoggle: () => fold.children.length === 1 && fold.append(members(text)) },
    h("summary", null, key, h("span", { class: "dim" }, what), " ", h("span", { class: "nested" }, text.length > 60 ? `${text.slice(0, 60)}…` : text)));
  return fold;
}
