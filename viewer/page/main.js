// The page: opens files, and shows what the state of its address says.

import { details } from "./details.js";
import { count, failure, h, plural, size } from "./dom.js";
import { download } from "./download.js";
import { Engine } from "./engine.js";
import { entries } from "./entries.js";
import { histogram } from "./histogram.js";
import { records } from "./records.js";
import { read, write } from "./state.js";
import { storage } from "./storage.js";
import { tree } from "./tree.js";
import { check } from "./check.js";

const block = (id) => document.getElementById(id);

// startWorker starts the engine, from blocks of this document where it is one file with
// everything in it. Else the page fetches and compiles it while the worker starts.
function startWorker() {
  const policy = globalThis.trustedTypes?.createPolicy("rnt", { createScriptURL: (url) => url }) ?? { createScriptURL: (url) => url };
  const bytes = (id) => block(id) && Uint8Array.from(atob(block(id).textContent.trim()), (c) => c.charCodeAt(0));
  const source = block("rnt-worker")?.textContent;
  const url = policy.createScriptURL(source ? URL.createObjectURL(new Blob([source], { type: "text/javascript" })) : new URL("worker.js", document.baseURI).href);
  return () => {
    const program = source ? Promise.resolve({ bytes: bytes("rnt-wasm") }) : fetchProgram();
    const worker = new Worker(url);
    program.then((wasm) => worker.postMessage({ wasm }, wasm.bytes ? [wasm.bytes.buffer] : []))
      .catch((error) => worker.dispatchEvent(new ErrorEvent("error", { message: String(error) })));
    return worker;
  };
}

// fetchProgram fetches the program of the engine: compiled if the server has the browser decompress it, else its bytes.
async function fetchProgram() {
  const response = await fetch(new URL("rnt.wasm.zst", document.baseURI));
  if (response.headers.get("Content-Type") === "application/wasm") return { module: await WebAssembly.compileStreaming(response) };
  return { bytes: new Uint8Array(await response.arrayBuffer()) };
}

const inside = block("rnt-file"); // a file that came with the page
const engine = new Engine(startWorker());
let state = read(location.hash);
/** The answer of open, with the parameters of the call. @type {any} */
let source = null;
let opening = new AbortController();
const schemas = new Map();

/** What views may use. */
const app = {
  engine,
  get state() { return state; },
  get source() { return source; },
  /** The RNTuple that is chosen. */
  get ntuple() { return source?.ntuples.find((t) => t.name === state.ntuple); },

  /** Changes the state; as a step that "back" undoes if asked for. */
  go(change, { step = false } = {}) {
    state = { ...state, ...change };
    const address = write(state);
    if (address !== location.hash) history[step ? "pushState" : "replaceState"](null, "", address);
    render();
  },

  /** Changes the state without showing it again: the view that calls shows it already. */
  note(change) {
    state = { ...state, ...change };
    history.replaceState(null, "", write(state));
  },

  /** Returns the schema of an RNTuple. */
  schema(ntuple) {
    if (!schemas.has(ntuple)) {
      const call = engine.call("schema", { ntuple });
      schemas.set(ntuple, call);
      call.catch(() => schemas.delete(ntuple));
    }
    return schemas.get(ntuple);
  },
};

const views = {
  details: ["Details", details(app)],
  entries: ["Entries", entries(app)],
  histogram: ["Histogram", histogram(app)],
  storage: ["Storage", storage(app)],
  records: ["Bytes", records(app)],
  check: ["Check", check(app)],
  download: ["Download", download(app)],
};
const names = Object.keys(views);

const side = tree({
  schema: app.schema,
  choose: (node) => {
    const field = node.field?.path ?? "";
    const other = node.ntuple !== state.ntuple;
    const change = { ntuple: node.ntuple, field, ...(other ? ofNTuple : {}) };
    app.go(state.view === "histogram" && node.field?.drawable ? { ...change, x: node.field.expression, low: "", high: "" } : change, { step: true });
  },
});

