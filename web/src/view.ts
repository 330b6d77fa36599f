// The data block of the page, as `crates/report/src/html` writes it. Names end in their unit;
// `null` stands for what could not be observed or is not bounded.

export type ArmName = "base" | "test";
export type Verdict = "slower" | "equal" | "faster" | "undecided";

export interface Data {
  base: string;
  test: string;
  cells: Cell[];
}

export interface Cell {
  /** `point-query at 1 client` */
  place: string;
  /** `−4.9 %` */
  change: string;
  /** `−5.6 to −4.1 %` */
  interval: string | null;
  summary: Summary;
  detail: Detail;
}

export interface Summary {
  rqps: number | null;
  rqps_low: number | null;
  rqps_high: number | null;
  verdict: Verdict;
  base: Arm;
  test: Arm;
}

export interface Arm {
  qps: number | null;
  latency_us: Latency;
}

export interface Latency {
  p50: number | null;
  p99: number | null;
  p999: number | null;
}

export interface Detail {
  rounds: Round[];
  pairs: Pair[];
  base_curve: Curve;
  test_curve: Curve;
}

export interface Round {
  arm: ArmName;
  pair: number;
  /** After the beginning of the run. */
  started_ms: number;
  qps: number | null;
  slot_ms: number;
  /** Statements per second in each slot. */
  slots: number[];
  /** Extremes of the slots that were put together; empty if none were. */
  slots_low: number[];
  slots_high: number[];
}

export interface Pair {
  pair: number;
  /** QPS of test ÷ QPS of base. */
  ratio: number;
}

export interface Curve {
  /** Shares of events … */
  q: number[];
  /** … that took no longer than this. */
  us: number[];
  events: number;
}
