import assert from "node:assert/strict";
import { test } from "node:test";
import { fixed, latency, rate, ratio, share } from "../src/format";
import { short, shortLatency, threeDigits } from "../src/format";

const plain = (text: string) => text.replaceAll("\u00a0", " ");

test("three significant digits, thousands grouped", () => {
  assert.equal(plain(threeDigits(21843.27)), "21 843");
  assert.equal(threeDigits(45.2817), "45.3");
  assert.equal(threeDigits(0.01234), "0.0123");
  assert.equal(threeDigits(0), "0");
  assert.equal(plain(rate(1234567, "rows/s")), "1 234 567/s");
});

test("zero has no sign, what is not known is a dash", () => {
  assert.equal(fixed(-0, 1), "0.0");
  assert.equal(fixed(-0.04, 1), "0.0");
  assert.equal(fixed(-0.06, 1), "−0.1");
  for (const nothing of [null, NaN, Infinity, -Infinity]) {
    assert.equal(fixed(nothing, 2), "—");
    assert.equal(latency(nothing), "—");
    assert.equal(threeDigits(nothing), "—");
  }
});

test("latencies take their unit", () => {
  assert.equal(plain(latency(45.28)), "45.3 µs");
  assert.equal(plain(latency(6120)), "6.12 ms");
  assert.equal(plain(latency(1_200_000)), "1.20 s");
  assert.equal(plain(shortLatency(50)), "50 µs");
  assert.equal(plain(shortLatency(1500)), "1.5 ms");
});

test("ratios of nothing are not numbers", () => {
  assert.equal(ratio(2, 2.1), "×1.05");
  assert.equal(ratio(0, 1), "—");
  assert.equal(ratio(null, 1), "—");
});

test("shares keep their nines", () => {
  const said = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999].map((q) => plain(share(q)));
  assert.deepEqual(said, ["0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"]);
  assert.notEqual(share(0.9986), "100 %");
});

test("axes are short", () => {
  assert.equal(plain(short(9500)), "9 500");
  assert.equal(short(21500), "21.5k");
  assert.equal(short(1_500_000), "1.5M");
});
