// Colours that colour-blind readers tell apart (Okabe and Ito), each with a marker of its own.

const PALETTE = [
  ["#0072B2", "circle"],
  ["#E69F00", "rect"],
  ["#56B4E9", "diamond"],
  ["#D55E00", "path://M0 0 L10 0 L5 10 Z"],
  ["#F0E442", "path://M3 0 H7 V3 H10 V7 H7 V10 H3 V7 H0 V3 H3 Z"],
  ["#009E73", "path://M0 2 L2 0 L5 3 L8 0 L10 2 L7 5 L10 8 L8 10 L5 7 L2 10 L0 8 L3 5 Z"],
  ["#CC79A7", "path://M10 0 L10 10 L0 5 Z"],
  ["#000000", "triangle"],
];

// A colour of the style sheet, which has one for a light and one for a dark page.
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const SHAPES = { circle: "M5 0 A5 5 0 1 1 4.99 0 Z", rect: "M0 0 H10 V10 H0 Z", triangle: "M5 0 L10 10 L0 10 Z", diamond: "M5 0 L10 5 L5 10 L0 5 Z" };

const narrow = () => window.innerWidth < 640;
const font = () => ({ fontFamily: getComputedStyle(document.body).fontFamily, fontSize: 12, color: colour("ink") });


// The values of a column that colours: one hue each for the whole page, those on the front first.
function huesOf(name) {
  if (!name) return { labels: allRows.map(() => "front"), names: ["front"], off: [] };
  const { facts, values, kinds: labels } = columns[name];
  const all = values.map((value) => show(value, facts));
  const counts = new Map();
  for (const label of all) counts.set(label, (counts.get(label) ?? 0) + 1);
  let names = labels ? labels.filter((label) => counts.has(label)) : [...counts.keys()].sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
  if (names.length > PALETTE.length) {
    const frequent = new Set([...names].sort((one, other) => counts.get(other) - counts.get(one)).slice(0, PALETTE.length - 1));
    names = [...names.filter((label) => frequent.has(label)), "other"];
    return { labels: all.map((label) => (frequent.has(label) ? label : "other")), names, off: [] };
  }
  const off = (labels ?? []).filter((label) => !counts.has(label)).slice(0, PALETTE.length - names.length);
  return { labels: all, names, off };
}

let hues = { labels: [], names: [], off: [] };
followers.push(() => { hues = huesOf(state.colour); });

function look(group) {
  const [fill, shape] = PALETTE[[...hues.names, ...hues.off].indexOf(group) % PALETTE.length];
  return [fill === "#000000" ? colour("ink") : fill, shape];
}

function marker(fill, shape, hollow) {
  const path = shape.startsWith("path://") ? shape.slice(7) : SHAPES[shape];
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawn.setAttribute("viewBox", "0 0 10 10");
  const inner = document.createElementNS("http://www.w3.org/2000/svg", "path");
  inner.setAttribute("d", path);
  inner.setAttribute("fill", hollow ? "none" : fill);
  inner.setAttribute("stroke", hollow ? fill : "none");
  inner.setAttribute("stroke-width", "1.6");
  drawn.append(inner);
  return drawn;
}

function drawLegend() {
  const box = document.getElementById("legend");
  box.replaceChildren();
  const entry = (fill, shape, words, hollow) =>
    box.append(element("span", {}, marker(fill, shape, hollow), words));
  if (state.colour) box.append(element("b", {}, `${columns[state.colour].facts.words}:`));
  for (const group of hues.names) entry(...look(group), group);
  for (const group of hues.off) entry(...look(group), `${group}, not on the front`, true);
  if (alongNumber) entry(colour("ink"), "path://M0 4 H10 V6 H0 Z", "recommended");
  else entry(colour("ink"), "circle", "recommended", true);
  if (data.cloud.size) entry(colour("cloud"), "circle", "feasible designs");
  if (data.bounds.some(({ objective }) => [state.x, state.y].includes(objective))) entry(colour("warn"), "path://M0 4 H10 V6 H0 Z", "constraint of the study");
}

// Return what a design is and what it is worth, as a box beside the pointer.
function tip(row) {
  const box = element("div", { class: "tip" }, element("b", {}, described[row]));
  const names = [data.sweep, ...data.objectives, data.category].filter(Boolean);
  for (const name of names) {
    const { facts, values } = columns[name];
    box.append(element("div", {}, `${facts.words}: ${show(values[row], facts)}`));
  }
  return box;
}

const LONG = 20; // what spans more than so many times its least is drawn on a logarithmic scale

// Return from where to where a column goes in pictures, and whether on a logarithmic scale.
function extent({ name, facts, kinds: labels, places }) {
  if (labels) return { low: -0.5, high: labels.length - 0.5, log: false };
  const { low, high, log } = facts.axis;
  const known = places.filter(Number.isFinite);
  const least = Math.min(...known);
  const long = log || (name !== data.sweep && least > 0 && Math.max(...known) > LONG * least);
  const wanted = state.logs[name] ?? long;
  return { low: wanted && !log && low < least / 3 ? least / 1.5 : low, high, log: wanted };
}

function axisOf(name) {
  const { facts, kinds: labels, places: values } = columns[name];
  if (!facts.number) return { type: "category", data: labels, name: facts.words, axisLabel: { color: colour("ink"), hideOverlap: true } };
  const { low, high, log } = extent(columns[name]);
  const few = [...new Set([data.sweep, ...data.choices].includes(name) ? values.filter(Number.isFinite) : [])];
  const only = few.length > 0 && few.length <= 8 ? { customValues: few } : {};
  return {
    type: log ? "log" : "value",
    min: low,
    max: high,
    name: facts.axis.label,
    // the ends of an axis are no round numbers
    minInterval: values.every(Number.isInteger) && !log ? 1 : 0,
    axisTick: only,
    axisLabel: { formatter: tickOf({ low, high, log }), hideOverlap: true, showMinLabel: Boolean(only.customValues), showMaxLabel: Boolean(only.customValues), color: colour("ink"), ...only },
    splitLine: { lineStyle: { color: colour("line") } },
  };
}

const charts = [];
// what draws the axes of each picture, again where the page turns dark or light
const frames = [];

function chartIn(box, words) {
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", words);
  const chart = echarts.init(box, null, { renderer: "canvas", devicePixelRatio: Math.max(window.devicePixelRatio, size > 1000 ? 1 : 2) });
  charts.push(chart);
  return chart;
}
