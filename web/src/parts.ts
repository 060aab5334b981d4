/** The parts of the library: where each stands in the page, compressed and as base64, or beside it as a file. */

export type Part = "first" | "rest" | "audit";

const asked = new Map<Part, Promise<WebAssembly.Module>>();

/** A part, unpacked and compiled when it is first asked for. */
export function part(name: Part): Promise<WebAssembly.Module> {
  let module = asked.get(name);
  if (!module) {
    module = load(name);
    // What failed may be asked for again.
    module.catch(() => asked.delete(name));
    asked.set(name, module);
  }
  return module;
}

async function load(name: Part): Promise<WebAssembly.Module> {
  const stream = (await packed(name)).pipeThrough(new DecompressionStream("deflate-raw"));
  // Compiled while it is unpacked.
  return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}

async function packed(name: Part): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const element = await found(name);
  const file = element.dataset["file"];
  if (file !== undefined) {
    const answer = await fetch(file).catch(() => null);
    if (!answer?.ok || !answer.body) throw new Error(`${file} is not beside this page; tilework.html has everything in one file`);
    return answer.body;
  }
  const text = atob(element.textContent?.trim() ?? "");
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  // A blob would come by way of another process.
  return new ReadableStream({
    start(stream) {
      stream.enqueue(bytes);
      stream.close();
    },
  });
}

/** The element of a part. Those behind the script are there once the page is read. */
async function found(name: Part): Promise<HTMLElement> {
  if (name !== "first" && document.readyState === "loading") {
    await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
  }
  const element = document.getElementById(`${name}-part`);
  if (!element) throw new Error(`this page has no part ${name}`);
  return element;
}