// What does not hold for another RNTuple, or for another file.
const ofNTuple = { field: "", fields: "", row: "", entry: "", x: "", where: "", low: "", high: "", cluster: "" };
const ofFile = { ...ofNTuple, url: "", file: "", ntuple: "", view: "", record: "" };

const chooser = h("input", { type: "file", class: "hidden", tabindex: -1, "aria-hidden": "true", onchange: () => chooser.files[0] && openFile(chooser.files[0]) });
const choose = () => { chooser.value = ""; chooser.click(); };
const address = h("input", { type: "url", required: true, placeholder: "https://…/file.root", "aria-label": "Address of a file", autocomplete: "url", spellcheck: "false" });
const title = h("p", { class: "title" });
const status = h("p", { class: "hidden", role: "status" });
const tabs = h("div", { role: "tablist", "aria-label": "Views", onkeydown: tabKey }, ...names.map((name) =>
  h("button", { role: "tab", id: `tab-${name}`, "aria-controls": `view-${name}`, onclick: () => app.go({ view: name }, { step: true }) }, views[name][0])));
const panels = names.map((name) => h("section", { role: "tabpanel", id: `view-${name}`, "aria-labelledby": `tab-${name}`, hidden: true }, views[name][1].element));
const message = h("div", { class: "message" });
const start = h("div", { class: "start" },
  h("h1", null, "Look into an RNTuple"),
  h("p", null, "Drop a file here, choose one, or give an address. The file is read where it is, in pieces, as far as you look; nothing is sent anywhere."),
  h("p", null, h("button", { class: "primary", onclick: choose }, "Choose a file…")),
  h("p", { class: "dim" }, "A file may have any size: only the parts that are shown are read. A server must let other sites read its files (CORS), and should answer requests for ranges."));
const aside = h("aside", { "aria-label": "Fields" }, side.element);
const fold = h("button", { class: "narrow", "aria-expanded": "true", onclick: () => showSide(aside.hidden) }, "Fields");
const main = h("main", { id: "main" }, tabs, ...panels);
const work = h("div", { class: "work", hidden: true }, aside, main);
showSide(!matchMedia("(max-width: 760px)").matches);

document.body.append(
  h("header", null, h("a", { class: "skip", href: "#main", onclick: skip }, "Skip to the view"), fold, title,
    !inside && h("form", { onsubmit: (e) => { e.preventDefault(); openURL(address.value.trim()); } }, address, h("button", null, "Open address")),
    h("button", { onclick: choose }, "Open file…"), h("button", { onclick: copyLink }, "Copy link"), theme()),
  message, start, work, chooser, status);

function skip(e) {
  e.preventDefault();
  tabs.querySelector('[aria-selected="true"]')?.focus();
}

function showSide(on) {
  aside.hidden = !on;
  fold.setAttribute("aria-expanded", String(on));
}

function theme() {
  const root = document.documentElement;
  const themes = ["Auto", "Light", "Dark"];
  const set = (name) => {
    root.dataset.theme = name.toLowerCase();
    button.textContent = name;
    button.setAttribute("aria-label", `Colours: ${name}`);
  };
  const button = h("button", { class: "theme", onclick: () => {
    const next = themes[(themes.indexOf(button.textContent) + 1) % themes.length];
    set(next);
    try { localStorage.setItem("theme", next); } catch { /* not where pages may keep nothing */ }
  } });
  let kept = null;
  try { kept = localStorage.getItem("theme"); } catch { /* as above */ }
  set(themes.includes(kept) ? kept : "Auto");
  return button;
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    say(state.url ? "The link was copied." : "The link was copied. Who opens it must choose the same file.");
  } catch {
    say("The browser does not allow copying: the link is the address of this page.");
  }
}

let quiet = 0;

// say shows a short message for a while.
function say(text) {
  status.textContent = text;
  status.classList.remove("hidden");
  clearTimeout(quiet);
  quiet = setTimeout(() => { status.classList.add("hidden"); }, 4000);
}

function tabKey(e) {
  const at = names.indexOf(state.view);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[e.key];
  if (to == null) return;
  e.preventDefault();
  app.go({ view: names[(to + names.length) % names.length] });
  tabs.querySelector('[aria-selected="true"]').focus();
}

