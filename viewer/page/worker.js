// The worker: starts the engine, and hands it what the page asks.
import { load } from "../wasm/load.js";

let early = [];
let handle = (message) => early.push(message);

self.onmessage = async ({ data }) => {
  if (!data.wasm) return handle(data);
  try {
    handle = await load(data.wasm, (answer, transfer = []) => self.postMessage(answer, transfer));
  } catch (error) {
    return self.postMessage({ crash: String(error) });
  }
  early.forEach(handle);
  early = [];
};
