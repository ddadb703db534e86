// Check: reads the whole file and says what is wrong with it.

import { count, failure, h, plural, size, table } from "./dom.js";
import { task } from "./task.js";

export function check(app) {
  const progress = task(app.engine);
  const result = h("div", { role: "status" });

  async function run(ntuple) {
    result.replaceChildren();
    try {
      const { ok, findings, clusters, pages, bytes, unsummed, skipped } = await progress.run("verify", ntuple ? { ntuple } : {});
      const whole = ntuple ?? "the file";
      result.replaceChildren(
        h("p", { class: ok ? "good" : "bad" }, ok ? `✓ Nothing is wrong with ${whole}.` : `✗ Something is wrong with ${whole}.`),
        h("p", null, `Checked: ${plural(pages, "page")} in ${plural(clusters, "cluster")}, ${size(bytes)}${unsummed > 0 ? `; ${plural(unsummed, "page")} without a checksum` : ""}.`),
        ...(skipped ?? []).map((text) => h("p", { class: "warning" }, text)),
        ...(findings.length ? [table("Findings", ["Severity", "What", "Where", "Byte", "Message"], findings.map((f) => [f.severity, f.what ?? "", f.where ?? "", f.offset != null ? count(f.offset) : "", f.message]), new Set([3]))] : []));
    } catch (error) {
      result.replaceChildren(error.kind === "cancelled" ? h("p", null, "Cancelled.") : failure(error));
    }
  }

  return {
    element: h("div", { class: "check" },
      h("h1", null, "Check for damage"),
      h("p", null, "Reads everything, compares all checksums and decodes every page."),
      h("p", { class: "actions" }, h("button", { class: "primary", onclick: () => run() }, "Check the file"),
        h("button", { onclick: () => run(app.state.ntuple) }, "Check only this RNTuple")),
      progress.element, result),
    clear() {
      progress.stop();
      result.replaceChildren();
    },
    show() {},
  };
}
