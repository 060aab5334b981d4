// The library in three parts, so that the first picture waits for little: what it takes, what the other tabs take, and what
// an audit takes. It is compiled as one, and `wasm-split` of Binaryen moves functions out of it. A call of a function that is
// not there yet throws (`engine.ts`), so a function in the wrong part costs time and never an answer.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What an audit alone takes, by names of crates and modules in the mangled names of functions. */
const AUDIT = /14tilework_audit|16tilework_explain(7audited|6logged)|NtCs\w+_12tilework_web5audit|6flate2|11miniz_oxide|5buffa/;
/** What smaller layouts are found with, which the Layout tab lists. */
const SUGGEST = /14tilework_audit7suggest/;

/** What is asked for the first picture, and while somebody looks at it. */
const FIRST = ["bf16[4,8]{1,0:T(2,4)(2,1)}", "f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0}", "bf16[64,300]{1,0:T(8,128)(2,1)}"];

/** Runs `wasm-split` with the features that the library is compiled for. */
function split(...words) {
  const features = ["simd", "bulk-memory", "mutable-globals", "sign-ext", "nontrapping-float-to-int", "reference-types", "multivalue"];
  execFileSync("wasm-split", [...features.map((name) => `--enable-${name}`), ...words], { stdio: ["ignore", "ignore", "inherit"] });
}

/** The parts of a library whose functions have names. */
export function cut(file) {
  const folder = mkdtempSync(join(tmpdir(), "tilework-page-"));
  const at = (name) => join(folder, name);
  try {
    const whole = withoutCustom(readFileSync(file), ["name"]);
    writeFileSync(at("whole.wasm"), whole);
    split("--instrument", at("whole.wasm"), "-o", at("counting.wasm"));
    const { first, all } = used(readFileSync(at("counting.wasm")));
    const own = names(whole);
    // A function of the standard library can be named after an audit that was the first to need it.
    const audits = own.filter((name, place) => AUDIT.test(name) && !SUGGEST.test(name) && !all.has(place));
    writeFileSync(at("audits"), audits.join("\n"));
    writeFileSync(at("firsts"), own.filter((_, place) => first.has(place)).join("\n"));
    split("--split", "--debuginfo", `--split-funcs=@${at("audits")}`, at("whole.wasm"), "-o1", at("page.wasm"), "-o2", at("audit.wasm"));
    split("--split", `--keep-funcs=@${at("firsts")}`, at("page.wasm"), "-o1", at("first.wasm"), "-o2", at("rest.wasm"));
    // The first part's table grew when the rest left it, so what the audit says of its size is no longer so.
    const part = (name) => withoutCustom(readFileSync(at(`${name}.wasm`)), []);
    return [part("first"), part("rest"), withoutTableLimit(part("audit"))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Which functions run for the first picture, and which for all tabs but the audit: by their places. */
function used(bytes) {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const { memory, tilework_room, tilework_ask, tilework_answer, __write_profile } = exports;
  const ask = (request) => {
    const text = new TextEncoder().encode(JSON.stringify(request));
    const room = tilework_room(text.length); // The memory may grow for it.
    new Uint8Array(memory.buffer, room).set(text);
    const length = tilework_ask(text.length);
    return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, tilework_answer(), length)));
  };
  const ran = () => {
    const size = __write_profile(0, 0);
    const room = tilework_room(size);
    __write_profile(room, size);
    // Behind 8 bytes of a hash, when each function ran first; 0 if it did not.
    const times = new Uint32Array(memory.buffer.slice(room + 8, room + size));
    return new Set([...times.keys()].filter((place) => times[place] > 0));
  };
  // As the page asks, word for word: what reads a word is a function, too.
  for (const text of FIRST) {
    for (const width of [300, 1000]) ask({ ask: "layout", text, axes: "", look: { width, rows: 10, slice: [], bare: true } });
    for (const offset of ["0", "1", "9"]) ask({ ask: "point", text, offset, index: null });
    for (const at of [null, "5"]) ask({ ask: "link", tab: "layout", text, at, axes: "", look: { slice: [] } });
    ask({ ask: "open", fragment: `#1l=${encodeURIComponent(text)}&o=5` });
  }
  const first = ran();
  const steps = Array.from({ length: 40 }, (_, step) => ask({ ask: "step", step: step + 1 }).ok?.layout ?? "");
  for (const text of [...FIRST, ...steps, "FLOAT32 [1,3,5,5] strides [9,3,1,1] total 5", "f32[", "memref<3x5xf32>", "(4,8):(8,1)"]) {
    ask({ ask: "layout", text, look: { width: 800, rows: 10 } });
    ask({ ask: "beside", text });
    ask({ ask: "find", text: `of ${text} and` });
    ask({ ask: "two", a: text, b: "{0,1}", look: { width: 400 } });
    ask({ ask: "check", text });
  }
  return { first, all: ran() };
}

/** A number in LEB128. */
function number(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at.place++];
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return value;
  }
}

function text(bytes, at) {
  const size = number(bytes, at);
  return bytes.toString("utf8", at.place, (at.place += size));
}

/** A number as LEB128. */
function leb(value) {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) | 0x80);
  return Buffer.from([...bytes, value]);
}

/** A module whose imported table may have any size. */
function withoutTableLimit(bytes) {
  for (const at = { place: 8 }; at.place < bytes.length; ) {
    const kind = bytes[at.place++];
    const start = at.place;
    const end = number(bytes, at) + at.place;
    if (kind !== 2) {
      at.place = end;
      continue;
    }
    const body = at.place;
    for (let left = number(bytes, at); left > 0; left--) {
      text(bytes, at);
      text(bytes, at);
      const what = bytes[at.place++];
      if (what === 0) number(bytes, at); // A function's type.
      else if (what === 3) at.place += 2; // A global's type.
      else {
        if (what === 1) at.place += 1; // A table's type.
        const flags = at.place++;
        number(bytes, at);
        const most = at.place;
        if (bytes[flags] & 1) number(bytes, at);
        if (what !== 1 || most === at.place) continue;
        const section = Buffer.concat([bytes.subarray(body, most), bytes.subarray(at.place, end)]);
        section[flags - body] &= ~1;
        return Buffer.concat([bytes.subarray(0, start), leb(section.length), section, bytes.subarray(end)]);
      }
    }
    at.place = end;
  }
  return bytes;
}

/** A module without its custom sections but these. */
function withoutCustom(bytes, kept) {
  const found = [bytes.subarray(0, 8)];
  for (const at = { place: 8 }; at.place < bytes.length; ) {
    const start = at.place;
    const kind = bytes[at.place++];
    const size = number(bytes, at);
    const end = at.place + size;
    if (kind !== 0 || kept.includes(text(bytes, at))) found.push(bytes.subarray(start, end));
    at.place = end;
  }
  return Buffer.concat(found);
}

/** The names of a module's functions, which has no imports. */
export function names(bytes) {
  const found = [];
  for (const at = { place: 8 }; at.place < bytes.length; ) {
    const kind = bytes[at.place++];
    const size = number(bytes, at);
    const end = at.place + size;
    if (kind === 0 && text(bytes, at) === "name") {
      while (at.place < end) {
        const part = bytes[at.place++];
        const behind = number(bytes, at) + at.place;
        if (part === 1) {
          for (let left = number(bytes, at); left > 0; left--) {
            const place = number(bytes, at);
            found[place] = text(bytes, at);
          }
        }
        at.place = behind;
      }
    }
    at.place = end;
  }
  return Array.from(found, (name) => name ?? "");
}
