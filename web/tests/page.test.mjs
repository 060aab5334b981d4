// The page in a real browser. What is said of layouts is tested natively; here it is seen and used.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";
import { FILE, SITE, launch, serve } from "./browser.mjs";

const AXE = readFileSync(join(import.meta.dirname, "../node_modules/axe-core/axe.min.js"), "utf8");
const SAMPLES = join(import.meta.dirname, "../../samples");
const TEXT = "bf16[4,8]{1,0:T(2,4)(2,1)}";

let browser, server, address, context, page, complaints, requests;

before(async () => {
  browser = await launch();
  ({ server, address } = await serve());
});
after(async () => {
  await browser?.close();
  server?.close();
});
beforeEach(async () => open({}));
afterEach(async () => {
  // Nothing that is done here may complain, or ask for anything but the page.
  assert.deepEqual(complaints, []);
  assert.deepEqual(requests.filter((url) => !/^(blob:|data:)/.test(url) && !url.startsWith(address) && !url.startsWith("file:")), []);
  await context.close();
});

async function open(options, url = address) {
  await context?.close();
  context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  page = await context.newPage();
  complaints = [];
  requests = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(url);
  await page.waitForSelector("[role=tabpanel]:not([hidden]), .tilework-audit");
}

const fill = (text) => page.fill("#layout", text);
const tab = (name) => page.click(`#tab-${name}`);

test("a layout is drawn as it is typed", async () => {
  await page.waitForSelector('g.memory g.cell[data-i="1,2"]');
  await fill("f32[3,5]{1,0:T(2,2)}");
  await page.waitForSelector('g.array g.cell[data-o="17"][data-i="2,3"]');
  assert.match(await page.textContent(".lead"), /^15 elements take 96 B: 1\.60 times/);
  assert.match(await page.textContent(".parts"), /tile 1 cuts dimension 0 \(3\) into 2 tiles of 2/);
});

test("pointing at an element lights its place, and works out the formula", async () => {
  await page.hover('g.array g.cell[data-o="5"]');
  const lit = await page.$$eval("g.lit", (cells) => cells.map((cell) => [cell.parentNode.closest("g.array,g.memory").getAttribute("class"), cell.dataset.o]));
  assert.deepEqual(lit.sort(), [["array", "5"], ["memory", "5"]]);
  assert.match(await page.textContent(".reading"), /element \(1, 2\) is at 5.*= 5$/);
  await page.hover('g.memory g.cell[data-i="0,1"]');
  assert.match(await page.textContent(".reading"), /element \(0, 1\) is at 2/);
});

test("memory is walked by keyboard alone", async () => {
  await page.focus(".walk input");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.textContent(".reading"), /element \(1, 0\) is at 1/);
  assert.equal(await page.locator("polyline.trail").count(), 1);
});

test("an error has a place and a cure, and the last picture stays", async () => {
  await fill("f32[3,5]{1,1}");
  assert.equal(await page.textContent("#layout-problem mark"), "1");
  assert.match(await page.textContent("#layout-problem"), /Rule/);
  assert.equal(await page.getAttribute("#layout", "aria-invalid"), "true");
  await fill("f32[3,5]");
  assert.equal(await page.isVisible("#layout-problem"), false);
});

test("layouts in a pasted line are offered", async () => {
  await fill("step 3: copied f32[3,5]{0,1} to memref<3x5xf32>");
  await page.click('#layout-problem button:text-is("f32[3,5]{0,1}")');
  assert.equal(await page.inputValue("#layout"), "f32[3,5]{0,1}");
});

test("any slice of an array of more dimensions is seen", async () => {
  await fill("f32[4,2,3]");
  await page.fill("#slice-0", "2");
  await page.waitForSelector('g.array g.cell[data-o="12"][data-i="2,0,0"]');
});

test("a number of the text is changed by dragging and by arrow keys", async () => {
  await fill("f32[3,5]{1,0:T(2,2)}");
  const handle = page.locator(".scrub [role=slider]").nth(1);
  await handle.focus();
  await page.keyboard.press("ArrowUp");
  assert.equal(await page.inputValue("#layout"), "f32[3,6]{1,0:T(2,2)}");
  const box = await handle.boundingBox();
  await page.mouse.move(box.x + 4, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + 30, box.y + 8, { steps: 4 });
  await page.mouse.up();
  assert.equal(await page.inputValue("#layout"), "f32[3,9]{1,0:T(2,2)}");
});

