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
  /** `queries/s`, `rows/s` or `transactions/min` */
  unit: string;
  rqps: number | null;
  rqps_low: number | null;
  rqps_high: number | null;
  verdict: Verdict;
  base: Arm;
  test: Arm;
}

export interface Arm {
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
  /** Names of the classes of events or statements; empty where there is one only. */
  classes: string[];
  /** What their rates count: `events/s`, `statements/s`, `transactions/min`. */
  class_unit: string;
}

/** In the unit of the cell; what is asked of a class, in that of the classes. */
export interface Round extends Slots {
  arm: ArmName;
  pair: number;
  /** After the beginning of the run. */
  started_ms: number;
  slot_ms: number;
  /** In the order of `Detail.classes`; empty where the round does not tell them apart. */
  classes: Slots[];
}

export interface Slots {
  /** Of the whole round. */
  rate: number | null;
  /** In each slot. */
  slots: number[];
  /** Extremes of the slots that were put together; empty if none were. */
  slots_low: number[];
  slots_high: number[];
}

export interface Pair {
  pair: number;
  /** Rate of test ÷ rate of base. */
  ratio: number;
}

export interface Curve {
  /** Shares of events … */
  q: number[];
  /** … that took no longer than this. */
  us: number[];
  events: number;
}
