// The three charts as options and data of uPlot. Nothing here touches the document.

import type uPlot from "uplot";
import { fixed, inFull, latency, rate, share, short, shortLatency } from "./format";
import { type Palette, sheer } from "./palette";
import {
  linearRange,
  logRange,
  logTicks,
  nineTicks,
  type Room,
  shareAt,
  spacedTicks,
} from "./scales";
import { pairs, percentiles, throughput } from "./series";
import type { Cell, Round } from "./view";

export interface Chart {
  options: Omit<uPlot.Options, "width" | "height">;
  data: uPlot.AlignedData;
}

const FONT = "12px system-ui, sans-serif";
const LOGARITHMIC = 3;
/** Hidden in the legend by page.css. */
const UNLISTED = "unlisted";

type Ticks = (low: number, high: number, room: Room) => number[];

/** Free space between labels beside each other, and the height of one below another, in pixels. */
const LABEL_GAP_PX = 10;
const LABEL_HEIGHT_PX = 20;
/** On the left and right of a chart, so that a label at the end of its axis is not cut off. */
const PADDING_PX = 36;

/** The room of an axis in pixels of the style sheet. */
function roomOf(plot: uPlot, number: number, show: (value: number) => string): Room {
  const { width, height } = plot.bbox;
  if (number !== 0) {
    return { length: height / devicePixelRatio, of: () => LABEL_HEIGHT_PX };
  }
  const of = (tick: number) => {
    plot.ctx.save();
    plot.ctx.font = FONT;
    const size = plot.ctx.measureText(show(tick)).width;
    plot.ctx.restore();
    return size + LABEL_GAP_PX;
  };
  return { length: width / devicePixelRatio, of };
}

function axis(
  palette: Palette,
  label: string,
  ticks: Ticks,
  show: (value: number) => string,
  size: number,
): uPlot.Axis {
  return {
    label,
    labelFont: FONT,
    labelSize: 20,
    font: FONT,
    stroke: palette.faint,
    grid: { stroke: palette.grid, width: 1 },
    ticks: { stroke: palette.grid, width: 1, size: 5 },
    size,
    splits: (plot, number, low, high) => ticks(low, high, roomOf(plot, number, show)),
    filter: (_plot, splits) => splits,
    values: (_plot, splits) => splits.map(show),
  };
}

const wholeTicks: Ticks = (low, high, room) =>
  spacedTicks(low, high, 12, room).filter(Number.isInteger);
const rateTicks: Ticks = (low, high, room) => spacedTicks(low, high, 6, room);

function finite(range: (low: number, high: number) => [number, number]): uPlot.Range.Function {
  return (_plot, low, high) => range(low ?? NaN, high ?? NaN);
}

/** Lines that end where a round ends: uPlot's own join what lies within one pixel. */
const broken: uPlot.Series.PathBuilder = (plot, index, first, last) => {
  const path = new Path2D();
  const [xs, ys] = [plot.data[0], plot.data[index] ?? []];
  let isOpen = false;
  for (let at = first; at <= last; at++) {
    const y = ys[at] ?? null;
    if (y === null) {
      isOpen = false;
      continue;
    }
    const [left, top] = [plot.valToPos(xs[at] ?? 0, "x", true), plot.valToPos(y, "y", true)];
    if (isOpen) {
      path.lineTo(left, top);
    } else {
      path.moveTo(left, top);
    }
    isOpen = true;
  }
  return { stroke: path, fill: null, clip: null };
};

function aligned(columns: (number | null)[][]): uPlot.AlignedData {
  return columns as uPlot.AlignedData;
}

const COMMON = {
  padding: [10, PADDING_PX, 0, 0] as uPlot.Padding,
  cursor: { drag: { x: true, y: false, setScale: true }, points: { size: 6 } },
  legend: { live: true },
} as const;

