// Pictures that need no library, of a run that goes on or has ended: how its front grew, and the front.

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key in made && typeof value !== "string") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function drawn(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Ticks at 1, 2 and 5 times powers of ten, few enough to be read.
function fewTicks(low, high, log) {
  if (log) {
    const powers = Array.from({ length: 41 }, (_, place) => 10 ** (place - 20)).filter((value) => low <= value && value <= high);
    if (powers.length > 1) return powers.filter((_, place) => place % Math.ceil(powers.length / 5) === 0);
  }
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.max(Math.floor(high / step) - first + 1, 0) }, (_, place) => Number(((first + place) * step).toPrecision(12)));
}

// Axes `x` and `y` have low, high, log, label and values; points are joined as steps where `steps`.
function plainPicture(about, x, y, steps) {
  const [left, right, top, bottom] = [64, 448, 10, 190];
  const along = ({ low, high, log }, start, end) => {
    const scaled = log ? Math.log : (value) => value;
    return (value) => start + ((scaled(value) - scaled(low)) / (scaled(high) - scaled(low) || 1)) * (end - start);
  };
  const [across, up] = [along(x, left, right), along(y, bottom, top)];
  const written = (value) => (Math.abs(value) >= 1e5 || (value && Math.abs(value) < 1e-3) ? value.toExponential() : value.toLocaleString("en", { maximumFractionDigits: 6 }));
  const text = (words, places) => drawn("text", { "font-size": 11, fill: "currentColor", ...places }, words);
  const parts = [];
  for (const value of fewTicks(x.low, x.high, x.log)) parts.push(drawn("path", { d: `M${across(value)} ${bottom} v4`, stroke: "currentColor" }), text(written(value), { x: across(value), y: bottom + 16, "text-anchor": "middle" }));
  for (const value of fewTicks(y.low, y.high, y.log)) parts.push(drawn("path", { d: `M${left} ${up(value)} H${right}`, class: "grid" }), text(written(value), { x: left - 6, y: up(value) + 4, "text-anchor": "end" }));
  parts.push(drawn("path", { d: `M${left} ${top} V${bottom} H${right}`, stroke: "currentColor", fill: "none" }));
  parts.push(text(x.label, { x: (left + right) / 2, y: bottom + 32, "text-anchor": "middle" }), text(y.label, { transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }));
  const places = x.values.map((value, at) => [across(value), up(y.values[at])]);
  if (steps) parts.push(drawn("path", { d: places.map(([h, v], at) => (at ? `H${h} V${v}` : `M${h} ${v}`)).join(" "), fill: "none", class: "grown" }));
  else for (const [cx, cy] of places) parts.push(drawn("circle", { cx, cy, r: 4, class: "on-front" }));
  return drawn("svg", { viewBox: "0 0 460 228", class: "plain", role: "img", "aria-label": about }, ...parts);
}

function growthPicture({ evaluations, share }) {
  const [low, high] = [evaluations[0], evaluations[evaluations.length - 1]];
  const x = { low, high, log: high > 30 * low, label: "designs evaluated", values: evaluations };
  const y = { low: 0, high: 1, label: "hypervolume (last = 1)", values: share };
  return plainPicture(`Hypervolume of the front, as a share of the last, over designs evaluated: ${share.map((one) => one.toFixed(2)).slice(-8).join(", ")}.`, x, y, true);
}