test("a link shows what was seen", async () => {
  await fill("f32[3,5]{1,0:T(2,2)}");
  await page.hover('g.array g.cell[data-o="17"]');
  await page.waitForURL(/&o=17$/);
  const link = page.url();
  assert.equal(link, `${address}#1l=f32~3,5$;1,0:T(2,2)@&o=17`);
  await open({}, link);
  assert.equal(await page.inputValue("#layout"), "f32[3,5]{1,0:T(2,2)}");
  assert.match(await page.textContent(".reading"), /element \(2, 3\) is at 17/);
});

test("a link has the slice and the names of dimensions", async () => {
  await fill("f32[4,2,3]");
  await page.fill("#axes", "N,H,W");
  await page.fill("#slice-0", "2");
  await page.waitForURL(/&s=2,x,x&d=N,H,W$/);
  assert.match(await page.textContent(".slices"), /N =/);
  await open({}, page.url());
  await page.waitForSelector('g.array g.cell[data-o="12"][data-i="2,0,0"]');
  assert.equal(await page.inputValue("#axes"), "N,H,W");
  await page.fill("#axes", "N,N,W");
  assert.match(await page.textContent("#layout-problem"), /names of the dimensions/);
});

test("the first picture waits for one part, and a layout that takes another waits for that", async () => {
  await context.addInitScript(() => {
    let parts = 0;
    const compile = WebAssembly.compileStreaming;
    WebAssembly.compileStreaming = (source) => {
      parts += 1;
      return compile(source);
    };
    new MutationObserver((_, observer) => {
      if (!document.querySelector("g.cell")) return;
      observer.disconnect();
      globalThis.partsAtFirst = parts;
    }).observe(document, { childList: true, subtree: true });
  });
  const parts = async (fragment) => {
    await page.goto("about:blank");
    await page.goto(address + fragment);
    await page.waitForSelector("g.cell");
    return page.evaluate(() => globalThis.partsAtFirst);
  };
  assert.equal(await parts(""), 1);
  assert.equal(await parts("#1l=f32+((2,2),(2,3)):((2,12),(1,4)%29"), 2);
  assert.match(await page.textContent(".lead"), /elements take/);
});

test("on a server the rest and what an audit takes are files that are loaded when they are wanted", async () => {
  const site = await serve(SITE);
  try {
    const asked = () => requests.filter((url) => url.endsWith(".bin")).map((url) => url.slice(site.address.length).split("-")[0]);
    await open({}, site.address);
    await page.waitForSelector("dl.notations .notation");
    assert.deepEqual(asked(), ["rest"]);
    await tab("audit");
    await page.fill("#audit", readFileSync(join(SAMPLES, "out_of_memory.txt"), "utf8"));
    await page.waitForSelector(".audited section");
    assert.deepEqual(asked(), ["rest", "audit"]);
    assert.ok(requests.every((url) => /^(blob:|data:)/.test(url) || url.startsWith(site.address)), String(requests));
    requests = [];
  } finally {
    site.server.close();
  }
});

test("whatever a link says, it is text", async () => {
  const text = '<img src=x onerror="document.title=1">';
  await open({}, `${address}#1l=${encodeURIComponent(text)}`);
  assert.equal(await page.inputValue("#layout"), text);
  assert.equal(await page.locator("main img").count(), 0);
  await open({}, `${address}#9z=nonsense`);
  assert.equal(await page.inputValue("#layout"), TEXT);
});

test("two layouts are compared, and what moves is seen moving", async () => {
  await tab("two");
  await page.fill("#two-A", "f32[4,6]{1,0:T(2,3)}");
  await page.fill("#two-B", "{0,1}");
  await page.waitForFunction(() => document.querySelector(".two .lead").textContent.includes("96 bytes"));
  assert.match(await page.textContent(".senses"), /Free transpose\s*yes/);
  assert.match(await page.textContent(".plan"), /deinterleave 3/);
  await page.click("text=Move A to B");
  assert.equal(await page.locator(".sky span").count(), 24);
  await page.waitForFunction(() => !document.querySelector(".sky span"));
  await page.hover('.two g.array g.cell[data-i="1,0"]');
  assert.match(await page.textContent(".two .reading"), /is at 3 in A and at 1 in B/);
});

