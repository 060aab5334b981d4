// A page in Chromium, and a server on this machine that gives it.
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { chromium } from "playwright-core";

export const FILE = process.env.TILEWORK_PAGE_FILE;
if (!FILE) throw new Error("TILEWORK_PAGE_FILE names no page: cargo xtask page --test");

/** The form for servers. */
export const SITE = join(dirname(FILE), "site");

export async function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** Serves the folder of the site, whose index is the page; or the one file that works alone. */
export async function serve(folder = null) {
  const files = new Map([["/", readFileSync(folder ? join(folder, "index.html") : FILE)]]);
  for (const name of folder ? readdirSync(folder) : []) files.set(`/${name}`, readFileSync(join(folder, name)));
  const server = createServer((request, response) => {
    const path = request.url?.split("?")[0] ?? "/";
    const type = path.endsWith(".bin") ? "application/octet-stream" : "text/html; charset=utf-8";
    response.writeHead(files.has(path) ? 200 : 404, { "Content-Type": type, "Cache-Control": "no-store" });
    response.end(files.get(path) ?? "");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { server, address: `http://127.0.0.1:${server.address().port}/` };
}
