// Figures as people read them.

const three = (value) => (value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2));

export function length(ms) {
  if (ms === null || ms === undefined) return "unknown";
  if (ms === 0) return "0 ms";
  if (ms < 1) return `${three(ms * 1000)} µs`;
  if (ms < 1000) return `${three(ms)} ms`;
  if (ms < 120000) return `${three(ms / 1000)} s`;
  return `${three(ms / 60000)} min`;
}

/// The same for an axis, where figures are round.
export const mark = (ms) => length(ms).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");

export function count(value) {
  if (value === null || value === undefined) return "unknown";
  if (value < 10 && value !== Math.round(value)) return value.toFixed(1);
  if (value < 10000) return Math.round(value).toString();
  if (value < 1e6) return `${three(value / 1e3)} k`;
  return `${three(value / 1e6)} M`;
}

export function percent(share) {
  if (share === null || share === undefined) return "unknown";
  const value = share * 100;
  if (value === 0) return "0 %";
  if (value < 0.001) return "< 0.001 %";
  return `${value < 1 ? value.toPrecision(2) : three(value)} %`;
}

export function ago(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  return `${Math.round(seconds / 3600)} h ago`;
}

/// A length as the attribute takes it.
export function written(ms) {
  const nanos = Math.round(ms * 1e6);
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]]) {
    if (nanos >= size && nanos % size === 0) return `${nanos / size}${unit}`;
  }
  return `${nanos}ns`;
}
