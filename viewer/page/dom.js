// What all views need: elements, formats of numbers, and downloads.

/**
 * Makes an HTML element. Strings become text nodes, never markup, so that nothing a file
 * holds is ever interpreted.
 *
 * @param {string} tag
 * @param {Record<string, any>} [attributes] functions named on… listen; false and null are left out
 * @param {...(Node|string|number|null|undefined|false)} kids
 * @returns {any} an HTMLElement
 */
export function h(tag, attributes, ...kids) {
  return fill(document.createElement(tag), attributes, kids);
}

/** Makes an SVG element, as h does for HTML. @returns {any} an SVGElement */
export function svg(tag, attributes, ...kids) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, kids);
}

function fill(element, attributes, kids) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [k, v] of Object.entries(value)) element.style.setProperty(k, v);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...kids.filter((kid) => kid != null && kid !== false));
  return element;
}

/** Formats a count: 1,234,567. Counts beyond 2^53 come as decimal strings. */
export function count(n) {
  return n == null ? "" : BigInt(n).toLocaleString("en");
}

/** Formats a number of bytes: 1.31 MB. */
export function size(bytes) {
  if (bytes == null) return "";
  let n = Number(bytes), unit = 0;
  while (n >= 999.5 && unit < 6) { n /= 1000; unit++; }
  return `${unit ? n.toPrecision(3) : n} ${["B", "kB", "MB", "GB", "TB", "PB", "EB"][unit]}`;
}

/** Formats how many times smaller compression made something: 2.4×. */
export function ratio(uncompressed, compressed) {
  return compressed > 0 ? `${(uncompressed / compressed).toPrecision(2)}×` : "–";
}

/** Formats a number with few digits, for axes and statistics. */
export function short(x, digits = 5) {
  if (!Number.isFinite(x)) return String(x);
  const text = Number(x.toPrecision(digits));
  return Math.abs(text) >= 1e6 || (text !== 0 && Math.abs(text) < 1e-4)
    ? text.toExponential().replace("e+", "e") : text.toLocaleString("en", { maximumFractionDigits: 12 });
}

export function plural(n, what, many = what + "s") {
  return `${count(n)} ${n == 1 ? what : many}`;
}

/**
 * Makes a table of rows of cells; cells that are numbers, or strings after a number sign
 * as of numeric(), are aligned to the right.
 *
 * @param {string} caption for screen readers
 * @param {string[]} head
 * @param {(Node|string|number)[][]} rows
 * @param {Set<number>} right the columns to align to the right
 */
export function table(caption, head, rows, right = new Set()) {
  const side = (i) => (right.has(i) ? { class: "right" } : {});
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h("table", null, h("caption", { class: "hidden" }, caption),
      h("thead", null, h("tr", null, ...head.map((text, i) => h("th", { scope: "col", ...side(i) }, text)))),
      h("tbody", null, ...rows.map((cells) => h("tr", null, ...cells.map((cell, i) => h("td", side(i), cell)))))));
}

/** Makes a list of terms and what they are, without those that are empty. */
export function facts(...pairs) {
  return h("dl", { class: "facts" }, ...pairs.filter(([, value]) => value != null && value !== "" && value !== false)
    .map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value))));
}

/** Makes a labelled control. */
export function labelled(text, control, attributes) {
  return h("label", attributes, h("span", null, text), control);
}

/** Makes the message of an error, as text. @param {any} error */
export function failure(error) {
  const where = error.offset != null && !error.message.includes(String(error.offset)) ? ` (at byte ${count(error.offset)})` : "";
  const title = {
    corrupt: "The file is damaged", checksum: "The file is damaged: a checksum is wrong", unsupported: "Not supported",
    notfound: "Not found", network: "The server did not give the file", invalid: "This cannot be evaluated",
  }[error.kind] ?? "Something went wrong";
  return h("div", { class: "failure", role: "alert", "data-kind": error.kind ?? "internal" }, h("strong", null, title), h("p", null, error.message + where));
}

/** Has the browser save a blob. */
export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
