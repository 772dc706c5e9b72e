// The one scatter: any column over any other, or a strip for one alone.

const GRID = 420;
const STRIP = { low: 0, high: 2, front: 1.5, cloud: 0.5 }; // of one objective alone
const LARGE = { large: true, largeThreshold: 1000 };
const MOST_LABELS = 5;
const hints = { minimise: "← lower is better", maximise: "higher is better →" };
const panel = { chart: null, canvas: null, cloud: [], pair: "" };

// Return the cloud's points; those that fall on the same spot are drawn once. `kind` colours.
function cloudPoints(x, y) {
  const across = cloudPlaces(x);
  const along = y ? cloudPlaces(y) : null;
  if (!across || (y && !along)) return { points: [], count: 0 };
  const codes = state.colour && columns[state.colour].kinds ? cloudPlaces(state.colour) : null;
  const spotX = spot(extent(columns[x]));
  const spotY = spot(y ? extent(columns[y]) : STRIP);
  const seen = new Set();
  const points = [];
  let count = 0;
  for (let at = 0; at < across.length; at++) {
    const high = y ? along[at] : STRIP.cloud + ((at * 0.6180339887) % 1) * 0.7 - 0.35;
    const column = spotX(across[at]);
    const line = spotY(high);
    if (!(column >= 0 && line >= 0 && column < GRID && line < GRID)) continue;
    count += 1;
    const kind = codes ? codes[at] : 0;
    const place = (kind * GRID + line) * GRID + column;
    if (!seen.has(place)) {
      seen.add(place);
      points.push([across[at], high, codes ? columns[state.colour].kinds[kind] : null]);
    }
  }
  return { points, count };
}

function spot({ low, high, log }) {
  const scaled = log ? Math.log : (value) => value;
  const first = scaled(low);
  const step = GRID / (scaled(high) - first);
  return (value) => Math.floor((scaled(value) - first) * step);
}

const decoded = {};
function cloudPlaces(name) {
  if (!(name in decoded)) {
    const held = data.cloud.columns[name];
    const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    if (held === undefined) decoded[name] = null;
    else if (typeof held === "string") decoded[name] = new Float32Array(bytes(held).buffer);
    else decoded[name] = Float64Array.from(bytes(held.codes), (code) => held.places[code]);
  }
  return decoded[name];
}

function drawScatter() {
  const place = element("div", { class: "scatter" }, element("canvas", { "aria-hidden": "true" }), element("div", { class: "chart" }));
  document.getElementById("scatters").append(place);
  const [canvas, inner] = place.children;
  Object.assign(panel, { canvas, chart: chartIn(inner, "") });
  place.append(saving(panel));
  drawAxes();
  frames.push(() => { panel.pair = ""; });
  panel.chart.on("brushEnd", ({ areas }) => brushed(areas));
  panel.chart.on("click", ({ data: point, event }) => {
    if (Array.isArray(point) && point.length > 2) choose(point[2], event.event);
  });
  letLimitsBeDragged(panel.chart.getZr());
  panel.chart.getZr().on("dblclick", () => {
    const { [state.x]: _, [state.y]: __, ...filters } = state.filters;
    update({ filters });
  });
}

// What the axes and colours are, beside the picture.
function drawAxes() {
  const few = (name) => new Set(columns[name].values).size <= 60 || columns[name].kinds;
  const colours = [...new Set([data.colour, ...axisNames.filter((name) => !data.objectives.includes(name) && few(name))].filter(Boolean))];
  const choice = (side, words, names, none) => {
    const options = names.map((name) => element("option", { value: name }, columns[name].facts.words));
    const field = element("select", { "data-side": side }, ...options, ...(none ? [element("option", { value: "" }, "none")] : []));
    field.addEventListener("change", () => update({ [side]: field.value || null }));
    followers.push(() => { field.value = state[side] ?? ""; });
    document.getElementById("axes").append(element("label", {}, `${words} `, field));
    if (side !== "colour") logBox(side);
  };
  choice("x", "across", axisNames);
  choice("y", "up", axisNames, true);
  choice("colour", "colour", colours, !colours.length);
}

function logBox(side) {
  const box = element("input", { type: "checkbox" });
  const label = element("label", {}, box, " log");
  box.addEventListener("change", () => update({ logs: { ...state.logs, [state[side]]: box.checked } }));
  followers.push(() => {
    const column = state[side] && columns[state[side]];
    label.hidden = !column || Boolean(column.kinds) || column.values.some((value) => value <= 0);
    box.checked = Boolean(column) && extent(column).log;
  });
  document.getElementById("axes").append(label);
}

