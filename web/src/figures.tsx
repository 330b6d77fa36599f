// A figure: its finding, the chart, and the numbers behind it as a table.

import type { ComponentChildren } from "preact";
import { useCallback, useContext, useMemo, useRef, useState } from "preact/hooks";
import { type Chart, latencyChart, pairsChart, throughputChart } from "./charts";
import { latencyFinding, pairsFinding, throughputFinding } from "./findings";
import { fixed, inFull, latency, rate, ratio, share } from "./format";
import type { Palette } from "./palette";
import { Plot } from "./plot";
import { Printing } from "./printing";
import { ofClass } from "./series";
import type { Cell, Round } from "./view";

interface Table {
  heads: string[];
  rows: () => string[][];
}

/** Whether a fold is open: by who reads it, and in any case on paper. */
function useFold(isOpenAtFirst: boolean) {
  const isPrinted = useContext(Printing);
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const onToggle = (event: Event) => {
    if (!isPrinted) {
      setOpen((event.currentTarget as HTMLDetailsElement).open);
    }
  };
  return { isOpen: isOpen || isPrinted, onToggle };
}

function DataTable({ title, heads, rows }: Table & { title: string }) {
  const { isOpen, onToggle } = useFold(false);
  // Paper has two columns of a narrow table.
  const boxClass = heads.length <= 5 ? "scroll narrow" : "scroll";
  return (
    <details class="data" open={isOpen} onToggle={onToggle}>
      <summary>show data</summary>
      {isOpen && (
        <div class={boxClass} tabIndex={0} role="region" aria-label={`Data: ${title}`}>
          <table>
            <thead>
              <tr>{heads.map((head) => <th scope="col">{head}</th>)}</tr>
            </thead>
            <tbody>
              {rows().map((row) => <tr>{row.map((text) => <td>{text}</td>)}</tr>)}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

interface FigureProps {
  title: string;
  finding: string;
  isEmpty: boolean;
  draw: (palette: Palette) => Chart;
  table: Table;
  /** Stands between the caption and the chart. */
  above?: ComponentChildren;
  children?: ComponentChildren;
}

function Figure({ title, finding, isEmpty, draw, table, above, children }: FigureProps) {
  return (
    <figure>
      <figcaption>
        <b>{finding}</b> {title}
      </figcaption>
      {above}
      {!isEmpty && <Plot {...{ title, finding, draw }} />}
      {!isEmpty && children}
      {!isEmpty && <DataTable title={title} {...table} />}
    </figure>
  );
}

const ROUND_HEADS = ["round", "pair", "arm", "begun after"];

function roundRow(round: Round, index: number, unit: string): string[] {
  const lows = round.slots_low.length > 0 ? round.slots_low : round.slots;
  const highs = round.slots_high.length > 0 ? round.slots_high : round.slots;
  return [
    String(index + 1),
    String(round.pair + 1),
    round.arm,
    `${fixed(round.started_ms / 1000, 1)} s`,
    rate(round.rate, unit),
    lows.length > 0 ? rate(Math.min(...lows), unit) : "—",
    highs.length > 0 ? rate(Math.max(...highs), unit) : "—",
  ];
}

interface ChooserProps {
  classes: string[];
  chosen: number | null;
  choose: (index: number | null) => void;
}

/** Which class the chart shows; all of them together at first. */
function Chooser({ classes, chosen, choose }: ChooserProps) {
  const button = (name: string, index: number | null) => (
    <button type="button" aria-pressed={chosen === index} onClick={() => choose(index)}>
      {name}
    </button>
  );
  return (
    <div class="chooser" role="group" aria-label="Throughput of">
      {button("all", null)}
      {classes.map(button)}
    </div>
  );
}

function Throughput({ cell }: { cell: Cell }) {
  const { classes, class_unit: classUnit, rounds: all } = cell.detail;
  const [chosen, choose] = useState<number | null>(null);
  const rounds = useMemo(() => (chosen === null ? all : ofClass(all, chosen)), [all, chosen]);
  const unit = chosen === null ? cell.summary.unit : classUnit;
  const name = chosen === null ? null : classes[chosen];
  const draw = useCallback(
    (palette: Palette) => throughputChart(rounds, unit, palette),
    [rounds, unit],
  );
  const slot = rounds.find((round) => round.slots.length > 0);
  const hasExtremes = rounds.some((round) => round.slots_low.length > 0);
  return (
    <Figure
      title={`Throughput${name ? ` of ${name}` : ""}, round by round.`}
      finding={throughputFinding(rounds, unit)}
      isEmpty={rounds.length === 0}
      above={classes.length > 0 && <Chooser {...{ classes, chosen, choose }} />}
      draw={draw}
      table={{
        heads: [...ROUND_HEADS, inFull(unit), "slowest slot", "fastest slot"],
        rows: () => rounds.map((round, index) => roundRow(round, index, unit)),
      }}
    >
      <p class="aside">
        Thick: mean of a round. {slot && `Thin: slots of ${fixed(slot.slot_ms, 0)} ms. `}
        {hasExtremes && "Band: slowest and fastest moment within a slot. "}
        The axis need not begin at zero.
      </p>
    </Figure>
  );
}

function Latencies({ cell }: { cell: Cell }) {
  const { base_curve: base, test_curve: test } = cell.detail;
  const draw = useCallback((palette: Palette) => latencyChart(cell, palette), [cell]);
  const longer = base.q.length >= test.q.length ? base : test;
  const rows = () =>
    longer.q.map((q, at) => {
      const [a, b] = [base.us[at] ?? null, test.us[at] ?? null];
      return [share(q), latency(a), latency(b), ratio(a, b)];
    });
  return (
    <Figure
      title="Latency by percentile."
      finding={latencyFinding(cell)}
      isEmpty={base.events === 0 && test.events === 0}
      draw={draw}
      table={{ heads: ["share of events", "base", "test", "test ÷ base"], rows }}
    />
  );
}

function Pairs({ cell }: { cell: Cell }) {
  const { pairs, rounds } = cell.detail;
  const draw = useCallback((palette: Palette) => pairsChart(cell, palette), [cell]);
  const of = (pair: number, arm: string) => {
    const round = rounds.find((one) => one.pair === pair && one.arm === arm);
    return rate(round?.rate ?? null, cell.summary.unit);
  };
  const rows = () =>
    pairs.map(({ pair, ratio: rqps }) => [
      String(pair + 1),
      of(pair, "base"),
      of(pair, "test"),
      fixed(rqps, 4),
      fixed(Math.log(rqps), 4),
    ]);
  return (
    <Figure
      title="Pairs of rounds."
      finding={pairsFinding(cell)}
      isEmpty={pairs.length === 0}
      draw={draw}
      table={{ heads: ["pair", "base", "test", "rQPS", "log-ratio"], rows }}
    >
      <p class="aside">Line: estimate. Band: its 95 % interval. Dotted: no change. Log scale.</p>
    </Figure>
  );
}

/** The figures of one cell; they are made when it is first opened. */
export function CellFigures({ cell, isOpenAtFirst }: { cell: Cell; isOpenAtFirst: boolean }) {
  const { isOpen, onToggle } = useFold(isOpenAtFirst);
  const isPrinted = useContext(Printing);
  const wasOpen = useRef(false);
  wasOpen.current ||= isOpen && !isPrinted;
  return (
    <details class="cell" open={isOpen} onToggle={onToggle}>
      <summary>{cell.place}</summary>
      {(wasOpen.current || isOpen) && (
        <div class="figures">
          <Throughput cell={cell} />
          <Latencies cell={cell} />
          <Pairs cell={cell} />
        </div>
      )}
    </details>
  );
}
