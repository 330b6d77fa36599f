// Axes: where they begin and end, and where their ticks stand.

/** Steps of 1, 2 or 5 times a power of ten: at most about `count` ticks inside [low, high]. */
export function linearTicks(low: number, high: number, count: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) {
    return [];
  }
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? power;
  const ticks: number[] = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at++) {
    ticks.push(Number((at * step).toPrecision(12)));
  }
  return ticks;
}

/** So many ticks at most, however much room there is. */
const LOG_TICKS_MOST = 8;
/** A log axis over less than this factor has equal steps. */
const NEARLY_LINEAR = 4;

/** Ticks at these factors of powers of ten, of which every `stride`th counted from 1 is taken. */
function powerTicks(low: number, high: number, factors: number[], stride: number): number[] {
  const ticks: number[] = [];
  const first = Math.floor(Math.log10(low) / stride) * stride;
  for (let power = first; power <= Math.log10(high) + 1e-9; power += stride) {
    for (const factor of factors) {
      const tick = Number((factor * 10 ** power).toPrecision(12));
      if (tick >= low * 0.999999 && tick <= high * 1.000001) {
        ticks.push(tick);
      }
    }
  }
  return ticks;
}

/** Equal steps, which suit where the axis is nearly linear. */
function evenSets(low: number, high: number): number[][] {
  return [8, 6, 5, 4, 3, 2, 1].map((count) => linearTicks(low, high, count));
}

/** Powers of ten and parts of these, or every so many powers. */
function powerSets(low: number, high: number): number[][] {
  const parts = [[1, 2, 5], [1, 3], [1]].map((factors) => powerTicks(low, high, factors, 1));
  return [...parts, ...[2, 3, 4, 6, 8, 12].map((stride) => powerTicks(low, high, [1], stride))];
}

/** How much room an axis has: its length, and what a label takes of it. */
export interface Room {
  length: number;
  of: (tick: number) => number;
}

/** Whether labels stand beside each other, at places that are shares of the length. */
export function haveRoom(ticks: number[], share: (tick: number) => number, room: Room): boolean {
  return ticks.slice(1).every((tick, at) => {
    const before = ticks[at] as number;
    const apart = (share(tick) - share(before)) * room.length;
    return apart >= (room.of(tick) + room.of(before)) / 2;
  });
}

/** Ticks of a log axis: as many as have room, and 1 among them where it lies within. */
export function logTicks(low: number, high: number, room: Room): number[] {
  if (!(low > 0) || !(high > low) || !Number.isFinite(high)) {
    return [];
  }
  const share = (tick: number) => Math.log(tick / low) / Math.log(high / low);
  const hasOne = low <= 1 && 1 <= high;
  const most = (sets: number[][]) => {
    const fitting = sets
      .map((set) => set.filter((tick) => tick > 0).slice(0, LOG_TICKS_MOST + 1))
      .filter((set) => set.length <= LOG_TICKS_MOST && (!hasOne || set.includes(1)))
      .filter((set) => haveRoom(set, share, room));
    return fitting.reduce<number[]>((a, b) => (b.length > a.length ? b : a), []);
  };
  const [even, powers] = [most(evenSets(low, high)), most(powerSets(low, high))];
  const [first, second] = high / low < NEARLY_LINEAR ? [even, powers] : [powers, even];
  const best = first.length > 1 || first.length >= second.length ? first : second;
  return best.length > 0 || !hasOne ? best : [1];
}

/** Ticks of a linear axis: at most about `count`, and as many as have room. */
export function spacedTicks(low: number, high: number, count: number, room: Room): number[] {
  const share = (tick: number) => (tick - low) / (high - low);
  for (let most = count; most >= 1; most--) {
    const ticks = linearTicks(low, high, most);
    if (haveRoom(ticks, share, room)) {
      return ticks;
    }
  }
  return linearTicks(low, high, 1).slice(0, 1);
}

/** Ticks of the percentile axis: 0 %, 90 %, 99 % …, or every so many of them. */
export function nineTicks(low: number, high: number, room: Room): number[] {
  if (!(low > 0) || !(high > low)) {
    return [];
  }
  const share = (tick: number) => Math.log(tick / low) / Math.log(high / low);
  const sets = [1, 2, 3, 4, 6].map((stride) => powerTicks(low, high, [1], stride));
  return sets.find((set) => haveRoom(set, share, room)) ?? (sets[0] ?? []).slice(0, 1);
}

/** The range of a log axis with some air, never empty. */
export function logRange(low: number, high: number): [number, number] {
  if (!(low > 0) || !Number.isFinite(high)) {
    return [1, 10];
  }
  const air = Math.max((high / low) ** 0.06, 1.02);
  return [low / air, high * air];
}

/** The range of a linear axis with some air, never empty and never below zero. */
export function linearRange(low: number, high: number): [number, number] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) {
    return [0, 1];
  }
  const air = Math.max((high - low) * 0.08, Math.abs(high) * 0.005, 1e-9);
  return [Math.max(0, low - air), high + air];
}

/** The percentile axis: 0 % at 1, 90 % at 10, 99 % at 100 …, so that each nine takes equal room. */
export function nines(q: number): number {
  return 1 / (1 - q);
}

/** The share of events at a place of that axis. */
export function shareAt(place: number): number {
  return 1 - 1 / place;
}