function frame({ x, y }) {
  const hint = (name) => (columns[name].facts.sense ? `\n${hints[columns[name].facts.sense]}` : "");
  const named = { nameLocation: "middle", nameTextStyle: { lineHeight: 15, color: colour("ink") } };
  const across = axisOf(x);
  const along = y ? axisOf(y) : {
    type: "value", min: STRIP.low, max: STRIP.high, interval: 0.5, splitLine: { show: false }, axisTick: { show: false },
    axisLabel: { color: colour("ink"), lineHeight: 14, formatter: (value) => (value === STRIP.front ? "front" : value === STRIP.cloud && data.cloud.size ? "feasible\ndesigns" : "") },
  };
  const wide = y && columns[y].kinds ? Math.min(7 * Math.max(...columns[y].kinds.map((kind) => kind.length)), 170) : 46;
  return {
    animation: false,
    textStyle: font(),
    grid: { left: wide + 20, right: 22, top: 14, bottom: 58 },
    tooltip: { trigger: "item", confine: true, backgroundColor: colour("paper"), textStyle: { color: colour("ink") }, formatter: ({ data: point }) => (Array.isArray(point) && point.length > 2 ? tip(point[2]) : "") },
    xAxis: { ...across, ...named, axisLine: { onZero: false }, nameGap: 26, name: across.name + hint(x), splitNumber: 4, scale: true },
    yAxis: { ...along, ...named, axisLine: { onZero: false }, nameGap: wide, name: y ? along.name + hint(y) : "", splitNumber: 4, scale: true },
    brush: { xAxisIndex: 0, yAxisIndex: 0, seriesIndex: [], toolbox: [], outOfBrush: {}, brushStyle: { borderWidth: 1, color: "rgba(0,114,178,.12)", borderColor: "#0072b2" } },
    toolbox: { show: false },
    series: [],
  };
}

// The grey points have a canvas of their own, behind that of the chart.
function drawCloud() {
  const { chart, canvas, cloud } = panel;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(chart.getWidth() * ratio);
  canvas.height = Math.round(chart.getHeight() * ratio);
  canvas.parentElement.style.setProperty("--shape", `${chart.getWidth()} / ${chart.getHeight()}`);
  const brush = canvas.getContext("2d");
  const across = pixels(chart, state.x, 0);
  const along = pixels(chart, state.y, 1);
  const wide = ratio * (cloud.length > 2000 ? 2 : cloud.length > 500 ? 3 : 5);
  const off = new Map(hues.off.map((group) => [group, look(group)[0]]));
  brush.lineWidth = ratio;
  brush.fillStyle = colour("cloud");
  for (const [x, y, kind] of cloud) {
    const [left, top] = [across(x) * ratio, along(y) * ratio];
    const hollow = off.get(kind);
    if (!hollow && wide < 4 * ratio) brush.fillRect(left - wide / 2, top - wide / 2, wide, wide);
    else {
      brush.beginPath();
      brush.arc(left, top, hollow ? 2.2 * ratio : wide / 2, 0, 7);
      if (hollow) brush.strokeStyle = hollow;
      brush[hollow ? "stroke" : "fill"]();
    }
  }
}

// Return where a place of an axis is in the chart, in pixels.
function pixels(chart, name, side) {
  const { low, high, log } = name ? extent(columns[name]) : STRIP;
  const at = (place) => chart.convertToPixel(side ? { yAxisIndex: 0 } : { xAxisIndex: 0 }, place);
  if (name && columns[name].kinds) return (place) => at(Math.round(place));
  const scaled = log ? Math.log : (value) => value;
  const [first, last] = [at(low), at(high)];
  const step = (last - first) / (scaled(high) - scaled(low));
  return (place) => first + (scaled(place) - scaled(low)) * step;
}

function pointsOf({ x, y }, rows) {
  const across = columns[x].places;
  const along = y ? columns[y].places : null;
  return rows.map((row) => [across[row], along ? along[row] : STRIP.front, row]);
}

const bright = (row) => state.inside[row] && state.admitted[row];