const openFile = (file) => open({ file }, { file: file.name });
const openURL = (url) => open({ url: new URL(url, document.baseURI).href }, { url: new URL(url, document.baseURI).href });

// open opens a source. A state that a link brought is kept if it is of this source.
async function open(params, change) {
  opening.abort();
  const { signal } = opening = new AbortController();
  const same = change.url ? state.url === change.url : !state.url && state.file === change.file;
  state = same ? { ...state, ...change } : { ...state, ...ofFile, ...change };
  history[same || !source ? "replaceState" : "pushState"](null, "", write(state));
  const name = change.file ?? change.url;
  title.textContent = name;
  document.title = `${name} – RNTuple viewer`;
  source = null;
  schemas.clear();
  for (const view of Object.values(views)) view[1].clear();
  work.hidden = true;
  start.hidden = true;
  message.replaceChildren(h("p", { class: "busy", role: "status" }, `Opening ${name} …`));
  document.documentElement.dataset.ready = "";
  try {
    source = { ...await engine.call("open", params, { signal }), file: params.file };
  } catch (error) {
    if (signal.aborted) return;
    message.replaceChildren(failure(error));
    start.hidden = false;
    document.documentElement.dataset.ready = "failed";
    return;
  }
  message.replaceChildren(...(source.warnings ?? []).map((text) => h("p", { class: "warning", role: "status" }, text)));
  title.replaceChildren(h("strong", null, source.name ?? name), ` ${size(source.size)}, ${plural(source.ntuples.length, "RNTuple")}`);
  work.hidden = false;
  side.show(source);
  app.go(chooseNTuple());
  document.documentElement.dataset.ready = "open";
}

// chooseNTuple returns the change to a state whose RNTuple is not in the file: to one that is, and no older cycle.
function chooseNTuple() {
  const { ntuples } = source;
  if (ntuples.some((t) => t.name === state.ntuple)) return {};
  return { ...(state.ntuple ? ofNTuple : {}), ntuple: (ntuples.find((t) => !t.error && !t.older) ?? ntuples.find((t) => !t.older))?.name ?? "" };
}

let marked = "";

// render shows the state.
function render() {
  if (!source) return;
  if (!views[state.view]) state.view = "details";
  names.forEach((name, i) => {
    const on = name === state.view;
    panels[i].hidden = !on;
    tabs.children[i].setAttribute("aria-selected", String(on));
    tabs.children[i].tabIndex = on ? 0 : -1;
  });
  const mark = JSON.stringify([source.name, state.ntuple, state.field]);
  if (mark !== marked && state.ntuple) side.mark(state.ntuple, state.field ?? "");
  marked = mark;
  views[state.view][1].show();
}

addEventListener("popstate", restore);
addEventListener("hashchange", restore);

// restore shows the state of the address.
function restore() {
  const next = read(location.hash);
  if (write(next) === write(state)) return;
  const other = next.url && next.url !== state.url;
  state = next;
  if (other) openURL(next.url);
  else if (source) app.go(chooseNTuple());
}

let over = 0; // elements that what is dragged has entered and not left

for (const type of ["dragenter", "dragover", "dragleave", "drop"]) {
  addEventListener(type, (e) => {
    if (!e.dataTransfer?.types.includes("Files")) return;
    e.preventDefault();
    over = type === "drop" ? 0 : over + (type === "dragenter") - (type === "dragleave");
    document.body.classList.toggle("dropping", over > 0);
    if (type === "drop" && e.dataTransfer.files[0]) openFile(e.dataTransfer.files[0]);
  });
}

if (inside) {
  const name = inside.dataset.name;
  open({ bytes: Uint8Array.from(atob(inside.textContent.trim()), (c) => c.charCodeAt(0)), name }, { file: name });
} else if (state.url) {
  openURL(state.url);
} else {
  document.documentElement.dataset.ready = "start";
  if (state.file) message.replaceChildren(h("p", { class: "warning", role: "status" }, `Choose ${state.file} to see what the link shows.`));
}
