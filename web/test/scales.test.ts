import assert from "node:assert/strict";
import { test } from "node:test";
import { linearRange, linearTicks, logRange, logTicks, nines, shareAt } from "../src/scales";

test("linear ticks are round and inside", () => {
  assert.deepEqual(linearTicks(0.92, 1.01, 5), [0.92, 0.94, 0.96, 0.98, 1]);
  assert.deepEqual(linearTicks(0.5, 5.5, 12), [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5]);
  assert.deepEqual(linearTicks(1, 1, 5), []);
  assert.deepEqual(linearTicks(NaN, 1, 5), []);
});

test("log ticks, from less than a decade to many", () => {
  assert.deepEqual(logTicks(40, 400), [50, 100, 200]);
  assert.deepEqual(logTicks(1, 1e5), [1, 10, 100, 1000, 10_000, 100_000]);
  assert.ok(logTicks(90, 110).length >= 2, "a narrow axis still has ticks");
  assert.deepEqual(logTicks(0, 10), []);
});

test("ranges are never empty and hold their data", () => {
  for (const [low, high] of [[5, 5], [1, 1000], [0.99, 1.01]] as const) {
    const [from, to] = logRange(low, high);
    assert.ok(from < low && high < to, `${low} to ${high}`);
    const [left, right] = linearRange(low, high);
    assert.ok(left < low && high < right, `${low} to ${high}`);
  }
  assert.equal(linearRange(0, 10)[0], 0, "a rate is never below zero");
  assert.deepEqual(linearRange(NaN, NaN), [0, 1]);
  assert.deepEqual(logRange(NaN, NaN), [1, 10]);
});

test("each nine takes the same room on the percentile axis", () => {
  const places = [0, 0.9, 0.99, 0.999].map((q) => Math.log10(nines(q)));
  places.forEach((place, at) => assert.ok(Math.abs(place - at) < 1e-9));
  assert.ok(Math.abs(shareAt(nines(0.9995)) - 0.9995) < 1e-12);
});
