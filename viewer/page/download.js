// Download: entries that meet a condition, as a file of another format.

import { failure, h, labelled, plural, save, size } from "./dom.js";
import { matching } from "./entries.js";
import { task } from "./task.js";

const titles = { csv: "CSV", jsonl: "JSON Lines", parquet: "Parquet" };
const piece = 8 << 20; // bytes that are gathered before they become the browser's, which may keep them on disk

export function download(app) {
  const progress = task(app.engine);
  const result = h("div", { role: "status" });
  const format = h("select");
  const fields = h("input", { placeholder: "all, or run, Muon_*", spellcheck: "false" });
  const where = h("input", { placeholder: "all, or nMuon == 2", spellcheck: "false" });
  const first = h("input", { type: "number", min: 0, step: 1, class: "number", placeholder: "0" });
  const number = h("input", { type: "number", min: 0, step: 1, class: "number", placeholder: "all" });

  async function run(e) {
    e.preventDefault();
    const { ntuple } = app;
    const params = { ntuple: ntuple.name, format: format.value };
    const blobs = [];
    let gathered = [], bytes = 0, all = 0;
    const flush = () => {
      blobs.push(new Blob(gathered));
      gathered = [];
      bytes = 0;
    };
    result.replaceChildren();
    app.note({ format: format.value, fields: fields.value.trim(), where: where.value.trim() });
    try {
      if (fields.value.trim()) {
        params.fields = matching((await app.schema(ntuple.name)).fields.filter((f) => !f.error).map((f) => f.path), fields.value);
        if (params.fields.length === 0) throw Object.assign(new Error("No field has such a name."), { kind: "invalid" });
      }
      if (where.value.trim()) params.where = where.value.trim();
      if (first.value) params.first = Number(first.value);
      if (number.value) params.count = Number(number.value);
      const { name, mime, rows } = await progress.run("download", params, ({ chunk }) => {
        if (!chunk) return;
        gathered.push(chunk);
        bytes += chunk.length;
        all += chunk.length;
        if (bytes > piece) flush();
      });
      flush();
      save(new Blob(blobs, { type: mime }), name);
      result.replaceChildren(h("p", { class: "good" }, `✓ ${name}: ${plural(rows, "entry", "entries")}, ${size(all)}`));
    } catch (error) {
      result.replaceChildren(error.kind === "cancelled" ? h("p", null, "Cancelled: nothing was saved.") : failure(error));
    }
  }

  return {
    element: h("div", { class: "download" }, h("h1", null, "Download entries"),
      h("form", { class: "form", onsubmit: run }, labelled("Format", format), labelled("Fields", fields), labelled("Condition", where),
        labelled("First entry", first), labelled("Number of entries", number), h("p", { class: "actions" }, h("button", { class: "primary" }, "Download"))),
      progress.element, result),

    clear() {
      progress.stop();
      result.replaceChildren();
    },

    show() {
      const { source, state } = app;
      format.replaceChildren(...(source.formats ?? ["csv", "jsonl"]).map((name) => h("option", { value: name, selected: name === state.format }, titles[name] ?? name)));
      fields.value = state.fields ?? "";
      where.value = state.where ?? "";
    },
  };
}
