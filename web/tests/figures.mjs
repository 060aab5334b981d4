// What the page takes: its size, the time to the first picture, from a key stroke to the picture, and for an audit.
import { readFileSync, readdirSync } from "node:fs";
import { cpus } from "node:os";
import { gzipSync } from "node:zlib";
import { join } from "node:path";
import { FILE, SITE, launch, serve } from "./browser.mjs";

const median = (all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];
const rows = [];
const row = (what, value, budget) => rows.push([what, value, budget]);

/** A module of about `bytes` bytes, with instructions such as a compiler for TPUs writes. */
function dump(bytes) {
  const lines = [
    "HloModule jit_step, is_scheduled=true, entry_computation_layout={(bf16[64,300]{1,0:T(8,128)(2,1)})->bf16[64,300]{1,0:T(8,128)(2,1)}}",
    "",
    "ENTRY %main (p.0: bf16[64,300]) -> bf16[64,300] {",
    "  %p.0 = bf16[64,300]{1,0:T(8,128)(2,1)} parameter(0)",
  ];
  let size = 0;
  for (let at = 1; size < bytes; at++) {
    const [rows, columns] = [64 + (at % 97) * 8, 4 + (at % 61) * 5];
    const shape = `bf16[${rows},${columns}]`;
    const from = at % 3 === 0 ? `${shape}{0,1:T(8,128)(2,1)}` : `${shape}{1,0:T(8,128)(2,1)}`;
    const line =
      `  %fusion.${at} = ${shape}{1,0:T(8,128)(2,1)} ${at % 3 === 0 ? "copy" : "add"}(${from} %fusion.${Math.max(1, at - 1)}), ` +
      `metadata={op_name="jit(step)/layer_${at % 48}/mlp/add" source_file="model.py" source_line=${100 + (at % 300)}}`;
    lines.push(line);
    size += line.length + 1;
  }
  return `${lines.join("\n")}\n}\n`;
}

const browser = await launch();
const { server, address } = await serve();
const size = (bytes) => `${(gzipSync(bytes, { level: 9 }).length / 1024).toFixed(0)} KiB`;
const file = readFileSync(FILE);
// What stands before the rest of the library is all that the first picture waits for.
row("for the first picture", size(file.subarray(0, file.indexOf('id="rest-part"'))), "350 KiB");
const beside = (name) => size(readFileSync(join(SITE, readdirSync(SITE).find((file) => file.startsWith(name)))));
row("the rest, behind it", beside("rest"), "");
row("an audit, when it is wanted", beside("audit"), "");
row("the one file", size(file), "");

// A context of its own has nothing in its cache.
async function firstPicture(address) {
  const first = [];
  for (let round = 0; round < 9; round++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (!document.querySelector("g.cell")) return;
        observer.disconnect();
        requestAnimationFrame(() => {
          // A message comes right behind the frame, before whatever the page does then.
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => (globalThis.firstPicture = performance.now());
          port2.postMessage(null);
        });
      }).observe(document, { childList: true, subtree: true });
    });
    await page.goto(address);
    await page.waitForFunction(() => globalThis.firstPicture !== undefined);
    first.push(await page.evaluate(() => globalThis.firstPicture));
    await context.close();
  }
  return `${median(first).toFixed(0)} ms`;
}
row("first picture, cold", await firstPicture(address), "300 ms");
const served = await serve(SITE);
row("the same on the site", await firstPicture(served.address), "300 ms");
served.server.close();

const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
await page.goto(address);
await page.waitForSelector("dl.notations .notation");

/** From the event of a key to the picture laid out: the median, and the slowest of 40 but the first. */
const typed = (texts) =>
  page.evaluate(async (texts) => {
    const field = document.querySelector("#layout");
    const times = [];
    for (let round = 0; round < 41; round++) {
      field.value = texts[round % texts.length];
      const start = performance.now();
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      document.querySelector(".figure").getBoundingClientRect();
      times.push(performance.now() - start);
      await new Promise((done) => setTimeout(done, 200));
    }
    return times.slice(1);
  }, texts);
const say = (times) => `${median(times).toFixed(1)} ms, at most ${Math.max(...times).toFixed(1)} ms`;
row("key to picture, 4 × 8", say(await typed(["bf16[4,8]{1,0:T(2,4)(2,1)}", "bf16[4,9]{1,0:T(2,4)(2,1)}"])), "16 ms");
row("key to picture, 64 × 300", say(await typed(["bf16[64,300]{1,0:T(8,128)(2,1)}", "bf16[64,301]{1,0:T(8,128)(2,1)}"])), "16 ms");
const huge = ["bf16[1000,1000000,1000000]{2,1,0:T(8,128)(2,1)}", "bf16[1000,1000000,1000001]{2,1,0:T(8,128)(2,1)}"];
row("key to picture, 10^15", say(await typed(huge)), "50 ms");

await page.click("#tab-audit");
const text = dump(4e6);
const audits = [];
for (let round = 0; round < 7; round++) {
  await page.setInputFiles("#audit-files", { name: `dump-${round}.txt`, mimeType: "text/plain", buffer: Buffer.from(text) });
  await page.waitForSelector(".busy[hidden]", { state: "attached" });
  await page.waitForFunction(() => /judged in/.test(document.querySelector(".audit .state").textContent));
  audits.push(Number(/in (\d+) ms/.exec(await page.textContent(".audit .state"))[1]));
  await page.evaluate(() => (document.querySelector(".audit .state").textContent = ""));
}
row(`audit of ${(text.length / 1e6).toFixed(1)} MB`, `${median(audits)} ms, ${(text.length / 1e3 / median(audits)).toFixed(0)} MB/s`, "300 ms");

console.log(`${cpus().length} × ${cpus()[0].model}, Chromium ${browser.version()}`);
for (const [what, value, budget] of rows) console.log(`${what.padEnd(28)} ${value.padEnd(30)} ${budget && `wanted ${budget}`}`);
await browser.close();
server.close();
