// Histograms of fields and expressions.

import { inverse, scale, ticks } from "./axis.js";
import { count, facts, failure, h, labelled, save, short, svg, table } from "./dom.js";
import { task } from "./task.js";

const left = 70, right = 16, top = 12, bottom = 46; // margins of the plot

export function histogram(app) {
  const progress = task(app.engine);
  const x = h("input", { class: "expression", required: true, list: "drawable", placeholder: "Muon_pt", spellcheck: "false", autocomplete: "off" });
  const where = h("input", { class: "expression", placeholder: "nMuon == 2", spellcheck: "false", autocomplete: "off" });
  const bins = h("input", { type: "number", min: 1, max: 10000, step: 1, class: "number", placeholder: "100" });
  const low = h("input", { inputmode: "decimal", class: "number", placeholder: "least" });
  const high = h("input", { inputmode: "decimal", class: "number", placeholder: "most" });
  const logX = h("input", { type: "checkbox", onchange: submit });
  const logY = h("input", { type: "checkbox", onchange: submit });
  const names = h("datalist", { id: "drawable" });
  const whole = h("button", { type: "button", hidden: true, onclick: () => app.go({ low: "", high: "" }, { step: true }) }, "Whole range");
  const saver = h("button", { type: "button", hidden: true, onclick: () => save(picture(), `${app.state.x.replace(/\W+/g, "_")}.svg`) }, "Save as SVG");
  const plot = h("div", { class: "plot" });
  const below = h("div");
  const status = h("p", { class: "hidden", role: "status" });
  let drawnFor = "", namesOf = "";
  /** @type {any} */
  let result = null;

  function submit(e) {
    e?.preventDefault();
    if (!x.reportValidity()) return;
    const log = (logX.checked ? "x" : "") + (logY.checked ? "y" : "");
    app.go({ x: x.value.trim(), where: where.value.trim(), bins: bins.value, low: low.value.trim(), high: high.value.trim(), log }, { step: true });
  }

  async function run() {
    const { ntuple, state } = app;
    const params = { ntuple: ntuple.name, expression: state.x };
    if (state.where) params.where = state.where;
    if (state.bins) params.bins = Number(state.bins);
    if (state.low) params.low = Number(state.low);
    if (state.high) params.high = Number(state.high);
    if (state.log?.includes("x")) params.logx = true;
    const now = JSON.stringify(params);
    if (now === drawnFor) return draw(); // only the y axis may have changed
    drawnFor = now;
    plot.classList.add("old");
    delete plot.dataset.drawn;
    try {
      const answer = await progress.run("histogram", params);
      if (drawnFor !== now) return;
      result = answer;
      plot.dataset.drawn = state.x;
      draw();
      status.textContent = `Histogram of ${state.x}: ${count(result.entries)} values`;
    } catch (error) {
      if (drawnFor !== now) return;
      drawnFor = "";
      if (error.kind === "cancelled") {
        below.replaceChildren(h("p", { role: "status" }, result ? "Cancelled: the histogram is the one before." : "Cancelled."));
      } else {
        result = null;
        plot.replaceChildren();
        below.replaceChildren(failure(error));
      }
    } finally {
      if (drawnFor === now || !drawnFor) plot.classList.remove("old");
    }
    whole.hidden = !state.low && !state.high;
    saver.hidden = !result;
  }

  function draw() {
    if (!result) return;
    const numbers = !result.labels;
    plot.replaceChildren(numbers ? chart() : bars());
    const { entries, mean, stddev, under, over, nan, missing } = result;
    below.replaceChildren(
      facts(["Values", count(entries)], ["Mean", numbers && mean != null && short(mean)], ["Standard deviation", numbers && stddev != null && short(stddev)],
        ["Below", under ? count(under) : ""], ["Above", over ? count(over) : ""], ["Not numbers", nan ? count(nan) : ""], ["Missing", missing ? count(missing) : ""]),
      asTable());
  }

  const edge = (i) => result.edges[i];

  function asTable() {
    const fold = h("details", { ontoggle: () => fold.children.length === 1 && fold.append(
      result.labels ? table("Counts", ["Value", "Count"], result.bins.map((n, i) => [result.labels[i], count(n)]), new Set([1]))
        : table("Bins", ["From", "To", "Count"], result.bins.map((n, i) => [short(edge(i), 8), short(edge(i + 1), 8), count(n)]), new Set([0, 1, 2]))) },
    h("summary", null, "Bins as a table"));
    return fold;
  }

  function bars() {
    const most = Math.max(...result.bins, 1);
    return h("ol", { class: "counts", "aria-label": `Counts of ${app.state.x}` }, ...result.bins.map((n, i) => h("li", null,
      h("span", { class: "text" }, result.labels[i]), h("span", { class: "bar" }, h("i", { style: { width: `${n / most * 100}%` } })), h("span", null, count(n)))));
  }

  function chart() {
    const { bins: n, low, high } = result;
    const logx = app.state.log?.includes("x"), logy = app.state.log?.includes("y");
    const width = Math.max(plot.clientWidth, 280), tall = Math.round(Math.min(Math.max(width * 0.5, 240), 460));
    const inner = [left, width - right], base = tall - bottom;
    const most = Math.max(...n.map(Number), 1);
    const px = scale(0, n.length, false, ...inner);
    const axisX = scale(low, high, logx, ...inner);
    const bottomOf = logy ? 0.5 : 0, topOf = logy ? most * 1.6 : most * 1.06;
    const py = scale(bottomOf, topOf, logy, base, top);
    const y = (value) => (value > bottomOf ? py(value) : base);
    let path = `M${left} ${base}`;
    n.forEach((value, i) => { path += `V${y(Number(value)).toFixed(1)}H${px(i + 1).toFixed(2)}`; });
    path += `V${base}`;

    const chosen = svg("rect", { class: "chosen", y: top, height: base - top, width: 0 });
    const guide = svg("line", { class: "guide", y1: top, y2: base, visibility: "hidden" });
    const readout = svg("text", { class: "readout", y: top + 14 });
    const labels = ticks(bottomOf || 1, topOf, logy, tall / 50);
    const picture = svg("svg", { width, height: tall, viewBox: `0 0 ${width} ${tall}`, role: "img", "aria-label": `Histogram of ${app.state.x} from ${short(low)} to ${short(high)}, ${n.length} bins, highest ${count(most)}`,
      onpointerdown: down, onpointermove: hover, onpointerleave: () => { guide.setAttribute("visibility", "hidden"); readout.textContent = ""; } },
    ...(logy ? labels : ticks(0, topOf, false, tall / 50)).map(({ value, label }) => svg("g", null,
      svg("line", { class: "rule", x1: left, x2: width - right, y1: py(value), y2: py(value) }), svg("text", { x: left - 8, y: py(value) + 4, "text-anchor": "end" }, label))),
    svg("path", { class: "bins", d: path }),
    svg("line", { class: "axis", x1: left, x2: width - right, y1: base, y2: base }),
    ...ticks(low, high, logx, width / 90).map(({ value, label }) => svg("g", null,
      svg("line", { class: "axis", x1: axisX(value), x2: axisX(value), y1: base, y2: base + 5 }), svg("text", { x: axisX(value), y: base + 19, "text-anchor": "middle" }, label))),
    svg("text", { x: width - right, y: tall - 6, "text-anchor": "end", class: "title" }, app.state.x),
    chosen, guide, readout);

    const at = (e) => Math.min(Math.max(e.clientX - picture.getBoundingClientRect().left, left), width - right);
    const unscale = inverse(low, high, logx, ...inner);

    function hover(e) {
      const i = Math.min(Math.floor((at(e) - left) / (width - right - left) * n.length), n.length - 1);
      guide.setAttribute("x1", at(e));
      guide.setAttribute("x2", at(e));
      guide.setAttribute("visibility", "visible");
      const before = at(e) > width / 2;
      readout.setAttribute("x", at(e) + (before ? -8 : 8));
      readout.setAttribute("text-anchor", before ? "end" : "start");
      readout.textContent = `${short(edge(i))} to ${short(edge(i + 1))}: ${count(n[i])}`;
    }

    function down(e) {
      if (e.button !== 0) return;
      const from = at(e);
      picture.setPointerCapture(e.pointerId);
      const span = (e) => [Math.min(from, at(e)), Math.max(from, at(e))];
      const drag = (e) => {
        chosen.setAttribute("x", span(e)[0]);
        chosen.setAttribute("width", span(e)[1] - span(e)[0]);
      };
      const end = (e) => {
        picture.removeEventListener("pointermove", drag);
        chosen.setAttribute("width", 0);
        const [a, b] = span(e);
        if (e.type === "pointerup" && b - a > 4) app.go({ low: String(Number(unscale(a).toPrecision(4))), high: String(Number(unscale(b).toPrecision(4))) }, { step: true });
      };
      picture.addEventListener("pointermove", drag);
      picture.addEventListener("pointerup", end, { once: true });
      picture.addEventListener("pointercancel", end, { once: true });
    }
    return picture;
  }

  // picture returns the plot as a file of its own, which has no style sheet, in light colours on white: it may be shown anywhere.
  function picture() {
    const original = plot.querySelector("svg");
    if (!original) return new Blob();
    const copy = original.cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const all = [...original.querySelectorAll("*")];
    original.style.colorScheme = "light";
    copy.querySelectorAll("*").forEach((element, i) => {
      const style = getComputedStyle(all[i]);
      for (const name of ["fill", "stroke", "font-family", "font-size"]) element.setAttribute(name, style.getPropertyValue(name));
      element.removeAttribute("class");
    });
    original.style.colorScheme = "";
    copy.prepend(svg("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
    return new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
  }

  let width = 0;
  new ResizeObserver(() => {
    if (result && plot.clientWidth && plot.clientWidth !== width) draw();
    width = plot.clientWidth;
  }).observe(plot);

  return {
    element: h("div", { class: "histogram" },
      h("form", { class: "bar", onsubmit: submit },
        labelled("Expression", x, { class: "wide" }), labelled("Condition", where, { class: "wide" }), names,
        labelled("Bins", bins), labelled("From", low), labelled("To", high),
        labelled("log x", logX, { class: "check" }), labelled("log y", logY, { class: "check" }),
        h("button", { class: "primary" }, "Draw"), whole, saver),
      progress.element, plot, below, status, h("p", { class: "dim" }, "Drag over the histogram to choose a range.")),

    clear() {
      progress.stop();
      drawnFor = namesOf = "";
      result = null;
      plot.replaceChildren();
      below.replaceChildren();
      whole.hidden = saver.hidden = true;
    },

    async show() {
      const { ntuple, state } = app;
      if (!ntuple || ntuple.error) return below.replaceChildren(ntuple ? failure(ntuple.error) : h("p", null, "There is no RNTuple in this file."));
      for (const [input, value] of [[x, state.x], [where, state.where], [bins, state.bins], [low, state.low], [high, state.high]]) {
        input.value = value ?? "";
      }
      logX.checked = state.log?.includes("x") ?? false;
      logY.checked = state.log?.includes("y") ?? false;
      whole.hidden = !state.low && !state.high;
      if (namesOf !== ntuple.name) {
        namesOf = ntuple.name;
        app.schema(ntuple.name).then(({ fields }) => {
          const paths = new Map();
          const visit = (field) => {
            if (field.drawable) paths.set(field.path, field.expression);
            field.fields?.forEach(visit);
          };
          fields.forEach(visit);
          names.replaceChildren(...[...new Set(paths.values())].slice(0, 5000).map((value) => h("option", { value })));
          const { x, field, view } = app.state;
          if (!x && paths.has(field) && view === "histogram") app.go({ x: paths.get(field) });
        }, () => {});
      }
      if (state.x) return run();
      this.clear();
      below.replaceChildren(h("p", null, "Write an expression, or choose a field, to draw how often its values occur."));
    },
  };
}
