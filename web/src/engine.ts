/** The library, compiled to WebAssembly: a request in, an answer out. */

interface Exports {
  memory: WebAssembly.Memory;
  tilework_room(bytes: number): number;
  tilework_ask(requestBytes: number): number;
  tilework_answer(): number;
}

/** What is wrong with a text. `around` is the text before the place, at it, and behind it. */
export interface Problem {
  found: string;
  field: string | null;
  rule: string | null;
  accepted: string | null;
  around: [string, string, string] | null;
}

/** An answer that says no. */
export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.found);
  }
}

export class Engine {
  private readonly exports: Exports;
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder();

  constructor(instance: WebAssembly.Instance) {
    this.exports = instance.exports as unknown as Exports;
  }

  /** Asks, with the bytes of a file where the request is about one. */
  ask<T>(request: object, bytes?: Uint8Array): T {
    const text = this.encoder.encode(JSON.stringify(request));
    const { memory, tilework_room, tilework_ask, tilework_answer } = this.exports;
    const at = tilework_room(text.length + (bytes?.length ?? 0));
    // The memory may have moved while it grew, so views of it are made anew each time.
    const room = new Uint8Array(memory.buffer, at);
    room.set(text);
    if (bytes) room.set(bytes, text.length);
    const length = tilework_ask(text.length);
    const answer = new Uint8Array(memory.buffer, tilework_answer(), length);
    const said = JSON.parse(this.decoder.decode(answer)) as { ok: T } | { error: Problem };
    if ("error" in said) throw new Refused(said.error);
    return said.ok;
  }
}

/** The module that stands in this page, compressed and as base64. */
export async function readModule(): Promise<WebAssembly.Module> {
  const text = atob(document.getElementById("module")?.textContent?.trim() ?? "");
  const packed = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) packed[at] = text.charCodeAt(at);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

export async function startEngine(module: WebAssembly.Module): Promise<Engine> {
  return new Engine(await WebAssembly.instantiate(module, {}));
}
