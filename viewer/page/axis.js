// Axes: ticks at round values.

import { short } from "./dom.js";

/**
 * Returns the ticks of an axis from low to high, at most about most of them.
 *
 * @returns {{value: number, label: string}[]}
 */
export function ticks(low, high, log, most) {
  const values = log ? logTicks(low, high, most) : linearTicks(low, high, most);
  return values.map((value) => ({ value, label: short(value, 12) }));
}

function linearTicks(low, high, most) {
  const rough = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((m) => m * power >= rough * (1 - 1e-9)) * power;
  const values = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && values.length < 100; i++) values.push(Number((i * step).toPrecision(12)));
  return values;
}

function logTicks(low, high, most) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const step = Math.max(Math.ceil((last - first) / most), 1);
  const decades = Math.log10(high / low);
  const factors = decades * 3 <= most ? [1, 2, 5] : decades * 2 <= most ? [1, 3] : [1];
  const values = [];
  for (let p = first; p <= last; p += step) for (const f of factors) values.push(Number((f * 10 ** p).toPrecision(12)));
  const inside = values.filter((v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
  return inside.length >= 2 ? inside : linearTicks(low, high, most).filter((v) => v > 0);
}

/** Returns the function that maps values from low to high to positions from a to b. */
export function scale(low, high, log, a, b) {
  const f = log ? (x) => Math.log(x) : (x) => x;
  const l = f(low), h = f(high);
  return (x) => a + (f(x) - l) / (h - l || 1) * (b - a);
}

/** Returns the inverse of scale. */
export function inverse(low, high, log, a, b) {
  const f = log ? Math.log : (x) => x, g = log ? Math.exp : (x) => x;
  const l = f(low), h = f(high);
  return (y) => g(l + (y - a) / (b - a) * (h - l));
}
