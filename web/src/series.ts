// From rounds, curves and pairs to the columns that a chart draws. Every column is as long as the
// first, which holds x; `null` leaves a gap.

import { nines } from "./scales";
import type { ArmName, Curve, Pair, Round, Summary } from "./view";

export type Column = (number | null)[];

/** x, then for base and test: mean of the round, slots, lowest and highest slot. */
export interface Throughput {
  x: number[];
  base: RoundColumns;
  test: RoundColumns;
}

export interface RoundColumns {
  mean: Column;
  slots: Column;
  low: Column;
  high: Column;
}

const EDGE = 0.04;

/** Round `i` takes the place from i − 0.5 to i + 0.5, with a gap to the next: rounds are counted
 * from 1, in the order of measuring, so that a pause between them takes no room. */
export function throughput(rounds: Round[]): Throughput {
  const columns = (): RoundColumns => ({ mean: [], slots: [], low: [], high: [] });
  const all: Throughput = { x: [], base: columns(), test: columns() };
  const push = (x: number, arm: ArmName, mean: number | null, of: (number | null)[]) => {
    all.x.push(x);
    for (const name of ["base", "test"] as const) {
      const own = name === arm;
      const [slot = null, low = null, high = null] = own ? of : [];
      all[name].mean.push(own ? mean : null);
      all[name].slots.push(slot);
      all[name].low.push(low);
      all[name].high.push(high);
    }
  };
  rounds.forEach((round, index) => {
    const left = index + 0.5 + EDGE;
    const width = 1 - 2 * EDGE;
    push(left, round.arm, round.rate, []);
    round.slots.forEach((slot, at) => {
      const x = left + (width * (at + 0.5)) / round.slots.length;
      const extremes = [round.slots_low[at] ?? null, round.slots_high[at] ?? null];
      push(x, round.arm, round.rate, [slot, ...extremes]);
    });
    push(left + width, round.arm, round.rate, []);
    push(index + 1.5, round.arm, null, []);
  });
  return all;
}

/** Both curves over one percentile axis; the shorter one ends where its events end. */
export function percentiles(base: Curve, test: Curve): { x: number[]; base: Column; test: Column } {
  const of = (curve: Curve) => new Map(curve.q.map((q, at) => [q, curve.us[at] ?? null]));
  const [ofBase, ofTest] = [of(base), of(test)];
  const q = [...new Set([...base.q, ...test.q])].sort((a, b) => a - b);
  // A latency of zero cannot stand on a log axis.
  const column = (values: Map<number, number | null>) => q.map((at) => values.get(at) || null);
  return { x: q.map(nines), base: column(ofBase), test: column(ofTest) };
}

export interface PairColumns {
  x: number[];
  ratio: Column;
  one: Column;
  estimate: Column;
  low: Column;
  high: Column;
}

/** Pairs, counted from 1, between two places without a pair that carry the lines to the edges. */
export function pairs(list: Pair[], summary: Summary): PairColumns {
  const numbers = list.map((pair) => pair.pair + 1);
  const first = Math.min(...numbers, 1) - 0.6;
  const last = Math.max(...numbers, 1) + 0.6;
  const x = [first, ...numbers, last];
  const constant = (value: number | null): Column => x.map(() => value);
  const isBounded = summary.rqps_low !== null && summary.rqps_high !== null;
  return {
    x,
    ratio: [null, ...list.map((pair) => pair.ratio), null],
    one: constant(1),
    estimate: constant(summary.rqps),
    low: constant(isBounded ? summary.rqps_low : null),
    high: constant(isBounded ? summary.rqps_high : null),
  };
}

/** The rounds as one class was met in them; those that do not tell classes apart are left out. */
export function ofClass(rounds: Round[], index: number): Round[] {
  return rounds.flatMap((round) => {
    const own = round.classes[index];
    return own === undefined ? [] : [{ ...round, ...own }];
  });
}

/** The slowest slot of an arm, and how long a slot of it is. */
export function slowestSlot(rounds: Round[], arm: ArmName): { rate: number; ms: number } | null {
  let slowest: { rate: number; ms: number } | null = null;
  for (const round of rounds.filter((one) => one.arm === arm)) {
    const slots = round.slots_low.length > 0 ? round.slots_low : round.slots;
    for (const rate of slots) {
      if (slowest === null || rate < slowest.rate) {
        slowest = { rate, ms: round.slot_ms };
      }
    }
  }
  return slowest;
}