test("nothing flies for whoever wants less motion", async () => {
  await open({ reducedMotion: "reduce" });
  await tab("two");
  await page.click("text=Move A to B");
  assert.equal(await page.locator(".sky span").count(), 0);
});

test("a message is audited, sorted, filtered and supposed otherwise", async () => {
  await tab("audit");
  await page.fill("#audit", readFileSync(join(SAMPLES, "out_of_memory.txt"), "utf8"));
  await page.waitForSelector(".audited section");
  assert.match(await page.textContent(".audit .state"), /read and judged in \d+ ms/);
  await page.locator(".offers input").first().check();
  await page.waitForSelector("pre.change");
  assert.match(await page.textContent("pre.change"), /^What if .*falls from 3[0-9.]+ GiB/s);
  const head = page.locator("th button").first();
  await head.click();
  assert.equal(await page.locator('th[aria-sort="descending"]').count(), 1);
  await page.fill(".audited input[type=search]", "no such word");
  assert.equal(await page.locator(".audited td:visible").count(), 0);
});

test("the files of a dump are chosen and read", async () => {
  await tab("audit");
  const folder = join(SAMPLES, "dump");
  await page.setInputFiles("#audit-files", readdirSync(folder).map((name) => join(folder, name)));
  await page.waitForSelector(".audited svg");
  assert.match(await page.textContent(".audited h2"), /jit_particles/);
  for (const [name, begins] of [["Save as text", "jit_particles: at the peak"], ["Save as a page", "<!doctype html>"]]) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.click(`text=${name}`)]);
    assert.ok(readFileSync(await file.path(), "utf8").startsWith(begins));
  }
});

/** Chooses the files of the sample dump. */
async function chooseDump() {
  await tab("audit");
  const folder = join(SAMPLES, "dump");
  await page.setInputFiles("#audit-files", readdirSync(folder).map((name) => join(folder, name)));
  await page.waitForSelector(".audited svg");
}

/** That what is on a page of an audit leads to what it is about. */
async function leads(at) {
  // The largest rectangle is the largest buffer, whose row is the first.
  await at.locator("svg a").first().click();
  const row = await at.evaluate(() => document.activeElement?.id);
  assert.match(row, /-buffer-0$/);
  assert.equal(await at.locator(`[id="${row}"] ~ tr`).count() > 0, true);
  await at.locator(`[id="${row}"] a:text-is("its padding")`).click();
  assert.equal(await at.evaluate(() => document.activeElement?.parentElement?.open), true);
  // Pointing at a row lights its rectangles.
  await at.hover(`[id="${row}"]`);
  assert.ok((await at.locator("svg a.lit").count()) > 0);
  await at.locator("th button").first().focus();
  await at.keyboard.press("Enter");
  assert.equal(await at.locator('th[aria-sort="descending"]').count(), 1);
  await at.fill("input[type=search]", "no such word");
  assert.equal(await at.locator("td:visible").count(), 0);
  await at.fill("input[type=search]", "");
}

