// What the page holds: designs by column, and what is selected, limited, preferred and drawn now.

const data = JSON.parse(document.getElementById("data").textContent);
const size = data.design.codes.length;
const allRows = Array.from({ length: size }, (_, row) => row);

function unpacked(packed) {
  if (Array.isArray(packed)) return packed.map((value) => (value === null ? NaN : Number(value)));
  return packed.codes.map((code) => packed.labels[code]);
}

const columns = {};
for (const [name, facts] of Object.entries(data.columns)) {
  const values = unpacked(data.front[name]);
  const kinds = facts.number ? null : data.front[name].labels;
  // where a design stands on the axis of the column: its value in the axis's unit, or its kind
  const places = facts.number ? values.map((value) => value / facts.axis.factor) : data.front[name].codes;
  columns[name] = { name, facts, values, kinds, places };
}
// a sweep of numbers has a line and shades between its values, one of choices has neither
const alongNumber = Boolean(data.sweep) && columns[data.sweep].facts.number;
const designs = unpacked(data.design);
// a design's name is filtered like a choice, and is no column otherwise
const NAME = "";
Object.defineProperty(columns, NAME, { value: { name: NAME, facts: { words: "design", number: false }, values: designs, kinds: data.design.labels, places: data.design.codes } });
const described = unpacked(data.described);
const kinds = unpacked(data.kind);
const nameOf = (row) => designs[row];
const losses = data.objectives.map((name) => {
  const sign = columns[name].facts.sense === "maximise" ? -1 : 1;
  return columns[name].values.map((value) => rounded(sign * value));
});
// the axes that a picture may have: what varies of the sweep, objectives, choices and bottleneck
const axisNames = [...new Set([data.sweep, ...data.objectives, ...data.choices, data.category].filter((name) => name && columns[name].facts.varies))];
if (!axisNames.length) axisNames.push(data.objectives[0]);

// the numbers that this page was drawn with instead of those of the study, of a page that is served
const live = JSON.parse(document.getElementById("live-facts")?.textContent ?? "null");
const given = live?.moved ?? {};
const KNEE = "knee";
const goals = axisNames.filter((name) => data.objectives.includes(name));
const start = { by: data.preference.by, tolerance: data.preference.tolerance, x: alongNumber ? data.sweep : goals[0] ?? axisNames[0], y: (alongNumber ? goals[0] : goals[1]) ?? null, colour: data.colour };
const nothing = () => ({ filters: {}, limits: {}, logs: {}, moved: {}, ...start, chosen: -1 });
const state = nothing();
const followers = [];

// A design in a link: as options take it, and its value of the sweep.
const keyOf = (row) => (data.assigned[row] ?? described[row]) + (data.sweep ? ` at ${columns[data.sweep].values[row]}` : "");

// The state as the fragment of the address, by names and in SI; what is as at the start is not in it.
function fragment() {
  const parts = new URLSearchParams();
  if (state.by !== start.by) parts.set("prefer", state.by);
  if (state.tolerance !== start.tolerance) parts.set("within", state.tolerance);
  for (const side of ["x", "y", "colour"]) if (state[side] !== start[side]) parts.set(side, state[side] ?? "none");
  for (const [name, log] of Object.entries(state.logs)) parts.set(`scale.${name}`, log ? "log" : "linear");
  for (const [name, limit] of Object.entries(state.limits)) parts.set(`limit.${name}`, limit);
  for (const [name, intervals] of Object.entries(state.filters)) parts.set(`filter.${name}`, filterText(columns[name], intervals));
  for (const [path, value] of Object.entries(state.moved)) parts.set(`set.${path}`, value);
  if (state.chosen >= 0) parts.set("design", keyOf(state.chosen));
  return parts.toString();
}

function filterText({ facts, kinds: labels }, intervals) {
  if (labels) return labels.filter((_, code) => intervals.some(([low, high]) => low <= code && code <= high)).join("|");
  return intervals.map((pair) => pair.map((place) => place * facts.axis.factor).join("..")).join("|");
}

