// What needs no browser.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";

async function load(name) {
  const file = join(import.meta.dirname, "../src", name);
  const made = await build({ entryPoints: [file], bundle: true, format: "esm", write: false, external: ["*.txt"] });
  return import(`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].contents).toString("base64")}`);
}

test("sizes, tiles and strides are numbers to drag, and names and orders are not", async () => {
  const { pieces } = await load("numbers.ts");
  const numbers = (text) => pieces(text).filter((piece) => piece.isNumber).map((piece) => piece.text);
  assert.deepEqual(numbers("bf16[4,8]{1,0:T(2,4)(2,1)}"), ["4", "8", "2", "4", "2", "1"]);
  assert.deepEqual(numbers("f32[1,20,3,3] nChw16c"), ["1", "20", "3", "3"]);
  assert.deepEqual(numbers("float32 (3, 5) strides (4, 12)"), ["3", "5", "4", "12"]);
  assert.deepEqual(numbers("f32[2,3]{strides(5,1)}"), ["2", "3", "5", "1"]);
  assert.deepEqual(numbers("memref<3x5xf32, strided<[8, 1], offset: 2>>"), ["3", "5", "8", "1", "2"]);
  assert.deepEqual(numbers("bf16[4,8] Layout(major_to_minor=(0, 1), tiling=((2, 4), (2, 1)))"), ["4", "8", "2", "4", "2", "1"]);
  assert.deepEqual(numbers("x.reshape(2, 2, 8).transpose(0, 2, 1).ravel()  # x: float32 (4, 8)"), ["2", "2", "8", "4", "8"]);
  assert.deepEqual(numbers("tensor<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>>"), ["64", "32", "8", "1", "4"]);
  assert.deepEqual(numbers("f32 ((2,2),(2,3)):((2,12),(1,4))").length, 8);
  for (const text of ["bf16[4,8]{1,0:T(2,4)(2,1)}", "", "x", "f32[3,5]{1,0}"]) {
    assert.equal(pieces(text).map((piece) => piece.text).join(""), text);
  }
});

test("steps never reach 0, and large numbers move fast", async () => {
  const { stepped } = await load("numbers.ts");
  assert.equal(stepped(4, -9), 1);
  assert.equal(stepped(4, 2), 6);
  assert.equal(stepped(300, 1), 308);
  assert.ok(stepped(8388608, 10) - 8388608 >= 100_000);
});

test("cells are sorted by the amount that they say", async () => {
  const { amount } = await load("../../crates/tilework-explain/src/audited/audit.js");
  assert.equal(amount("1.5 KiB"), 1536);
  assert.equal(amount("12\u00a0%"), 12);
  assert.equal(amount("fusion.3"), null);
  assert.ok(amount("1 GiB") > amount("900 MiB"));
});