function followScatter() {
  const pair = JSON.stringify([state.x, state.y, state.colour, state.logs]);
  const words = (name) => columns[name].facts.words;
  panel.about = state.y ? `${words(state.y)} over ${words(state.x)}` : words(state.x);
  if (pair !== panel.pair) {
    panel.pair = pair;
    panel.chart.setOption(frame(state), { notMerge: true });
    panel.chart.getDom().setAttribute("aria-label", `Scatter of ${panel.about}; the table below has the same designs.`);
    const { points, count } = cloudPoints(state.x, state.y);
    Object.assign(panel, { cloud: points, count });
    drawCloud();
    drawLegend();
    allowDragging(document.getElementById("dragging").checked);
  }
  const symbol = size > 400 || (data.sweep && size > 100) ? 6 : size > 100 ? 8 : 10;
  const picks = state.picks.filter((row) => row >= 0);
  const faded = pointsOf(state, allRows.filter((row) => !bright(row)));
  const series = [
    { id: "faded", type: "scatter", data: faded, symbolSize: symbol - 2, ...LARGE, itemStyle: { color: colour("paper"), borderColor: colour("faded"), borderWidth: 1 }, z: 2 },
    ...hues.names.map((group) => {
      const [fill, shape] = look(group);
      const rows = allRows.filter((row) => hues.labels[row] === group && bright(row));
      return { id: `group ${group}`, type: "scatter", data: pointsOf(state, rows), symbol: shape, symbolSize: symbol, ...LARGE, itemStyle: { color: fill, borderColor: "#222", borderWidth: size > 400 ? 0 : 0.5 }, z: 4 };
    }),
    frontLine(),
    labelled("labels", alongNumber ? [] : bestRows(picks), false),
    labelled("recommended", alongNumber ? [] : picks, true),
    chosenMark(),
    ...(alongNumber ? [winnerLine(state)] : []),
  ];
  panel.chart.setOption({ series });
  markBrush(panel.chart, state);
  tellDrawn();
}

// The best designs in each objective, then those that the preference takes next.
function bestRows(picks) {
  if (data.sweep) return [];
  const rows = allRows.filter(bright);
  const found = new Set(losses.map((loss) => rows.reduce((best, row) => (best < 0 || loss[row] < loss[best] ? row : best), -1)).filter((row) => row >= 0));
  for (const row of picks) found.delete(row);
  while (found.size + picks.length < MOST_LABELS) {
    const next = recommendedOf(rows.filter((row) => !found.has(row) && !picks.includes(row)));
    if (next < 0) break;
    found.add(next);
  }
  return apart([...found].slice(0, MOST_LABELS - picks.length), picks);
}

// Only labels that leave room for those of the recommended designs.
function apart(rows, picks) {
  const spotOf = (row) => panel.chart.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, pointsOf(state, [row])[0].slice(0, 2));
  const taken = picks.map(spotOf);
  return rows.filter((row) => {
    const [left, top] = spotOf(row);
    const free = !taken.some(([x, y]) => Math.abs(left - x) < (narrow() ? 150 : 300) && Math.abs(top - y) < (narrow() ? 34 : 18));
    if (free) taken.push([left, top]);
    return free;
  });
}

function labelled(id, rows, ring) {
  const { low, high, log } = extent(columns[state.x]);
  const share = log ? (place) => Math.log(place / low) / Math.log(high / low) : (place) => (place - low) / (high - low);
  const room = panel.chart.getWidth() - 110;
  const points = pointsOf(state, rows).map((value) => {
    const at = share(value[0]);
    return { value, label: { position: at > 0.5 ? "left" : "right", width: Math.min(340, room * Math.max(at, 1 - at)) } };
  });
  return {
    id, type: "scatter", data: points, symbol: "circle", symbolSize: ring ? 19 : 1, silent: true, z: ring ? 6 : 5,
    itemStyle: { color: "rgba(0,0,0,0)", borderColor: colour("ink"), borderWidth: ring ? 2 : 0 },
    label: { show: true, formatter: ({ value }) => nameOf(value[2]), distance: ring ? 4 : 9, offset: [0, ring ? 0 : -9], fontSize: ring ? 13 : 11, lineHeight: ring ? 16 : 13, fontWeight: ring ? "bold" : "normal", color: colour("ink"), textBorderColor: colour("paper"), textBorderWidth: 3, overflow: "break" },
    ...(ring ? { markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: colour("warn"), type: "dashed", width: 1.5 }, data: limitLines() } } : {}),
  };
}

// The border of what can be had of two objectives, by the designs that are admitted.
function frontLine() {
  const [x, y] = [state.x, state.y].map((name) => data.objectives.indexOf(name));
  const line = { id: "front", type: "line", silent: true, showSymbol: false, step: "end", z: 3, data: [], lineStyle: { color: colour("soft"), width: 1 } };
  if (data.sweep || x < 0 || y < 0 || x === y) return line;
  let least = Infinity;
  const rows = allRows.filter(bright).sort((one, other) => losses[x][one] - losses[x][other] || losses[y][one] - losses[y][other])
    .filter((row) => losses[y][row] < least && ((least = losses[y][row]), true));
  const points = pointsOf(state, rows);
  if (columns[state.x].facts.sense === "maximise") points.reverse();
  return { ...line, step: columns[state.x].facts.sense === "maximise" ? "start" : "end", data: points.map(([across, along]) => [across, along]) };
}