export function throughputChart(rounds: Round[], unit: string, palette: Palette): Chart {
  const columns = throughput(rounds);
  const hasExtremes = rounds.some((round) => round.slots_low.length > 0);
  const value = (_plot: uPlot, y: number | null) => rate(y, unit);
  const line = (label: string, stroke: string, width: number): uPlot.Series => ({
    label,
    stroke,
    width,
    value,
    points: { show: false },
  });
  const arms = (["base", "test"] as const).flatMap((arm) => {
    const colour = palette[arm];
    const edge = { ...line(`${arm} extremes`, "transparent", 0), class: UNLISTED };
    return [
      { ...line(`${arm} slots`, sheer(colour, "90"), 1), paths: broken },
      { ...line(`${arm} round`, colour, 3), paths: broken },
      ...(hasExtremes ? [edge, edge] : []),
    ];
  });
  const data = (["base", "test"] as const).flatMap((arm) => {
    const own = columns[arm];
    return [own.slots, own.mean, ...(hasExtremes ? [own.high, own.low] : [])];
  });
  const bands = hasExtremes
    ? [
        { series: [3, 4] as [number, number], fill: sheer(palette.base, "30") },
        { series: [7, 8] as [number, number], fill: sheer(palette.test, "30") },
      ]
    : [];
  return {
    data: aligned([columns.x, ...data]),
    options: {
      ...COMMON,
      bands,
      scales: {
        x: { time: false, range: (_plot, low, high) => [low, high] },
        y: { range: finite(linearRange) },
      },
      axes: [
        axis(palette, "round, in the order of measuring", wholeTicks, (x) => fixed(x, 0), 34),
        axis(palette, inFull(unit), rateTicks, short, 62),
      ],
      series: [{ label: "round", value: (_plot, x) => fixed(x && Math.round(x), 0) }, ...arms],
    },
  };
}

const shareLabel = (place: number) => share(shareAt(place));

export function latencyChart(cell: Cell, palette: Palette): Chart {
  const columns = percentiles(cell.detail.base_curve, cell.detail.test_curve);
  const line = (arm: "base" | "test"): uPlot.Series => ({
    label: arm,
    stroke: palette[arm],
    width: 2,
    value: (_plot, us) => latency(us),
    points: { show: false },
  });
  return {
    data: aligned([columns.x, columns.base, columns.test]),
    options: {
      ...COMMON,
      scales: {
        x: {
          time: false,
          distr: LOGARITHMIC,
          range: (_plot, low, high) => [low ?? 1, Math.max(high ?? 10, (low ?? 1) * 1.01)],
        },
        y: { distr: LOGARITHMIC, range: finite(logRange) },
      },
      axes: [
        axis(palette, "share of events that take no longer", nineTicks, shareLabel, 34),
        axis(palette, "latency of an event", logTicks, shortLatency, 70),
      ],
      series: [
        { label: "share", value: (_plot, x) => (x === null ? "—" : share(shareAt(x))) },
        line("base"),
        { ...line("test"), dash: [7, 3] },
      ],
    },
  };
}

export function pairsChart(cell: Cell, palette: Palette): Chart {
  const columns = pairs(cell.detail.pairs, cell.summary);
  const value = (_plot: uPlot, ratio: number | null) => fixed(ratio, 3);
  const line = (label: string, stroke: string, width: number, dash: number[]): uPlot.Series => ({
    label,
    stroke,
    width,
    dash,
    value,
    points: { show: false },
  });
  const dots: uPlot.Series = {
    label: "pair",
    stroke: palette.ink,
    value,
    paths: () => null,
    points: { show: true, size: 7, width: 1.5, stroke: palette.ink, fill: palette.ink },
  };
  return {
    data: aligned([
      columns.x,
      columns.high,
      columns.low,
      columns.one,
      columns.estimate,
      columns.ratio,
    ]),
    options: {
      ...COMMON,
      bands: [{ series: [1, 2], fill: sheer(palette.test, "38") }],
      scales: {
        x: { time: false, range: (_plot, low, high) => [low, high] },
        y: { distr: LOGARITHMIC, range: finite(logRange) },
      },
      axes: [
        axis(palette, "pair of rounds", wholeTicks, (x) => fixed(x, 0), 34),
        axis(palette, "rQPS of the pair", logTicks, short, 62),
      ],
      series: [
        { label: "number", value: (_plot, x) => fixed(x && Math.round(x), 0) },
        { ...line("95 % high", "transparent", 0, []), class: UNLISTED },
        { ...line("95 % low", "transparent", 0, []), class: UNLISTED },
        { ...line("no change", palette.faint, 1, [2, 4]), class: UNLISTED },
        line("estimate", palette.test, 2, []),
        dots,
      ],
    },
  };
}
