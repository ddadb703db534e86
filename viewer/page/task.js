// A call of the engine that takes a while: its progress, and a button that ends it.

import { count, h, size } from "./dom.js";

/** @param {import("./engine.js").Engine} engine */
export function task(engine) {
  /** @type {AbortController | null} */
  let running = null;
  const bar = h("progress", { "aria-label": "Progress" });
  const text = h("span", { class: "dim" });
  const element = h("div", { class: "task", hidden: true }, bar, text, h("button", { type: "button", onclick: () => running?.abort() }, "Cancel"));

  function progress({ done, total, unit }) {
    if (total > 0) {
      bar.max = Number(total);
      bar.value = Number(done);
    } else {
      bar.removeAttribute("value");
    }
    const format = unit === "bytes" ? size : count;
    text.textContent = total > 0 ? `${format(done)} of ${format(total)}${unit === "bytes" ? "" : ` ${unit}`}` : "";
  }

  return {
    element,
    get running() { return running !== null; },
    stop() { running?.abort(); },

    /**
     * Calls a method, after ending the call before. It is shown if it takes longer than a moment.
     *
     * @param {string} method
     * @param {object} params
     * @param {(p: any) => void} [each] is called with every progress, too
     */
    async run(method, params, each) {
      running?.abort();
      const mine = running = new AbortController();
      bar.removeAttribute("value");
      text.textContent = "";
      const slow = setTimeout(() => { element.hidden = false; }, 150);
      try {
        return await engine.call(method, params, { signal: mine.signal, progress: (p) => {
          if (p.total != null && running === mine) progress(p);
          each?.(p);
        } });
      } finally {
        clearTimeout(slow);
        if (running === mine) {
          running = null;
          element.hidden = true;
        }
      }
    },
  };
}
