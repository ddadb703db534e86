// Check: reads the whole file and says what is wrong with it.

import { count, failure, h, table } from "./dom.js";
import { task } from "./task.js";

export function check(app) {
  const progress = task(app.engine);
  const result = h("div", { role: "status" });

  async function run(ntuple) {
    result.replaceChildren();
    try {
      const { ok, findings } = await progress.run("verify", ntuple ? { ntuple } : {});
      const whole = ntuple ?? "the file";
      result.replaceChildren(
        h("p", { class: ok ? "good" : "bad" }, ok ? `✓ All of ${whole} was read, and nothing is wrong with it.` : `✗ Something is wrong with ${whole}.`),
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
