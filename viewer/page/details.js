// Details: of the file, the RNTuple and the field that are chosen.

import { count, facts, failure, h, plural, ratio, size, table } from "./dom.js";
import { fieldAt } from "./tree.js";

export function details(app) {
  const element = h("div", { class: "details" });
  let round = 0;

  function ofFile(source) {
    const { ntuples, others = [] } = source;
    return [
      h("h2", null, "RNTuples of the file"),
      ntuples.length === 0 ? h("p", null, "There is no RNTuple in this file.") : table("RNTuples", ["Name", "Entries", "Fields", "Columns", "Clusters", "On disk", "Ratio"], ntuples.map((t) => [
        h("button", { class: "link", onclick: () => app.go({ ntuple: t.name, field: "" }, { step: true }) }, t.name),
        ...(t.error ? [t.error.message, "", "", "", "", ""] : [count(t.entries), count(t.fields), count(t.columns), count(t.clusters), size(t.compressed), ratio(t.uncompressed, t.compressed)]),
      ]), new Set([1, 2, 3, 4, 5, 6])),
      ...(others.length ? [h("h2", null, "Other objects"), table("Other objects", ["Name", "Class"], others.map((o) => [o.name, o.type]))] : []),
    ];
  }

  function ofNTuple(t) {
    if (t.error) return [h("h1", null, t.name), failure(t.error)];
    return [
      h("h1", null, t.name),
      t.description && h("p", { class: "description" }, t.description),
      facts(["Entries", count(t.entries)], ["Fields", count(t.fields)], ["Columns", count(t.columns)],
        ["Clusters", `${count(t.clusters)}${t.clusterGroups > 1 ? ` in ${count(t.clusterGroups)} groups` : ""}`],
        ["On disk", size(t.compressed)], ["In memory", size(t.uncompressed)], ["Compression", t.compressed > 0 && ratio(t.uncompressed, t.compressed)],
        ["Written by", t.writer], ["Version", t.version]),
      ...(t.attributes?.length ? [h("h2", null, "Attribute sets"), h("ul", null, ...t.attributes.map((a) => h("li", null, typeof a === "string" ? a : `${a.name}, ${plural(a.entries, "entry", "entries")}`)))] : []),
    ];
  }

  function ofField(t, field) {
    const columns = field.columns ?? [];
    const several = columns.some((c) => c.representation > 0);
    return [
      h("h1", null, field.path),
      field.description && h("p", { class: "description" }, field.description),
      field.error && failure({ kind: "unsupported", message: field.error }),
      facts(["Type", h("code", null, field.type || "untyped")], ["Kind", field.role], ["Shows", field.source], ["On disk", `${size(field.compressed)}${t.compressed > 0 ? `, ${(field.compressed / t.compressed * 100).toPrecision(2)} % of ${t.name}` : ""}`],
        ["In memory", size(field.uncompressed)], ["Compression", ratio(field.uncompressed, field.compressed)]),
      h("p", { class: "actions" },
        field.drawable && h("button", { onclick: () => app.go({ view: "histogram", x: field.expression, low: "", high: "" }, { step: true }) }, "Draw a histogram"),
        !field.error && h("button", { onclick: () => app.go({ view: "entries", fields: field.path.split(".")[0] }, { step: true }) }, "Show its values")),
      ...(columns.length ? [h("h2", null, "Columns"), table("Columns of the field", ["Type", "Bits", "Elements", "Pages", "On disk", "In memory", "Ratio", "Compression", ...(several ? ["Representation"] : [])],
        columns.map((c) => [c.type, c.bits, count(c.elements), count(c.pages), size(c.compressed), size(c.uncompressed), ratio(c.uncompressed, c.compressed), c.compression?.join(", ") ?? "", ...(several ? [`${c.representation}${c.suspended ? ", suspended" : ""}`] : [])]),
        new Set([1, 2, 3, 4, 5, 6]))] : []),
      ...(field.fields?.length ? [h("h2", null, "Fields below it"), table("Fields below it", ["Name", "Type", "On disk", "Ratio"], field.fields.map((f) => [
        h("button", { class: "link", onclick: () => app.go({ field: f.path }, { step: true }) }, f.name), f.type, size(f.compressed), ratio(f.uncompressed, f.compressed),
      ]), new Set([2, 3]))] : []),
    ];
  }

  return {
    element,
    clear: () => element.replaceChildren(),

    async show() {
      const mine = ++round;
      const { source, ntuple, state } = app;
      const shown = (...content) => mine === round && element.replaceChildren(...content.filter((c) => c));
      if (!ntuple) return shown(...ofFile(source));
      if (!state.field) return shown(...ofNTuple(ntuple), ...ofFile(source));
      try {
        const field = fieldAt((await app.schema(ntuple.name)).fields, state.field);
        shown(...(field ? ofField(ntuple, field) : [failure({ kind: "notfound", message: `There is no field ${state.field} in ${ntuple.name}.` })]));
      } catch (error) {
        shown(...ofNTuple(ntuple), failure(error));
      }
    },
  };
}
