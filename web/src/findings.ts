// What each figure shows, in one sentence: the caption states the finding, the chart lets it be
// judged.

import { inFull, latency, rate, ratio } from "./format";
import { slowestSlot } from "./series";
import type { ArmName, Cell, Round } from "./view";

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

export function throughputFinding(rounds: Round[], unit: string): string {
  if (rounds.length === 0) {
    return "No round was measured.";
  }
  const of = (arm: ArmName) => {
    const own = rounds.filter((round) => round.arm === arm && round.rate !== null);
    if (own.length === 0) {
      return `${arm}: no round`;
    }
    const rates = own.map((round) => round.rate as number).sort((a, b) => a - b);
    const [low, high] = [rates[0] as number, rates[rates.length - 1] as number];
    const slowest = slowestSlot(rounds, arm);
    const slot = slowest === null ? "" : `, slowest moment ${rate(slowest.rate, unit)}`;
    const spread = own.length === 1 ? rate(low, unit) : `${rate(low, unit)} to ${rate(high, unit)}`;
    return `${arm}: ${count(own.length, "round")} at ${spread}${slot}`;
  };
  return `${of("base")}; ${of("test")}.`;
}

export function latencyFinding(cell: Cell): string {
  const { base, test } = cell.summary;
  const { base_curve: ofBase, test_curve: ofTest } = cell.detail;
  if (ofBase.events === 0 || ofTest.events === 0) {
    return "No pair of rounds has latencies to compare.";
  }
  const at = (name: string, pick: (arm: typeof base) => number | null) =>
    `${name} ${latency(pick(base))} and ${latency(pick(test))} (${ratio(pick(base), pick(test))})`;
  const parts = [
    at("p50", (arm) => arm.latency_us.p50),
    at("p99", (arm) => arm.latency_us.p99),
    at("p99.9", (arm) => arm.latency_us.p999),
  ];
  return `An event takes in base and in test: ${parts.join(", ")}.`;
}

export function pairsFinding(cell: Cell): string {
  const { pairs } = cell.detail;
  if (pairs.length === 0) {
    return "There are no pairs of rates that a verdict could rest on.";
  }
  const slower = pairs.filter((pair) => pair.ratio < 1).length;
  const interval =
    cell.interval === null
      ? "too few pairs for an interval"
      : `95\u00a0% interval ${cell.interval}`;
  const doubt = cell.summary.verdict === "undecided" ? "; this does not decide it" : "";
  return (
    `Test did fewer ${inFull(cell.summary.unit)} than base in ${slower} of ` +
    `${count(pairs.length, "pair")}; ` +
    `estimate ${cell.change} (${interval})${doubt}.`
  );
}