function limitLines() {
  const drawn = [[state.x, "xAxis"], [state.y, "yAxis"]].filter(([name]) => name);
  const limits = drawn.filter(([name]) => name in state.limits)
    .map(([name, axis]) => ({ [axis]: state.limits[name] / columns[name].facts.axis.factor }));
  for (const { objective, value } of data.bounds) {
    const [name, axis] = drawn.find(([one]) => one === objective) ?? [];
    const place = name && value / columns[name].facts.axis.factor;
    const ends = name && extent(columns[name]);
    if (name && ends.low <= place && place <= ends.high) limits.push({ [axis]: place, lineStyle: { color: colour("warn"), type: "solid", width: 1.5 } });
  }
  return limits;
}

// Where the limit of an objective is on its axis: at the open end if there is none.
function limitPlace(name) {
  const { low, high } = extent(columns[name]);
  const { sense, axis } = columns[name].facts;
  const limit = limitOf(name);
  const open = sense === "maximise" ? low : high;
  return limit === undefined ? open : Math.min(Math.max(limit / axis.factor, low), high);
}

// The axis whose limit line is under the pointer, if any: its finder, its objective and the pointer's place on it.
function lineUnder({ offsetX, offsetY }) {
  const sides = [[{ xAxisIndex: 0 }, state.x, offsetX], [{ yAxisIndex: 0 }, state.y, offsetY]];
  return sides.find(([side, name, spot]) => data.objectives.includes(name) && Math.abs(panel.chart.convertToPixel(side, limitPlace(name)) - spot) < 5);
}

function dragLimit([side, name], { offsetX, offsetY }) {
  const { low, high } = extent(columns[name]);
  const { sense, axis } = columns[name].facts;
  const place = panel.chart.convertFromPixel(side, "xAxisIndex" in side ? offsetX : offsetY);
  const { [name]: _, ...limits } = state.limits;
  if (sense === "maximise" ? place > low : place < high) limits[name] = Number((place * axis.factor).toPrecision(3));
  update({ limits });
}

// A limit line is dragged; where there is no limit, it comes in from the open end of the axis.
function letLimitsBeDragged(canvas) {
  let held = null; // the line that moves
  let pressed = false;
  let over = false;
  canvas.on("mousemove", (event) => {
    if (held) dragLimit(held, event);
    if (pressed) return; // a rectangle is drawn, perhaps across a line
    const line = lineUnder(event);
    if (Boolean(line) !== over) allowDragging(!line && document.getElementById("dragging").checked);
    over = Boolean(line);
    if (line) canvas.setCursorStyle("xAxisIndex" in line[0] ? "ew-resize" : "ns-resize");
  });
  canvas.on("mousedown", (event) => { [pressed, held] = [true, lineUnder(event)]; });
  for (const end of ["mouseup", "globalout"]) canvas.on(end, () => { [pressed, held] = [false, null]; });
}

// Say how many designs are drawn, of how many.
function tellDrawn() {
  const within = (name) => {
    if (!name) return () => true;
    const { low, high } = extent(columns[name]);
    return (row) => low <= columns[name].places[row] && columns[name].places[row] <= high;
  };
  const [across, along] = [within(state.x), within(state.y)];
  const shown = allRows.filter((row) => across(row) && along(row)).length;
  const written = (value) => value.toLocaleString("en");
  const feasible = data.cloud.feasible ?? data.cloud.size;
  const grey = feasible ? `; ${written(panel.count)} of ${written(feasible)} feasible ones` : "";
  document.getElementById("drawn").textContent = `${written(shown)} of ${written(size)} designs of the front${grey} in this range.`;
}

function chosenMark() {
  const rows = state.chosen >= 0 ? [state.chosen] : [];
  return {
    id: "chosen", type: "scatter", data: pointsOf(state, rows), symbol: "rect", symbolSize: 22, silent: true, z: 5,
    itemStyle: { color: "rgba(0,0,0,0)", borderColor: colour("blue"), borderWidth: 2, borderType: "dashed" },
  };
}

function brushed(areas) {
  const filters = { ...state.filters };
  const range = areas.length ? areas[areas.length - 1].coordRange : null;
  for (const [place, name] of [state.x, state.y].entries()) {
    if (!name) continue;
    const interval = range ? [...range[place]].sort((one, other) => one - other) : null;
    if (interval) filters[name] = [interval];
    else delete filters[name];
  }
  update({ filters });
}

// Draw the rectangle that is selected, wherever it was selected.
function markBrush(chart, { x, y }) {
  const [across, along] = [x, y].map((name) => (name ? state.filters[name] : [[STRIP.low, STRIP.high]]));
  const one = across && along && across.length === 1 && along.length === 1;
  const areas = one ? [{ brushType: "rect", xAxisIndex: 0, yAxisIndex: 0, coordRange: [across[0], along[0]] }] : [];
  chart.dispatchAction({ type: "brush", areas });
}

function allowDragging(allowed) {
  panel.chart.dispatchAction({ type: "takeGlobalCursor", key: "brush", brushOption: { brushType: allowed ? "rect" : false, brushMode: "single" } });
}
