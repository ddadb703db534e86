// The tree of RNTuples and their fields.

import { count, h, plural } from "./dom.js";
import { Rows } from "./virtual.js";

/**
 * @typedef {object} Node
 * @property {string} key tells nodes apart
 * @property {string} ntuple path of the RNTuple
 * @property {any} [field] absent for an RNTuple, and for other objects
 * @property {any} [info] of an RNTuple
 * @property {string} name
 * @property {string} type
 * @property {number} level from 1
 * @property {number} place from 1, among its siblings
 * @property {number} siblings
 * @property {boolean} [kids] whether it has any
 */

const height = 26;

/**
 * Makes the tree. It follows the keys of the tree pattern of ARIA; only the rows in view
 * exist, so that ten thousand fields are none too many.
 *
 * @param {{schema: (ntuple: string) => Promise<any>, choose: (node: Node) => void}} page
 */
export function tree(page) {
  let ntuples = [], others = [];
  const schemas = new Map(); // of RNTuples, as far as they are known
  const open = new Set();
  /** @type {Node[]} */
  let shown = [];
  let active = 0, chosen = "";

  const search = h("input", { type: "search", placeholder: "Search names, types, descriptions", "aria-label": "Search fields by name, type or description", "aria-controls": "tree", oninput: () => find() });
  const found = h("p", { class: "found dim", role: "status" });
  const box = h("div", { id: "tree", role: "tree", tabindex: 0, "aria-label": "RNTuples and their fields", onkeydown: (e) => key(e) });
  const rows = new Rows(box, { height, draw });

  function draw(first, last, y) {
    rows.layer.replaceChildren(...shown.slice(first, last).map((node, i) => item(node, first + i, y(first + i))));
    box.setAttribute("aria-activedescendant", shown[active] ? `node-${active}` : "");
  }

  function item(node, i, y) {
    const isOpen = isUnfolded(node);
    return h("div", {
      role: "treeitem", id: `node-${i}`, class: i === active ? "node active" : "node", "aria-level": node.level, "aria-setsize": node.siblings,
      "aria-posinset": node.place, "aria-expanded": node.kids ? String(isOpen) : null, "aria-selected": String(node.key === chosen),
      "aria-label": label(node), title: node.field?.description || null,
      style: { transform: `translateY(${y}px)`, "padding-left": `${node.level * 14 - 8}px` },
      onclick: (e) => {
        active = i;
        if (node.kids && e.target.classList.contains("fold")) unfold(node, !isOpen);
        else choose(node);
      },
      ondblclick: () => node.kids && unfold(node, !isUnfolded(node)),
    },
    h("span", { class: "fold", "aria-hidden": "true" }, node.kids ? (isOpen ? "▾" : "▸") : ""),
    h("span", { class: "name" }, node.name), h("span", { class: "type" }, node.type));
  }

  const label = (node) => `${node.name}, ${node.type || "record"}`;
  const isUnfolded = (node) => open.has(node.key) || (filter !== "" && node.field != null && node.hit);

  // hits holds the fields that a search found, with those above them.
  let filter = "", hits = new Set();

  function list() {
    shown = [];
    const total = ntuples.length + others.length;
    ntuples.forEach((info, i) => {
      const node = { key: `ntuple ${info.name}`, ntuple: info.name, info, name: info.name, type: info.error ? "cannot be read" : plural(info.entries, "entry", "entries"), level: 1, place: i + 1, siblings: total, kids: !info.error };
      shown.push(node);
      const schema = schemas.get(info.name);
      if (schema && (open.has(node.key) || filter)) addAll(info.name, schema.fields, 2);
    });
    others.forEach((other, i) => shown.push({ key: `other ${i}`, ntuple: "", name: other.name, type: other.type, level: 1, place: ntuples.length + i + 1, siblings: total }));
    active = Math.min(active, Math.max(shown.length - 1, 0));
    rows.resize(shown.length);
  }

  function addAll(ntuple, fields, level) {
    const visible = filter ? fields.filter((f) => hits.has(f)) : fields;
    visible.forEach((field, i) => {
      const kids = (field.fields ?? []).length > 0;
      const hit = filter !== "" && kids && field.fields.some((f) => hits.has(f));
      const node = { key: `field ${ntuple} ${field.path}`, ntuple, field, name: field.name, type: field.type, level, place: i + 1, siblings: visible.length, kids: kids && (!filter || hit), hit };
      shown.push(node);
      if (node.kids && isUnfolded(node)) addAll(ntuple, field.fields, level + 1);
    });
  }

  async function find() {
    filter = search.value.trim().toLowerCase();
    hits = new Set();
    let n = 0;
    const visit = (field) => {
      let hit = [field.name, field.path, field.type, field.description].some((text) => text?.toLowerCase().includes(filter));
      if (hit) n++;
      for (const kid of field.fields ?? []) hit = visit(kid) || hit;
      if (hit) hits.add(field);
      return hit;
    };
    if (filter) {
      const now = filter;
      await Promise.all(ntuples.filter((t) => !t.error).map((t) => load(t.name).catch(() => {})));
      if (filter !== now) return;
      for (const { fields } of schemas.values()) fields.forEach(visit);
    }
    found.textContent = filter ? `${plural(n, "field")} found` : "";
    list();
    rows.moveTo(0);
  }

  async function load(ntuple) {
    if (!schemas.has(ntuple)) schemas.set(ntuple, await page.schema(ntuple));
    return schemas.get(ntuple);
  }

  async function unfold(node, on) {
    if (on && !node.field) await load(node.ntuple).catch(() => {});
    if (on) open.add(node.key); else open.delete(node.key);
    list();
  }

  function choose(node) {
    rows.draw();
    if (!node.ntuple) return;
    chosen = node.key;
    if (node.info && !open.has(node.key)) unfold(node, true);
    page.choose(node);
  }

  function move(to) {
    active = Math.min(Math.max(to, 0), shown.length - 1);
    rows.reveal(active);
    rows.draw();
  }

  let typed = "", typedAt = 0;

  function key(e) {
    const node = shown[active];
    if (!node || e.altKey || e.ctrlKey || e.metaKey) return;
    switch (e.key) {
      case "ArrowDown": move(active + 1); break;
      case "ArrowUp": move(active - 1); break;
      case "PageDown": move(active + rows.page); break;
      case "PageUp": move(active - rows.page); break;
      case "Home": move(0); break;
      case "End": move(shown.length - 1); break;
      case "ArrowRight":
        if (node.kids && !isUnfolded(node)) unfold(node, true);
        else if (node.kids) move(active + 1);
        break;
      case "ArrowLeft":
        if (node.kids && open.has(node.key)) unfold(node, false);
        else move(shown.findLastIndex((other, i) => i < active && other.level < node.level));
        break;
      case "Enter": case " ": choose(node); break;
      default: {
        if (e.key.length !== 1) return;
        typed = e.timeStamp - typedAt < 800 ? typed + e.key.toLowerCase() : e.key.toLowerCase();
        typedAt = e.timeStamp;
        const from = typed.length > 1 ? active : active + 1;
        const order = [...shown.keys()].map((i) => (i + from) % shown.length);
        const hit = order.find((i) => shown[i].name.toLowerCase().startsWith(typed));
        if (hit != null) move(hit);
      }
    }
    e.preventDefault();
  }

  return {
    element: h("div", { class: "tree" }, search, found, box),

    /** Shows another file. @param {any} source the answer of open */
    show(source) {
      ({ ntuples, others = [] } = source);
      schemas.clear();
      open.clear();
      chosen = "";
      active = 0;
      search.value = filter = found.textContent = "";
      list();
    },

    /** Marks an RNTuple or a field as chosen, and unfolds what is above it. */
    async mark(ntuple, path) {
      const root = `ntuple ${ntuple}`;
      chosen = path ? `field ${ntuple} ${path}` : root;
      const schema = await load(ntuple).catch(() => null);
      open.add(root);
      for (let fields = schema?.fields, field; path && (field = fields?.find((f) => path.startsWith(`${f.path}.`))); fields = field.fields) open.add(`field ${ntuple} ${field.path}`);
      list();
      const i = shown.findIndex((node) => node.key === chosen);
      if (i >= 0) move(i);
    },
  };
}

/** Returns the field of a path, or undefined. */
export function fieldAt(fields, path) {
  for (const field of fields) {
    if (field.path === path) return field;
    const below = path.startsWith(`${field.path}.`) && fieldAt(field.fields ?? [], path);
    if (below) return below;
  }
}

/** Returns the text of how many fields are below a field. */
export function below(field) {
  const n = (field.fields ?? []).length;
  return n ? count(n) : "";
}