test("a rectangle leads to its row, the row to its padding, and that to the picture of the layout", async () => {
  await chooseDump();
  await leads(page);
  assert.match(page.url(), /#1a$/);
  await page.locator('details[open] a[title="Show this layout"]').first().click();
  await page.waitForSelector(".layout g.cell");
  assert.match(page.url(), /#1l=/);
  await page.goBack();
  assert.equal(await page.isVisible(".audited svg >> nth=0"), true);
});

test("what if is asked beside the padding of a shape", async () => {
  await chooseDump();
  await page.locator("button.suppose").first().click();
  await page.waitForSelector("pre.change");
  assert.match(await page.textContent("pre.change"), /^What if /);
  assert.equal(await page.locator(".offers input:checked").count(), 1);
  await page.locator(".offers input:checked").uncheck();
  await page.waitForSelector("pre.change", { state: "detached" });
});

test("two dumps are compared", async () => {
  await tab("audit");
  await page.fill("#audit", "f32[200,3]{1,0:T(8,128)}");
  await page.waitForSelector(".audited section");
  await page.click("text=Compare with another…");
  await page.fill("#audit", "f32[200,3]{0,1:T(8,128)}");
  await page.waitForSelector("pre.change");
  assert.match(await page.textContent("pre.change"), /memory of all buffers falls from 100\sKiB to 8192\sB/);
  // The next one stands alone.
  await page.fill("#audit", "f32[200,3]{0,1:T(8,128)} and f32[3]");
  await page.waitForSelector("pre.change", { state: "detached" });
});

test("a serialised dump is read", async () => {
  await tab("audit");
  await page.setInputFiles("#audit-files", join(SAMPLES, "../crates/tilework-audit/tests/twins/particles/particles.hlo.pb"));
  await page.waitForSelector(".audited section");
});

test("the page that is written does what the tab does", async () => {
  await chooseDump();
  const [file] = await Promise.all([page.waitForEvent("download"), page.click("text=Save as a page")]);
  await open({ offline: true }, pathToFileURL(await saved(file)).href);
  await leads(page);
});

/** Where a download is, under its name. */
async function saved(file) {
  const place = join(mkdtempSync(join(tmpdir(), "tilework-page-")), file.suggestedFilename());
  await file.saveAs(place);
  return place;
}

test("a dump is dropped", async () => {
  await tab("audit");
  const text = readFileSync(join(SAMPLES, "out_of_memory.txt"), "utf8");
  await page.evaluate((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "message.txt"));
    document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, text);
  await page.waitForSelector(".audited section");
});

test("a text that says nothing of memory is an error with a cure", async () => {
  await tab("audit");
  await page.fill("#audit", "hello");
  await page.waitForSelector(".audit .problem:not([hidden])");
  assert.match(await page.textContent(".audit .problem"), /Instead/);
});

test("a descriptor is checked", async () => {
  await tab("check");
  await page.fill("#check", '{"DataType": "FLOAT32", "Sizes": [2, 3]}');
  await page.waitForSelector("article.yes");
  await page.fill("#check-offset", "4");
  await page.fill("#check-buffer", "24");
  await page.waitForSelector("article.no");
  assert.match(await page.textContent(".broken"), /legal/);
});

test("the tour goes on, and knows right from wrong", async () => {
  await tab("learn");
  await page.click('.learn g.array g.cell[data-o="0"]');
  assert.match(await page.textContent(".answer"), /Not there/);
  await page.fill("#answer", "13");
  await page.keyboard.press("Enter");
  assert.match(await page.textContent(".answer"), /^Yes/);
  const steps = await page.locator(".steps li").count();
  for (let step = 1; step < steps; step++) await page.click('button:text-is("Next")');
  assert.match(page.url(), new RegExp(`#1n=${steps}$`));
  assert.equal(await page.locator('button:text-is("Next")').isDisabled(), true);
});

test("a figure is saved as SVG and as PNG", async () => {
  for (const [name, ending] of [["SVG", "layout.svg"], ["PNG", "layout.png"]]) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.click(`button:text-is("${name}")`)]);
    assert.equal(file.suggestedFilename(), ending);
    const bytes = readFileSync(await file.path());
    assert.ok(name === "SVG" ? bytes.toString().startsWith("<svg") : bytes.subarray(1, 4).toString() === "PNG");
    assert.ok(bytes.length > 1000);
  }
});

test("it is one file that needs no server and no network", async () => {
  await open({ offline: true }, pathToFileURL(FILE).href);
  await page.waitForSelector("g.memory g.cell");
  await tab("audit");
  await page.fill("#audit", readFileSync(join(SAMPLES, "out_of_memory.txt"), "utf8"));
  await page.waitForSelector(".audited section");
});

for (const [name, options] of Object.entries({
  "a phone": { viewport: { width: 390, height: 844 }, hasTouch: true },
  "a desk": { viewport: { width: 1600, height: 1000 } },
  "the dark": { colorScheme: "dark" },
  "a wall": { viewport: { width: 3840, height: 2160 } },
})) {
  test(`all parts are accessible, and nothing is wider than the page, on ${name}`, async () => {
    await open(options);
    for (const part of ["layout", "two", "audit", "check", "learn"]) {
      await tab(part);
      if (part === "audit") {
        await page.fill("#audit", readFileSync(join(SAMPLES, "out_of_memory.txt"), "utf8"));
        await page.waitForSelector(".audited section");
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${part} is ${wide} pixels too wide`);
      const { violations } = await page.evaluate(`(() => { const module = undefined, exports = undefined; ${AXE}; return axe.run(); })()`);
      assert.deepEqual(violations.map(({ id, nodes }) => `${part}: ${id}: ${nodes[0].html.slice(0, 120)}`), []);
    }
  });
}
