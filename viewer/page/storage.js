// Storage: what needs how much on disk, and where in the file it lies.

import { count, failure, h, labelled, plural, ratio, size, svg, table } from "./dom.js";
import { strip } from "./strip.js";
import { ratioColour, squarify } from "./treemap.js";

const mapHeight = 420, titleHeight = 18, mostTiles = 3000;

export function storage(app) {
  const problem = h("div");
  const map = h("div", { class: "map" });
  const trail = h("nav", { class: "trail", "aria-label": "Part of the map" });
  const text = h("div");
  const layout = strip({ choose: (cluster) => app.go({ cluster: String(cluster) }, { step: true }) });
  const cluster = h("input", { type: "number", min: 0, step: 1, class: "number", onchange: () => app.go({ cluster: cluster.value }, { step: true }) });
  const pages = h("div");
  const content = h("div", { hidden: true },
    h("h2", null, "What needs how much"), trail, map, legend(), text,
    h("h2", null, "Where it lies"),
    h("form", { class: "bar", onsubmit: (e) => e.preventDefault() }, labelled("Cluster", cluster), h("button", { type: "button", onclick: () => app.go({ cluster: "" }) }, "Whole file"),
      h("button", { type: "button", onclick: () => layout.zoom(0.5), "aria-label": "Zoom in" }, "+"), h("button", { type: "button", onclick: () => layout.zoom(2), "aria-label": "Zoom out" }, "−"),
      h("span", { class: "dim" }, "Control and wheel, or + and −, zoom; dragging and arrows move; a click chooses a cluster.")),
    layout.element, pages);
  let shownFor = "", pagesFor = "", clusters = [];
  /** @type {any[]} the node that the map shows, after those above it */
  let way = [];

  function drawMap() {
    const width = map.clientWidth;
    if (!width || !way.length) return;
    const node = way.at(-1);
    let tiles = 0;
    const picture = svg("svg", { width, height: mapHeight, viewBox: `0 0 ${width} ${mapHeight}`, role: "img", "aria-label": `Treemap of ${node.label}: the table below it has the same sizes` });
    place(node, { x: 0, y: 0, w: width, h: mapHeight }, 0);
    map.replaceChildren(picture);
    trail.replaceChildren(...way.map((step, i) => (i < way.length - 1
      ? h("button", { class: "link", onclick: () => { way.length = i + 1; drawMap(); } }, step.label || "all", " ›")
      : h("span", { "aria-current": "true" }, `${step.label || "all"}, ${size(step.compressed)}`))));
    const kids = kidsOf(node);
    text.replaceChildren(h("details", null, h("summary", null, `Sizes of ${node.label || "all"} as a table`),
      table("Sizes", ["Part", "Type of column", "On disk", "Share", "In memory", "Ratio"], kids.slice(0, 1000).map((kid) => [
        kid.kids?.length ? h("button", { class: "link", onclick: () => enter(kid) }, kid.label) : kid.label, kid.columnType ?? "", size(kid.compressed), `${(kid.compressed / node.compressed * 100).toFixed(1)} %`, size(kid.uncompressed), ratio(kid.uncompressed, kid.compressed),
      ]), new Set([2, 3, 4, 5]))));

    function place(node, room, depth) {
      const kids = kidsOf(node);
      squarify(kids.map((kid) => kid.compressed), room).forEach((tile, i) => {
        if (tile.w < 1 || tile.h < 1 || ++tiles > mostTiles) return;
        const kid = kids[i], { fill, text } = ratioColour(kid.uncompressed / kid.compressed);
        const inner = kid.kids?.length && depth < 4 && tile.w > 40 && tile.h > 40;
        const what = `${kid.path || kid.label}${kid.columnType ? `, ${kid.columnType}` : ""}: ${size(kid.compressed)}, in memory ${size(kid.uncompressed)}, ${ratio(kid.uncompressed, kid.compressed)}`;
        const room = tile.w > 34 && tile.h > 16;
        picture.append(svg("g", { class: "tile", onclick: (e) => { e.stopPropagation(); enter(kid); } }, svg("title", null, what),
          svg("rect", { x: tile.x, y: tile.y, width: tile.w, height: tile.h, fill }),
          room && svg("text", { x: tile.x + 4, y: tile.y + 13, fill: text }, fit(kid.label, tile.w - 8))));
        if (inner) place(kid, { x: tile.x + 2, y: tile.y + titleHeight, w: tile.w - 4, h: tile.h - titleHeight - 2 }, depth + 1);
      });
    }
  }

  function enter(node) {
    if (!node.kids?.length) {
      const path = node.path?.replace(/ \[\d+\]$/, "");
      if (path) app.go({ field: path });
      return;
    }
    const up = parents(way[0], node);
    if (up) way = [...up, node];
    drawMap();
  }

  async function drawPages() {
    const { ntuple, state } = app;
    const now = state.cluster ? `${ntuple.name} ${state.cluster}` : "";
    if (now === pagesFor) return;
    pagesFor = now;
    cluster.value = state.cluster ?? "";
    layout.focusOn(state.cluster ? Number(state.cluster) : null);
    pages.replaceChildren();
    if (!now) return;
    try {
      const i = Number(state.cluster), info = clusters[i];
      if (!info) throw Object.assign(new Error(`There is no cluster ${state.cluster}.`), { kind: "notfound" });
      const { columns } = await app.engine.call("storage", { ntuple: ntuple.name, cluster: i });
      if (now !== pagesFor) return;
      const all = columns.flatMap((c) => c.pages.map((page, k) => [c.path, h("button", { class: "link", title: "Its bytes", onclick: () => app.go({ view: "records", record: page.id }, { step: true }) }, k), count(page.offset), size(page.length), count(page.elements), size(page.uncompressed), page.checksum === false ? "no" : "yes"]));
      pages.replaceChildren(h("h2", null, `Cluster ${count(i)}`), h("p", null, `Entries ${count(info.first)} to ${count(info.first + info.entries - 1)}, ${size(info.length)} at byte ${count(info.offset)}, ${plural(all.length, "page")}`),
        table(`Pages of cluster ${i}`, ["Column", "Page", "At byte", "On disk", "Elements", "In memory", "Checksum"], all.slice(0, 2000), new Set([1, 2, 3, 4, 5])),
        all.length > 2000 && h("p", { class: "dim" }, "The first 2,000 pages are shown."));
    } catch (error) {
      if (now === pagesFor) pages.replaceChildren(failure(error));
    }
  }

  new ResizeObserver(drawMap).observe(map);

  return {
    element: h("div", { class: "storage" }, problem, content),

    clear() {
      shownFor = pagesFor = "";
      way = [];
      content.hidden = true;
      problem.replaceChildren();
    },

    async show() {
      const { ntuple } = app;
      if (!ntuple) return problem.replaceChildren(h("p", null, "There is no RNTuple in this file."));
      if (ntuple.name === shownFor) return drawPages();
      this.clear();
      shownFor = ntuple.name;
      try {
        const { map: root, strip } = await app.engine.call("storage", { ntuple: ntuple.name });
        if (shownFor !== ntuple.name) return;
        content.hidden = false;
        way = [{ ...root, label: root.label || ntuple.name }];
        ({ clusters } = strip);
        cluster.max = Math.max(clusters.length - 1, 0);
        drawMap();
        layout.show(strip);
        drawPages();
      } catch (error) {
        if (shownFor !== ntuple.name) return;
        shownFor = "";
        problem.replaceChildren(failure(error));
      }
    },
  };
}

const kidsOf = (node) => (node.kids ?? []).filter((kid) => kid.compressed > 0).sort((a, b) => b.compressed - a.compressed);

// parents returns the nodes from root to the one above node.
function parents(root, node) {
  for (const kid of root.kids ?? []) {
    if (kid === node) return [root];
    const below = parents(kid, node);
    if (below) return [root, ...below];
  }
  return null;
}

const fit = (text, width) => (text.length * 6.6 <= width ? text : `${text.slice(0, Math.max(Math.floor(width / 6.6) - 1, 1))}…`);

function legend() {
  return h("p", { class: "legend dim" }, "Compression ", ...[1, 2, 4, 8, 16, 32].map((n) => {
    const { fill, text } = ratioColour(n);
    return h("span", { style: { background: fill, color: text } }, `${n}×`);
  }));
}
