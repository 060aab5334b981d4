// Makes the page: one HTML file with its style, its script and the library in it. `cargo xtask page` calls it with the
// folder to write to and the compiled library.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync, gzipSync } from "node:zlib";
import { build } from "esbuild";

const [out, library] = process.argv.slice(2);
if (!out || !library) throw new Error("node build.mjs FOLDER LIBRARY.wasm");
const here = import.meta.dirname;

const options = {
  bundle: true,
  minify: true,
  format: "esm",
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
      const made = await build({ ...options, format: "iife", entryPoints: [found.path] });
      return { contents: made.outputFiles[0].text, loader: "text" };
    });
  },
};

const script = (await build({ ...options, entryPoints: [join(here, "src/main.ts")], plugins: [workers] })).outputFiles[0].text;
const style = (await build({ ...options, entryPoints: [join(here, "src/style.css")] })).outputFiles[0].text.trim();
const module = deflateRawSync(readFileSync(library), { level: 9 }).toString("base64");

// The script can end nothing that it stands in.
const inline = script.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--").trim();
const hash = createHash("sha256").update(inline).digest("base64");
const policy = [
  "default-src 'none'",
  `script-src 'sha256-${hash}' 'wasm-unsafe-eval'`,
  "worker-src blob:",
  // Drawings and audits have colours in attributes.
  "style-src 'unsafe-inline'",
  "img-src data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types tilework",
].join(";");

const parts = { CSP: policy, STYLE: style, MODULE: module, SCRIPT: inline };
const page = readFileSync(join(here, "src/index.html"), "utf8").replace(/%(CSP|STYLE|MODULE|SCRIPT)%/g, (_, name) => parts[name]);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "tilework.html"), page);
const kib = (bytes) => `${(bytes / 1024).toFixed(0)} KiB`;
console.log(
  `tilework.html: ${kib(page.length)}, ${kib(gzipSync(page, { level: 9 }).length)} compressed ` +
    `(library ${kib(module.length * 0.75)} compressed, script ${kib(gzipSync(inline, { level: 9 }).length)}, style ${kib(gzipSync(style, { level: 9 }).length)})`,
);
