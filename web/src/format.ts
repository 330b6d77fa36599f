// Numbers for axes, captions and tables. Three significant digits; thousands grouped by no-break
// spaces; minus is U+2212.

const GLUE = "\u00a0";
const UNKNOWN = "—";

function group(digits: string): string {
  const [whole = "", fraction] = digits.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, GLUE);
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** A number with so many decimals. Zero has no sign. */
export function fixed(value: number | null, decimals: number): string {
  if (value === null || !Number.isFinite(value)) {
    return UNKNOWN;
  }
  const digits = group(Math.abs(value).toFixed(decimals));
  const isZero = !/[1-9]/.test(digits);
  return value < 0 && !isZero ? `−${digits}` : digits;
}

/** Three significant digits; whole numbers are not rounded further. */
export function threeDigits(value: number | null): string {
  if (value === null || !Number.isFinite(value) || value === 0) {
    return fixed(value, 0);
  }
  const decimals = 2 - Math.floor(Math.log10(Math.abs(value)));
  return fixed(value, Math.min(Math.max(decimals, 0), 6));
}

/** A rate with the time of its unit: `21 800/s`, `1 200/min`. */
export function rate(value: number | null, unit: string): string {
  return value === null ? UNKNOWN : `${threeDigits(value)}${unit.slice(unit.lastIndexOf("/"))}`;
}

/** A unit in full: `rows/s` is `rows per second`. */
export function inFull(unit: string): string {
  return unit.replace("/s", " per second").replace("/min", " per minute");
}

/** Microseconds in the unit that suits. */
export function latency(us: number | null): string {
  if (us === null || !Number.isFinite(us)) {
    return UNKNOWN;
  }
  if (us >= 1e6) {
    return `${threeDigits(us / 1e6)}${GLUE}s`;
  }
  return us >= 1e3 ? `${threeDigits(us / 1e3)}${GLUE}ms` : `${threeDigits(us)}${GLUE}µs`;
}

/** Test ÷ base. */
export function ratio(base: number | null, test: number | null): string {
  if (base === null || test === null || base === 0) {
    return UNKNOWN;
  }
  return `×${fixed(test / base, 2)}`;
}

/** A share of events as per cent, with as many nines as it has: 0.999 is 99.9 %. */
export function share(q: number): string {
  const decimals = q <= 0.9 ? 0 : Math.max(0, Math.ceil(-Math.log10(1 - q) - 1e-6) - 2);
  const exact = Math.abs(q * 100 - Number((q * 100).toFixed(decimals))) < 1e-6;
  return `${(q * 100).toFixed(exact ? decimals : decimals + 1)}${GLUE}%`;
}

/** An axis of rates: `12k`, `1.5M`. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) {
    return `${Number((value / 1e6).toPrecision(4))}M`;
  }
  if (size >= 1e4) {
    return `${Number((value / 1e3).toPrecision(4))}k`;
  }
  return group(String(Number(value.toPrecision(6))));
}

/** An axis of latencies, which carries round values: `50 µs`, `1.5 ms`. */
export function shortLatency(us: number): string {
  const [scale, unit] = us >= 1e6 ? [1e6, "s"] : us >= 1e3 ? [1e3, "ms"] : [1, "µs"];
  return `${Number((us / scale).toPrecision(4))}${GLUE}${unit}`;
}
