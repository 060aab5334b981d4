/** Reads and judges dumps beside the page, so that it stays alive meanwhile. */

import type { Audited } from "./answers";
import { Engine, Refused, type Problem } from "./engine";

/** What the page asks of the worker. */
export type Ask =
  | { do: "start"; parts: WebAssembly.Module[] }
  | { do: "read"; files: File[]; compare: boolean }
  | { do: "suppose"; instead: string[] }
  | { do: "words" }
  | { do: "file" };

/** What the worker says. */
export type Say =
  | { is: "reading"; bytes: number; of: number; name: string }
  | { is: "audited"; audited: Audited; milliseconds: number; files: number; left: number }
  | { is: "words"; words: string }
  | { is: "file"; html: string }
  | { is: "refused"; problem: Problem };

/** How many of each kind are listed. */
const TOP = 20;

let engine: Promise<Engine>;
let audited = { files: 0, left: 0, milliseconds: 0 };
const say = (message: Say) => (self as unknown as { postMessage(message: Say): void }).postMessage(message);

self.onmessage = (event: MessageEvent<Ask>) => {
  const asked = event.data;
  if (asked.do === "start") {
    engine = Engine.of(...asked.parts);
    return;
  }
  void answer(asked).catch((error: unknown) => {
    const problem: Problem =
      error instanceof Refused
        ? error.problem
        : { found: String(error), field: null, rule: null, accepted: null, around: null };
    say({ is: "refused", problem });
  });
};

async function answer(asked: Exclude<Ask, { do: "start" }>): Promise<void> {
  const library = await engine;
  if (asked.do === "words") {
    say({ is: "words", words: library.ask<string>({ ask: "audit-words", top: TOP }) });
    return;
  }
  if (asked.do === "file") {
    say({ is: "file", html: library.ask<string>({ ask: "audit-file", top: TOP }) });
    return;
  }
  let instead: string[] = [];
  if (asked.do === "read") await read(library, asked.files, asked.compare);
  else instead = asked.instead;
  const start = performance.now();
  const found = library.ask<Audited>({ ask: "audit-page", top: TOP, instead });
  if (asked.do === "read") audited.milliseconds += performance.now() - start;
  say({ is: "audited", audited: found, ...audited });
}

async function read(library: Engine, files: File[], compare: boolean): Promise<void> {
  const names = files.map((file) => file.webkitRelativePath || file.name);
  library.ask({ ask: "audit-new", compare });
  const chosen = files.length === 1 ? [0] : library.ask<number[]>({ ask: "audit-select", names });
  const of = chosen.reduce((sum, place) => sum + (files[place]?.size ?? 0), 0);
  let bytes = 0;
  audited = { files: chosen.length, left: files.length - chosen.length, milliseconds: 0 };
  for (const place of chosen) {
    const [file, name] = [files[place], names[place]];
    if (!file || name === undefined) continue;
    say({ is: "reading", bytes, of, name });
    const content = new Uint8Array(await file.arrayBuffer());
    const start = performance.now();
    library.ask({ ask: "audit-read", name }, content);
    audited.milliseconds += performance.now() - start;
    bytes += file.size;
  }
  say({ is: "reading", bytes, of, name: "" });
}
