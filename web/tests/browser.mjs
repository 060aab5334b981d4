// A page in Chromium, and a server on this machine that gives it.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { chromium } from "playwright-core";

export const FILE = process.env.TILEWORK_PAGE_FILE;
if (!FILE) throw new Error("TILEWORK_PAGE_FILE names no page: cargo xtask page --test");

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

export async function serve() {
  const page = readFileSync(FILE);
  const server = createServer((request, response) => {
    const isPage = request.url?.split("?")[0] === "/";
    response.writeHead(isPage ? 200 : 404, { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" });
    response.end(isPage ? page : "");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { server, address: `http://127.0.0.1:${server.address().port}/` };
}
