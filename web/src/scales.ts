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

/** Ticks at 1, 2 and 5 times powers of ten, at powers of ten alone where those are many. */
export function logTicks(low: number, high: number): number[] {
  if (!(low > 0) || !(high > low)) {
    return [];
  }
  const decades = Math.log10(high / low);
  if (decades < 0.5) {
    return linearTicks(low, high, 4);
  }
  const factors = decades > 3 ? [1] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const factor of factors) {
      const tick = Number((factor * 10 ** power).toPrecision(12));
      if (tick >= low * 0.999999 && tick <= high * 1.000001) {
        ticks.push(tick);
      }
    }
  }
  return ticks;
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
