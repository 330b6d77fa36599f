import assert from "node:assert/strict";
import { test } from "node:test";
import { latencyFinding, pairsFinding, throughputFinding } from "../src/findings";
import { ofClass, pairs, percentiles, slowestSlot, throughput } from "../src/series";
import type { Cell, Round } from "../src/view";

const round = (
  arm: "base" | "test",
  pair: number,
  rate: number | null,
  slots: number[],
): Round => ({
  arm,
  pair,
  started_ms: 0,
  classes: [],
  rate,
  slot_ms: 100,
  slots,
  slots_low: [],
  slots_high: [],
});

const nothing: Cell = {
  place: "point-query at 1 client",
  change: "—",
  interval: null,
  summary: {
    unit: "queries/s",
    rqps: null,
    rqps_low: null,
    rqps_high: null,
    verdict: "undecided",
    base: { latency_us: { p50: null, p99: null, p999: null } },
    test: { latency_us: { p50: null, p99: null, p999: null } },
  },
  detail: {
    rounds: [],
    pairs: [],
    base_curve: { q: [], us: [], events: 0 },
    test_curve: { q: [], us: [], events: 0 },
    classes: [],
    class_unit: "",
  },
};

test("rounds stand side by side in the order of measuring, with a gap between", () => {
  const { x, base, test: other } = throughput([
    round("base", 0, 10, [9, 11]),
    round("base", 1, 20, []),
    round("test", 1, 30, [30]),
  ]);
  for (const column of [base.mean, base.slots, base.low, other.mean, other.slots]) {
    assert.equal(column.length, x.length);
  }
  assert.deepEqual([...x].sort((a, b) => a - b), x, "x ascends");
  assert.deepEqual(base.mean, [10, 10, 10, 10, null, 20, 20, null, null, null, null, null]);
  assert.deepEqual(base.slots.filter((slot) => slot !== null), [9, 11]);
  assert.deepEqual(other.mean.filter((mean) => mean !== null), [30, 30, 30]);
  x.forEach((at, index) => {
    if (base.mean[index] === 20) {
      assert.ok(at > 1.5 && at < 2.5, "the second round stands around 2");
    }
  });
});

test("curves of different length share an axis", () => {
  const base = { q: [0, 0.9], us: [10, 20], events: 10 };
  const longer = { q: [0, 0.9, 0.99], us: [0, 30, 40], events: 100 };
  const columns = percentiles(base, longer);
  assert.deepEqual(columns.base, [10, 20, null]);
  assert.deepEqual(columns.test, [null, 30, 40], "zero has no place on a log axis");
});

test("the band of a pair plot needs both bounds", () => {
  const bounded = { ...nothing.summary, rqps: 0.95, rqps_low: 0.9, rqps_high: 1 };
  const list = [{ pair: 0, ratio: 0.95 }];
  assert.deepEqual(pairs(list, bounded).high, [1, 1, 1]);
  assert.deepEqual(pairs(list, { ...bounded, rqps_high: null }).low, [null, null, null]);
  assert.deepEqual(pairs(list, bounded).ratio, [null, 0.95, null]);
});

test("the slowest slot is looked for among the slots that were not put together", () => {
  const merged = { ...round("base", 0, 10, [9, 11]), slots_low: [1, 8], slots_high: [12, 13] };
  assert.equal(slowestSlot([merged, round("test", 0, 1, [0])], "base")?.rate, 1);
  assert.equal(slowestSlot([merged], "test"), null);
});

test("a class has the rounds that tell it apart, with its own rates", () => {
  const classes = [3, 7].map((rate) => ({ rate, slots: [rate], slots_low: [], slots_high: [] }));
  const told = { ...round("base", 2, 10, [9, 11]), classes };
  const [own, ...others] = ofClass([told, round("test", 2, 10, [10])], 1);
  assert.deepEqual([own?.arm, own?.pair, own?.rate, own?.slots], ["base", 2, 7, [7]]);
  assert.deepEqual(others, []);
});

test("captions state a finding, or that there is none", () => {
  assert.equal(throughputFinding([], "queries/s"), "No round was measured.");
  assert.equal(latencyFinding(nothing), "No pair of rounds has latencies to compare.");
  assert.equal(pairsFinding(nothing), "There are no pairs of rates that a verdict could rest on.");
  const one: Cell = {
    ...nothing,
    change: "−5.0 %",
    detail: {
      ...nothing.detail,
      pairs: [{ pair: 0, ratio: 0.95 }],
      rounds: [round("base", 0, 10, [])],
    },
  };
  assert.match(pairsFinding(one), /in 1 of 1 pair; estimate −5.0 % \(too few pairs for an/);
  assert.match(pairsFinding(one), /fewer queries per second than base in/);
  const { rounds } = one.detail;
  assert.match(throughputFinding(rounds, "rows/s"), /base: 1 round at 10.0\/s; test: no round\./);
  assert.match(throughputFinding(rounds, "transactions/min"), /1 round at 10.0\/min;/);
});