function filterOf({ facts, kinds: labels }, text) {
  const parts = text.split("|");
  if (labels) return text === "" ? [[-1, -1]] : parts.map((label) => labels.indexOf(label)).filter((code) => code >= 0).map((code) => [code, code]);
  const pairs = parts.map((pair) => pair.split("..").map((value) => Number(value) / facts.axis.factor));
  return pairs.every((pair) => pair.length === 2 && !pair.some(Number.isNaN)) ? pairs : [];
}

function fromFragment(text) {
  const found = nothing();
  for (const [key, value] of new URLSearchParams(text)) {
    const [what, ...rest] = key.split(".");
    const name = rest.join(".");
    if (what === "prefer" && (data.objectives.includes(value) || [KNEE, start.by].includes(value))) found.by = value;
    if (what === "within" && Number(value) >= 0) found.tolerance = Math.min(Number(value), 1);
    if (["x", "y"].includes(what) && axisNames.includes(value)) found[what] = value;
    if (what === "y" && value === "none") found.y = null;
    if (what === "colour" && columns[value]) found.colour = value;
    if (what === "scale" && columns[name]?.facts.number) found.logs[name] = value === "log";
    if (what === "limit" && data.objectives.includes(name) && Number.isFinite(Number(value))) found.limits[name] = Number(value);
    if (what === "filter" && columns[name] && filterOf(columns[name], value).length) found.filters[name] = filterOf(columns[name], value);
    if (what === "set" && live) found.moved[name] = value;
    if (what === "design") found.chosen = allRows.findIndex((row) => keyOf(row) === value);
  }
  return found;
}

let kept = { keys: "", time: 0 };
// Each change is a step back, those of one slider in a row only one.
function keepInAddress(keys) {
  const now = fragment();
  const before = location.hash.slice(1);
  if (now === before || !(now || before.includes("="))) return;
  const goesOn = keys === kept.keys && performance.now() - kept.time < 1500;
  kept = { keys, time: performance.now() };
  history[goesOn ? "replaceState" : "pushState"](null, "", now ? `#${now}` : location.pathname + location.search);
}

// Filters are intervals of places by column; limits are values of objectives.
function apply(change) {
  Object.assign(state, change);
  settle();
  followers.forEach((follow) => follow());
}

function update(change) {
  apply(change);
  keepInAddress(Object.keys(change).join());
}

function withFilter(name, intervals) {
  const filters = { ...state.filters };
  if (intervals && intervals.length) filters[name] = intervals;
  else delete filters[name];
  return filters;
}

function settle() {
  const filters = Object.entries(state.filters);
  state.inside = allRows.map((row) => filters.every(([name, intervals]) => {
    const place = columns[name].places[row];
    return intervals.some(([low, high]) => low <= place && place <= high);
  }));
  const limits = Object.entries(state.limits);
  state.admitted = allRows.map((row) => limits.every(([name, limit]) => {
    const { values, facts } = columns[name];
    return facts.sense === "maximise" ? values[row] >= limit : values[row] <= limit;
  }));
  state.picks = parts().map((rows) => recommendedOf(rows.filter((row) => state.admitted[row])));
}

// Return the rows among which one is recommended: those at a value of the sweep.
function parts() {
  const swept = data.sweep ? columns[data.sweep].values : null;
  return together(allRows, (row) => (swept ? swept[row] : ""));
}

// Return rows of one key together, in their order.
function together(rows, keyFor) {
  const found = new Map();
  for (const row of rows) {
    const key = keyFor(row);
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(row);
  }
  return [...found.values()];
}

function recommendedOf(rows) {
  const compared = data.objectives.indexOf(state.by);
  const tolerance = state.by === KNEE ? 0 : state.tolerance;
  let merit;
  if (state.by === KNEE) merit = bends(rows, losses);
  else if (compared >= 0) merit = rows.map((row) => losses[compared][row]);
  else merit = rows.map((row) => data.merit[row]);
  return recommended(rows, merit, losses, compared, tolerance);
}

function wanted(name) {
  const { facts } = columns[name];
  return `${facts.sense === "maximise" ? "most" : "least"} ${facts.words}`;
}
