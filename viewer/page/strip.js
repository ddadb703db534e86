// The layout strip: offsets in the file from left to right, a row for each column, the
// colours of clusters.

import { ticks } from "./axis.js";
import { count, h, size } from "./dom.js";
import { clusterColour } from "./treemap.js";
import { Rows } from "./virtual.js";

const height = 16, head = 44; // of a row; of the axis and the row of the whole file
const labels = 180;

/** @param {{choose: (cluster: number) => void}} page */
export function strip(page) {
  /** @type {any} */
  let data = null;
  let from = 0, to = 1; // the bytes in view
  let chosen = -1;

  const canvas = h("canvas", { "aria-hidden": "true" });
  const tip = h("div", { class: "tip", hidden: true });
  const names = h("div", { class: "names" });
  const box = h("div", { class: "strip", tabindex: 0, role: "application", "aria-label": "Layout of the file: plus and minus zoom, left and right move, Page up and Page down choose clusters", onkeydown: key });
  const rows = new Rows(box, { height, header: head, draw });
  const element = h("div", { class: "strip-frame" }, box, tip);

  const wide = () => Math.max(box.clientWidth - labels, 50);
  const xOf = (offset) => labels + (offset - from) / (to - from) * wide();
  const atX = (x) => from + (x - labels) / wide() * (to - from);

  function draw(first, last, y) {
    if (!data) return;
    if (!canvas.isConnected) rows.layer.append(canvas, names);
    const dots = devicePixelRatio || 1, width = box.clientWidth, tall = box.clientHeight;
    canvas.width = width * dots;
    canvas.height = tall * dots;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${tall}px`;
    const g = canvas.getContext("2d");
    g.scale(dots, dots);
    const style = getComputedStyle(box);
    for (let row = first; row < last; row++) runs(g, data.columns[row].runs, y(row) + 2, height - 4);
    g.clearRect(0, 0, width, head);
    runs(g, data.all, 4, 16);
    g.fillStyle = style.color;
    g.font = `11px ${style.fontFamily}`;
    g.textAlign = "center";
    for (const { value } of ticks(from, to, false, wide() / 110)) {
      g.fillRect(xOf(value), 22, 1, 4);
      const text = to - from > 5e5 ? size(value) : count(Math.round(value));
      const half = g.measureText(text).width / 2;
      g.fillText(text, Math.min(Math.max(xOf(value), labels + half), width - half - 2), 38);
    }
    names.replaceChildren(h("div", { class: "label", style: { top: "4px" } }, "the file"),
      ...data.columns.slice(first, last).map((c, i) => h("div", { class: "label", title: `${c.path}, ${c.type}`, style: { top: `${y(first + i)}px`, visibility: y(first + i) < head ? "hidden" : "visible" } }, c.path)));
  }

  function runs(g, list, y, tall) {
    let filled = -1; // runs of less than a pixel are drawn once
    for (let i = firstAfter(list, from); i < list.length && list[i][0] < to; i++) {
      const [offset, length, cluster] = list[i];
      const a = Math.max(xOf(offset), labels), b = Math.min(xOf(offset + length), box.clientWidth);
      if (b < labels || (b - filled < 0.4 && b - a < 1)) continue;
      g.fillStyle = clusterColour(cluster, data.clusters.length);
      g.globalAlpha = chosen >= 0 && cluster !== chosen ? 0.35 : 1;
      g.fillRect(a, y, Math.max(b - a, 0.8), tall);
      filled = b;
    }
    g.globalAlpha = 1;
  }

  // firstAfter returns the index of the first run that ends after an offset.
  function firstAfter(list, offset) {
    let low = 0, high = list.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (list[mid][0] + list[mid][1] > offset) high = mid; else low = mid + 1;
    }
    return low;
  }

  function look(a, b) {
    const span = Math.min(Math.max(b - a, 64), data.size);
    from = Math.min(Math.max(a, 0), data.size - span);
    to = from + span;
    rows.draw();
  }

  function zoom(factor, centre = (from + to) / 2) {
    if (data) look(centre - (centre - from) * factor, centre + (to - centre) * factor);
  }

  // under returns what is at a point: the column and its run.
  function under(e) {
    const { left, top } = box.getBoundingClientRect();
    const x = e.clientX - left, y = e.clientY - top;
    if (!data || x < labels) return null;
    const row = y < head ? -1 : Math.floor(rows.row(y));
    const list = row < 0 ? data.all : data.columns[row]?.runs;
    if (!list) return null;
    const slack = (to - from) / wide();
    const run = list[firstAfter(list, atX(x) - slack)];
    return { column: data.columns[row], run: run && run[0] <= atX(x) + slack ? run : null, at: atX(x), x, y };
  }

  let drag = null;

  box.addEventListener("wheel", (e) => {
    if (!data || e.offsetX < labels || !e.deltaY || e.shiftKey || !(e.ctrlKey || document.activeElement === box)) return;
    e.preventDefault();
    e.stopPropagation();
    zoom(Math.exp(Math.sign(e.deltaY) * 0.25), atX(e.clientX - box.getBoundingClientRect().left));
  }, { passive: false, capture: true });
  box.addEventListener("pointerdown", (e) => {
    if (e.button === 0 && data && e.target === canvas) {
      drag = { x: e.clientX, from, to, moved: false };
      canvas.setPointerCapture(e.pointerId);
    }
  });
  box.addEventListener("pointermove", (e) => {
    if (drag) {
      const by = (e.clientX - drag.x) / wide() * (drag.to - drag.from);
      drag.moved ||= Math.abs(e.clientX - drag.x) > 3;
      if (drag.moved) look(drag.from - by, drag.to - by);
    }
    const hit = under(e);
    tip.hidden = !hit;
    if (!hit) return;
    tip.textContent = describe(hit);
    tip.style.left = `${Math.min(hit.x + 12, box.clientWidth - 260)}px`;
    tip.style.top = `${hit.y + 16}px`;
  });
  box.addEventListener("pointerup", (e) => {
    const hit = drag && !drag.moved && under(e);
    drag = null;
    if (hit?.run && hit.run[2] >= 0) page.choose(hit.run[2]);
  });
  box.addEventListener("pointercancel", () => { drag = null; });
  box.addEventListener("pointerleave", () => { tip.hidden = true; });

  function describe({ column, run, at }) {
    const where = column ? `${column.path}, ${column.type}\n` : "";
    if (!run) return `${where}byte ${count(Math.round(at))}`;
    const [offset, length, cluster] = run;
    return `${where}${cluster >= 0 ? `cluster ${count(cluster)}` : run[3] ?? "metadata"}: ${size(length)} at byte ${count(offset)}`;
  }

  function key(e) {
    if (!data || e.ctrlKey || e.metaKey || e.altKey) return;
    const step = (to - from) / 8;
    switch (e.key) {
      case "+": case "=": zoom(0.5); break;
      case "-": zoom(2); break;
      case "ArrowLeft": look(from - step, to - step); break;
      case "ArrowRight": look(from + step, to + step); break;
      case "Home": look(0, to - from); break;
      case "End": look(data.size - (to - from), data.size); break;
      case "PageDown": page.choose(Math.min(chosen + 1, data.clusters.length - 1)); break;
      case "PageUp": page.choose(Math.max(chosen - 1, 0)); break;
      default: return;
    }
    e.preventDefault();
  }

  return {
    element,
    zoom,

    /** Shows a file. @param {any} strip as the engine answers */
    show(strip) {
      const others = (strip.others ?? []).map(({ offset, length, what }) => [offset, length, -1, what]);
      data = { ...strip, all: [...strip.clusters.map((c, i) => [c.offset, c.length, i]), ...others].filter((run) => run[1] > 0).sort((a, b) => a[0] - b[0]) };
      for (const column of data.columns) column.runs.sort((a, b) => a[0] - b[0]);
      chosen = -1;
      box.style.height = `${Math.min(head + data.columns.length * height + 4, 480)}px`;
      rows.resize(data.columns.length);
      look(0, data.size);
    },

    /** Shows a cluster, or the whole file. @param {number|null} cluster */
    focusOn(cluster) {
      if (!data) return;
      const info = cluster == null ? null : data.clusters[cluster];
      chosen = info ? cluster : -1;
      if (info) look(info.offset - info.length * 0.05, info.offset + info.length * 1.05);
      else look(0, data.size);
    },
  };
}
