// What the page shows, as the part of its address behind the number sign, so that a link
// restores it.

/**
 * @typedef {object} State
 * @property {string} [url] of the file; absent for a local one
 * @property {string} [file] name of a local file
 * @property {string} [ntuple]
 * @property {string} [view] one of the tabs
 * @property {string} [field] path of the field whose details are shown
 * @property {string} [fields] patterns of the columns of the table, and of what is downloaded
 * @property {string} [row] the first row of the table in view
 * @property {string} [entry] the entry that is unfolded
 * @property {string} [x] the expression to draw
 * @property {string} [where]
 * @property {string} [bins]
 * @property {string} [low]
 * @property {string} [high]
 * @property {string} [log] axes that are logarithmic: x, y or xy
 * @property {string} [cluster]
 * @property {string} [record]
 * @property {string} [format] of a download
 */

/** Reads a state from an address. The URL in it may be relative to that of the page. @returns {State} */
export function read(hash) {
  const state = Object.fromEntries(new URLSearchParams(hash.replace(/^#/, "")));
  if (state.url && URL.canParse(state.url, document.baseURI)) state.url = new URL(state.url, document.baseURI).href;
  return state;
}

/** Returns the address of a state. @param {State} state */
export function write(state) {
  const known = Object.entries(state).filter(([, value]) => value != null && value !== "");
  return "#" + new URLSearchParams(known.map(([k, v]) => [k, String(v)]));
}
