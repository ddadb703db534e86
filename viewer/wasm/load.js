// Starts the engine, and carries requests and answers between it and the page.

import { decompress } from "fzstd";
import "wasm_exec"; // of the Go toolchain: it defines Go

// load starts the engine from source, {bytes} of the program or a compiled {module}, and returns the function that takes
// requests, {id, method, params}, and {cancel: id}. post is called with each answer and what to transfer with it, and
// with {crash: text} if the engine has ended, which it does for a bug only.
export async function load(source, post) {
  const { bytes } = source; // compressed, unless the browser has changed that: programs begin with a zero
  const module = source.module ?? await WebAssembly.compile(bytes[0] ? decompress(bytes) : bytes);
  const go = new globalThis.Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  const engine = await new Promise((started) => {
    globalThis.rntupleHost = {
      start: (request, cancel) => started({ request, cancel }),
      answer: (id, member, text, bytes) => {
        const value = Object.assign(JSON.parse(text), bytes);
        post({ id, [member]: value }, Object.values(bytes).map((b) => b.buffer));
      },
      turn,
      get,
    };
    go.run(instance).finally(() => post({ crash: "the engine has ended" }));
  });
  return (message) => {
    if ("cancel" in message) return engine.cancel(message.cancel);
    let { file, bytes, ...params } = message.params ?? {};
    if (bytes) file = new Blob([bytes]);
    if (file && params.name === undefined) params.name = file.name;
    engine.request(message.id, message.method, JSON.stringify(params), file);
  };
}

const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()();

// turn returns a promise that is kept once messages that have come have been taken.
function turn() {
  return new Promise((kept) => {
    waiting.push(kept);
    channel.port2.postMessage(0);
  });
}

// get fetches the bytes of a URL from first up to end, or headers only if there are none. Of a server that sends everything
// instead it takes most bytes; tooLarge says that there are more. status is 0 if nothing came, size that of the whole
// file, -1 if it is not known.
async function get(url, first, end, most, signal) {
  let response;
  const options = end > first ? { headers: { Range: `bytes=${first}-${end - 1}` } } : { method: "HEAD" };
  try {
    response = await fetch(url, { ...options, signal, cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" });
  } catch {
    return { status: 0, size: -1, version: "", bytes: new Uint8Array(), tooLarge: false };
  }
  const h = response.headers;
  const answer = { status: response.status, size: -1, version: h.get("ETag") ?? h.get("Last-Modified") ?? "", bytes: new Uint8Array(), tooLarge: false };
  if (response.status === 206) {
    answer.size = Number(/\/(\d+)$/.exec(h.get("Content-Range") ?? "")?.[1] ?? -1);
    if (end > first) answer.bytes = new Uint8Array(await response.arrayBuffer());
  } else if (response.status === 200) {
    if (h.get("Content-Length") !== null && !h.get("Content-Encoding")) answer.size = Number(h.get("Content-Length"));
    if (end > first) await takeAll(response, answer, most);
  } else {
    await response.body?.cancel();
  }
  return answer;
}

// takeAll takes the body of a response, unless it has more than most bytes.
async function takeAll(response, answer, most) {
  const parts = [];
  let n = 0;
  const reader = response.body.getReader();
  for (;;) {
    answer.tooLarge = n > most || answer.size > most;
    if (answer.tooLarge) return reader.cancel();
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    n += value.length;
  }
  answer.bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
}
