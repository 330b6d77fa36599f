import assert from "node:assert/strict";
import { test } from "node:test";
import { linearRange, linearTicks, logRange, logTicks } from "../src/scales";
import { nines, nineTicks, shareAt, spacedTicks } from "../src/scales";

test("linear ticks are round and inside", () => {
  assert.deepEqual(linearTicks(0.92, 1.01, 5), [0.92, 0.94, 0.96, 0.98, 1]);
  assert.deepEqual(linearTicks(0.5, 5.5, 12), [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5]);
  assert.deepEqual(linearTicks(1, 1, 5), []);
  assert.deepEqual(linearTicks(NaN, 1, 5), []);
});

/** An axis of so many pixels, whose labels take so many each. */
const roomOf = (length: number, size: number) => ({ length, of: () => size });

test("log ticks, from less than a decade to many", () => {
  const room = roomOf(220, 20);
  assert.deepEqual(logTicks(40, 400, room), [50, 100, 200]);
  assert.deepEqual(logTicks(1, 1e5, room), [1, 10, 100, 1000, 10_000, 100_000]);
  assert.deepEqual(logTicks(0.92, 1.03, room), [0.92, 0.94, 0.96, 0.98, 1, 1.02]);
  assert.deepEqual(logTicks(0.03, 12, room), [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]);
  assert.deepEqual(logTicks(0.0005, 12, room), [0.001, 0.01, 0.1, 1, 10]);
  assert.ok(logTicks(90, 110, room).length >= 2, "a narrow axis still has ticks");
  assert.deepEqual(logTicks(0, 10, room), []);
});

test("labels of axes do not overlap, and 1 is among those of log axes", () => {
  const exponents = Array.from({ length: 60 }, (_, at) => at / 10 - 3);
  for (const length of [60, 150, 220, 290, 600, 1200, 1500]) {
    for (const size of [20, 55]) {
      const room = roomOf(length, size);
      for (const [from, to] of exponents.flatMap((a) => exponents.map((b) => [a, b] as const))) {
        const [low, high] = [10 ** from, 10 ** to];
        if (!(high > low * 1.0001)) {
          continue;
        }
        const place = (tick: number) => (Math.log(tick / low) / Math.log(high / low)) * length;
        const ticks = logTicks(low, high, room);
        const words = `${low} to ${high} on ${length} px: ${ticks}`;
        const [start, end] = [place(ticks[0] ?? low), place(ticks.at(-1) ?? low)];
        assert.ok(start > -1e-3 && end < length + 1e-3, words);
        ticks.slice(1).forEach((tick, at) => {
          assert.ok(place(tick) - place(ticks[at] as number) >= size - 1e-6, words);
        });
        assert.ok(!(low <= 1 && 1 <= high) || ticks.includes(1), words);
        const even = spacedTicks(low, high, 12, room);
        even.slice(1).forEach((tick, at) => {
          const apart = (tick - (even[at] as number)) / (high - low);
          assert.ok(apart * length >= size - 1e-6, `linear ${words}`);
        });
      }
    }
  }
});

test("nines are left out where they have no room", () => {
  assert.deepEqual(nineTicks(1, 1e4, roomOf(600, 55)), [1, 10, 100, 1000, 10_000]);
  assert.deepEqual(nineTicks(1, 1e6, roomOf(260, 66)), [1, 100, 10_000, 1e6]);
  assert.deepEqual(nineTicks(1, 5, roomOf(260, 66)), [1]);
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
