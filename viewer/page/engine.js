// The page's side of the engine: the library, which runs in a worker.

/** An error of the engine: kind is one of those of the protocol. */
export class EngineError extends Error {
  /** @param {{kind: string, message: string, path?: string, offset?: number}} error */
  constructor({ kind, message, path, offset }) {
    super(message);
    Object.assign(this, { kind, path, offset });
  }
}

const crashed = { kind: "internal", message: "The engine has crashed, and was started again. Please report this file." };

/** The engine. One source is open at a time. */
export class Engine {
  /** @type {Map<number, {resolve: Function, reject: Function, progress?: Function}>} */
  #pending = new Map();
  #id = 0;
  #start;
  /** @type {Worker | null} */
  #worker = null;
  #source = null;

  /** @param {() => Worker} start starts a worker */
  constructor(start) {
    this.#start = start;
    this.#worker = this.#run();
  }

  /**
   * Calls a method.
   *
   * @param {string} method
   * @param {object} params
   * @param {{signal?: AbortSignal, progress?: (p: {done: number, total: number, unit: string, chunk?: Uint8Array}) => void}} [options]
   */
  call(method, params = {}, { signal, progress } = {}) {
    if (signal?.aborted) return Promise.reject(new EngineError({ kind: "cancelled", message: "cancelled" }));
    if (!this.#worker) {
      this.#worker = this.#run();
      if (this.#source && method !== "open") this.#post("open", this.#source).catch(() => {});
    }
    if (method === "open") this.#source = params;
    return this.#post(method, params, signal, progress);
  }

  #post(method, params, signal, progress) {
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, progress });
      signal?.addEventListener("abort", () => {
        this.#worker?.postMessage({ cancel: id });
        this.#end(id)?.reject(new EngineError({ kind: "cancelled", message: "cancelled" }));
      }, { once: true });
      this.#worker.postMessage({ id, method, params });
    });
  }

  #end(id) {
    const call = this.#pending.get(id);
    this.#pending.delete(id);
    return call;
  }

  #run() {
    const worker = this.#start();
    worker.onmessage = ({ data }) => {
      if (data.crash) return worker.onerror({ message: data.crash });
      if (data.progress || data.chunk) this.#pending.get(data.id)?.progress?.(data.progress ?? data);
      else if (data.error) this.#end(data.id)?.reject(new EngineError(data.error));
      else this.#end(data.id)?.resolve(data.result);
    };
    worker.onerror = (event) => {
      worker.terminate();
      this.#worker = null;
      console.error("engine:", event.message);
      const all = [...this.#pending.values()];
      this.#pending.clear();
      for (const { reject } of all) reject(new EngineError(crashed));
    };
    return worker;
  }
}
