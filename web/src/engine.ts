/** The library, compiled to WebAssembly: a request in, an answer out. It comes in parts (`parts.mjs`). */

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

/** What was asked takes a part that is not there yet. */
export class Unready extends Error {
  constructor() {
    super("a part of the library is not loaded");
  }
}

export class Engine {
  private exports: Exports | null = null;
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder();

  private constructor(private parts: readonly WebAssembly.Module[]) {}

  /** One of the parts that there are, the first one first. */
  static async of(...parts: WebAssembly.Module[]): Promise<Engine> {
    const engine = new Engine(parts);
    await engine.start();
    return engine;
  }

  /** Another part is there. */
  async add(part: WebAssembly.Module): Promise<void> {
    this.parts = [...this.parts, part];
    await this.start();
  }

  /** Asks, with the bytes of a file where the request is about one. */
  ask<T>(request: object, bytes?: Uint8Array): T {
    if (!this.exports) throw new Unready();
    const text = this.encoder.encode(JSON.stringify(request));
    try {
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
    } catch (error) {
      // Whatever else stopped it left its memory half written, so the next question goes to a new one.
      if (!(error instanceof Refused)) void this.start();
      throw error;
    }
  }

  /** Joins the parts. What a missing part would do throws; each part puts its own in the place of that. */
  private async start(): Promise<void> {
    this.exports = null;
    const [first, ...others] = this.parts;
    if (!first) return;
    const imports: WebAssembly.Imports = {};
    for (const { module, name } of WebAssembly.Module.imports(first)) {
      (imports[module] ??= {})[name] = () => {
        throw new Unready();
      };
    }
    const { exports } = await WebAssembly.instantiate(first, imports);
    for (const part of others) await WebAssembly.instantiate(part, { ...imports, primary: exports });
    // A part that came meanwhile starts its own.
    if (this.parts.length === others.length + 1) this.exports = exports as unknown as Exports;
  }
}
