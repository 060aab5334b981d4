// Makes the page from the compiled library. `cargo xtask page` calls it with the folder to write to and the library.
//
// There are two forms: `tilework.html` is one file that works from a disk, and `site/` is for a server, where all but what the first
// picture takes are files of their own, which are loaded when they are wanted.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync, gzipSync } from "node:zlib";
import { build } from "esbuild";
import { cut } from "./parts.mjs";

const [out, library] = process.argv.slice(2);
if (!out || !library) throw new Error("node build.mjs FOLDER LIBRARY.wasm");
const here = import.meta.dirname;

const options = {
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2023",
  write: false,
  charset: "utf8",
  loader: { ".txt": "text" },
  logLevel: "warning",
};

/** `import code from "worker:./audit-worker.ts"` is that file, bundled by itself, as text. */
const workers = {
  name: "workers",
  setup(at) {
    at.onResolve({ filter: /^worker:/ }, (found) => ({
      path: join(found.resolveDir, found.path.slice("worker:".length)),
      namespace: "worker",
    }));
    at.onLoad({ filter: /.*/, namespace: "worker" }, async (found) => {
      const made = await build({ ...options, entryPoints: [found.path] });
      return { contents: made.outputFiles[0].text, loader: "text" };
    });
  },
};

const script = (await build({ ...options, entryPoints: [join(here, "src/main.ts")], plugins: [workers] })).outputFiles[0].text;
const style = (await build({ ...options, entryPoints: [join(here, "src/style.css")] })).outputFiles[0].text.trim();
const [first, rest, audit] = cut(library).map((module) => deflateRawSync(module, { level: 9 }));

// The script can end nothing that it stands in.
const inline = script.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--").trim();
const hash = createHash("sha256").update(inline).digest("base64");
const source = readFileSync(join(here, "src/index.html"), "utf8");

/** The page; `connect` is where it may load parts from, and `element` makes the element of a part that is behind the script. */
function page(connect, element) {
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}' 'wasm-unsafe-eval'`,
    "worker-src blob:",
    ...connect,
    // Drawings and audits have colours in attributes.
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types tilework",
  ].join(";");
  const others = `${element("rest", rest)}\n${element("audit", audit)}`;
  const values = { CSP: policy, STYLE: style, SCRIPT: inline, FIRST: first.toString("base64"), OTHERS: others };
  return source.replace(/%(CSP|STYLE|SCRIPT|FIRST|OTHERS)%/g, (_, name) => values[name]);
}

const site = join(out, "site");
rmSync(site, { recursive: true, force: true });
mkdirSync(site, { recursive: true });
const within = (name, bytes) => `<script type="text/plain" id="${name}-part">${bytes.toString("base64")}</script>`;
const beside = (name, bytes) => {
  // A name of its own for each content, so that no cache has another one.
  const file = `${name}-${createHash("sha256").update(bytes).digest("hex").slice(0, 12)}.bin`;
  writeFileSync(join(site, file), bytes);
  return `<script type="text/plain" id="${name}-part" data-file="${file}"></script>`;
};
const forms = { "tilework.html": page([], within), "site/index.html": page(["connect-src 'self'"], beside) };
for (const [name, text] of Object.entries(forms)) writeFileSync(join(out, name), text);

const kib = (bytes) => `${(bytes / 1024).toFixed(0)} KiB`;
const packed = (text) => kib(gzipSync(text, { level: 9 }).length);
for (const [name, text] of Object.entries(forms)) console.log(`${name}: ${kib(text.length)}, ${packed(text)} compressed`);
console.log(`compressed: first picture ${kib(first.length)}, rest ${kib(rest.length)}, audit ${kib(audit.length)}, script ${packed(inline)}, style ${packed(style)}`);
