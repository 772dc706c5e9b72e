// What the page holds: designs by column, and what is selected, limited and preferred now.

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
const groups = unpacked(data.group);
const losses = data.objectives.map((name) => {
  const sign = columns[name].facts.sense === "maximise" ? -1 : 1;
  return columns[name].values.map((value) => rounded(sign * value));
});

const KNEE = "knee";
const atStart = { by: data.preference.by, tolerance: data.preference.tolerance };
const state = { filters: {}, limits: {}, ...atStart, chosen: -1 };
const followers = [];

// The state as the fragment of the address, so that a link keeps it; what is as at the start is not in it.
function fragment() {
  const parts = new URLSearchParams();
  if (state.by !== atStart.by) parts.set("prefer", state.by);
  if (state.tolerance !== atStart.tolerance) parts.set("within", state.tolerance);
  for (const [name, limit] of Object.entries(state.limits)) parts.set(`limit.${name}`, limit);
  for (const [name, intervals] of Object.entries(state.filters)) parts.set(`filter.${name}`, intervals.map((pair) => pair.join("..")).join(","));
  if (state.chosen >= 0) parts.set("design", state.chosen + 1);
  return parts.toString();
}

function fromFragment(text) {
  const found = { by: atStart.by, tolerance: atStart.tolerance, limits: {}, filters: {}, chosen: -1 };
  for (const [key, value] of new URLSearchParams(text)) {
    const [what, ...rest] = key.split(".");
    const name = rest.join(".");
    const row = Number(value) - 1;
    if (what === "prefer" && (data.objectives.includes(value) || [KNEE, atStart.by].includes(value))) found.by = value;
    if (what === "within" && Number(value) >= 0) found.tolerance = Math.min(Number(value), 1);
    if (what === "limit" && data.objectives.includes(name) && Number.isFinite(Number(value))) found.limits[name] = Number(value);
    if (what === "filter" && columns[name]) {
      const pairs = value.split(",").map((pair) => pair.split("..").map(Number));
      if (pairs.every((pair) => pair.length === 2 && !pair.some(Number.isNaN))) found.filters[name] = pairs;
    }
    if (what === "design" && Number.isInteger(row) && row >= 0 && row < size) found.chosen = row;
  }
  return found;
}

function keepInAddress() {
  const now = fragment();
  const before = location.hash.slice(1);
  if (now !== before && (now || before.includes("="))) history.replaceState(null, "", now ? `#${now}` : location.pathname + location.search);
}

// Filters are intervals of places by column; limits are values of objectives.
function update(change) {
  Object.assign(state, change);
  settle();
  followers.forEach((follow) => follow());
  keepInAddress();
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
function together(rows, keyOf) {
  const found = new Map();
  for (const row of rows) {
    const key = keyOf(row);
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
