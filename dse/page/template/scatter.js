// Scatters: one per pair of objectives, or each objective along a sweep, or a strip for one alone.

const GRID = 420;
const STRIP = { low: 0, high: 2, front: 1.5, cloud: 0.5 }; // of one objective alone
const LARGE = { large: true, largeThreshold: 1000 };
const hints = { minimise: "← lower is better", maximise: "higher is better →" };
const panels = [];

function panelPairs() {
  const shown = data.objectives.filter((name) => columns[name].facts.varies);
  const goals = shown.length ? shown : data.objectives.slice(0, 1);
  if (data.sweep) return goals.map((name) => [data.sweep, name]);
  if (goals.length === 1) return [[goals[0], null]];
  const few = goals.slice(0, 4);
  return few.flatMap((x, place) => few.slice(place + 1).map((y) => [x, y]));
}

// Return the cloud's points of a panel; those that fall on the same spot are drawn once.
function cloudPoints(x, y) {
  const across = cloudPlaces(x);
  const along = y ? cloudPlaces(y) : null;
  if (!across || (y && !along)) return new Float32Array(0);
  const spotX = spot(extent(columns[x]));
  const spotY = spot(y ? extent(columns[y]) : STRIP);
  const seen = new Uint8Array(GRID * GRID);
  const points = [];
  for (let at = 0; at < across.length; at++) {
    const high = y ? along[at] : STRIP.cloud + ((at * 0.6180339887) % 1) * 0.7 - 0.35;
    const column = spotX(across[at]);
    const line = spotY(high);
    if (!(column >= 0 && line >= 0 && column < GRID && line < GRID)) continue;
    const place = line * GRID + column;
    if (!seen[place]) {
      seen[place] = 1;
      points.push(across[at], high);
    }
  }
  return Float32Array.from(points);
}

function extent({ facts, kinds }) {
  return facts.axis ?? { low: -0.5, high: kinds.length - 0.5 };
}

function spot({ low, high, log }) {
  const scaled = log ? Math.log : (value) => value;
  const start = scaled(low);
  const step = GRID / (scaled(high) - start);
  return (value) => Math.floor((scaled(value) - start) * step);
}

const decoded = {};
function cloudPlaces(name) {
  if (!(name in decoded)) {
    const text = data.cloud.columns[name];
    decoded[name] = text === undefined ? null
      : new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
  }
  return decoded[name];
}

function drawScatters() {
  const box = document.getElementById("scatters");
  const pairs = panelPairs();
  box.classList.toggle("alone", pairs.length === 1);
  const places = pairs.map(() => element("div", { class: "scatter" }, element("canvas", { "aria-hidden": "true" }), element("div", { class: "chart" })));
  box.append(...places); // all of them first, for they share the width
  pairs.forEach(([x, y], place) => {
    const words = (name) => columns[name].facts.words;
    const about = y ? `${words(y)} over ${words(x)}` : words(x);
    const [canvas, inner] = places[place].children;
    const chart = chartIn(inner, `Scatter of ${about}; the table below has the same designs.`);
    const panel = { chart, canvas, x, y, cloud: cloudPoints(x, y) };
    panels.push(panel);
    places[place].append(saving(panel, about));
    frames.push(() => {
      chart.setOption(frame(panel));
      drawCloud(panel);
    });
    chart.on("brushEnd", ({ areas }) => brushed(panel, areas));
    chart.on("click", ({ data: point }) => {
      if (Array.isArray(point) && point.length > 2) update({ chosen: point[2] });
    });
  });
}

function frame({ x, y }) {
  const hint = (name) => (columns[name].facts.sense ? `\n${hints[columns[name].facts.sense]}` : "");
  const named = { nameLocation: "middle", nameTextStyle: { lineHeight: 15, color: colour("ink") } };
  const across = axisOf(x);
  const along = y ? axisOf(y) : {
    type: "value", min: STRIP.low, max: STRIP.high, interval: 0.5, splitLine: { show: false }, axisTick: { show: false },
    axisLabel: { color: colour("ink"), lineHeight: 14, formatter: (value) => (value === STRIP.front ? "front" : value === STRIP.cloud && data.cloud.size ? "feasible\ndesigns" : "") },
  };
  return {
    animation: false,
    textStyle: font(),
    grid: { left: 66, right: 22, top: 14, bottom: 58 },
    tooltip: { trigger: "item", confine: true, backgroundColor: colour("paper"), textStyle: { color: colour("ink") }, formatter: ({ data: point }) => (Array.isArray(point) && point.length > 2 ? tip(point[2]) : "") },
    xAxis: { ...across, ...named, axisLine: { onZero: false }, nameGap: 26, name: across.name + hint(x), splitNumber: 4, scale: true },
    yAxis: { ...along, ...named, axisLine: { onZero: false }, nameGap: 46, name: y ? along.name + hint(y) : "", splitNumber: 4, scale: true },
    brush: { xAxisIndex: 0, yAxisIndex: 0, seriesIndex: [], toolbox: [], outOfBrush: {}, brushStyle: { borderWidth: 1, color: "rgba(0,114,178,.12)", borderColor: "#0072b2" } },
    toolbox: { show: false },
    series: [],
  };
}

// The grey points never change: they have a canvas of their own, behind that of the chart.
function drawCloud({ chart, canvas, x, y, cloud }) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(chart.getWidth() * ratio);
  canvas.height = Math.round(chart.getHeight() * ratio);
  canvas.parentElement.style.setProperty("--shape", `${chart.getWidth()} / ${chart.getHeight()}`);
  const brush = canvas.getContext("2d");
  const across = pixels(chart, x, 0);
  const along = pixels(chart, y, 1);
  const wide = ratio * (cloud.length > 4000 ? 2 : cloud.length > 1000 ? 3 : 5);
  brush.fillStyle = colour("cloud");
  for (let at = 0; at < cloud.length; at += 2) {
    const [left, top] = [across(cloud[at]) * ratio, along(cloud[at + 1]) * ratio];
    if (wide < 4 * ratio) brush.fillRect(left - wide / 2, top - wide / 2, wide, wide);
    else {
      brush.beginPath();
      brush.arc(left, top, wide / 2, 0, 7);
      brush.fill();
    }
  }
}

// Return where a place of an axis is in the chart, in pixels.
function pixels(chart, name, side) {
  const { facts, kinds: labels } = name ? columns[name] : { facts: { axis: STRIP } };
  const at = (place) => chart.convertToPixel(side ? { yAxisIndex: 0 } : { xAxisIndex: 0 }, place);
  if (labels) return (place) => at(Math.round(place));
  const { low, high, log } = facts.axis;
  const scaled = log ? Math.log : (value) => value;
  const [start, end] = [at(low), at(high)];
  const step = (end - start) / (scaled(high) - scaled(low));
  return (place) => start + (scaled(place) - scaled(low)) * step;
}

function pointsOf({ x, y }, rows) {
  const across = columns[x].places;
  const along = y ? columns[y].places : null;
  return rows.map((row) => [across[row], along ? along[row] : STRIP.front, row]);
}

function followScatters() {
  const bright = (row) => state.inside[row] && state.admitted[row];
  const symbol = size > 400 || (data.sweep && size > 100) ? 6 : size > 100 ? 8 : 10;
  const picks = state.picks.filter((row) => row >= 0);
  for (const panel of panels) {
    const faded = pointsOf(panel, allRows.filter((row) => !bright(row)));
    const series = [
      { id: "faded", type: "scatter", data: faded, symbolSize: symbol - 2, ...LARGE, itemStyle: { color: colour("paper"), borderColor: colour("faded"), borderWidth: 1 }, z: 2 },
      ...groupNames.map((group) => {
        const [colour, shape] = look(group);
        const rows = allRows.filter((row) => groups[row] === group && bright(row));
        return { id: `group ${group}`, type: "scatter", data: pointsOf(panel, rows), symbol: shape, symbolSize: symbol, ...LARGE, itemStyle: { color: colour, borderColor: "#222", borderWidth: size > 400 ? 0 : 0.5 }, z: 4 };
      }),
      ringed(panel, picks),
      chosenMark(panel),
      ...(alongNumber ? [winnerLine(panel)] : []),
    ];
    panel.chart.setOption({ series });
    markBrush(panel);
  }
}

function ringed(panel, picks) {
  const drawn = [[panel.x, "xAxis"], [panel.y, "yAxis"]].filter(([name]) => name);
  const limits = drawn.filter(([name]) => name in state.limits)
    .map(([name, axis]) => ({ [axis]: state.limits[name] / columns[name].facts.axis.factor }));
  for (const { objective, value } of data.bounds) {
    const [name, axis] = drawn.find(([one]) => one === objective) ?? [];
    const place = name && value / columns[name].facts.axis.factor;
    const ends = name && columns[name].facts.axis;
    if (name && ends.low <= place && place <= ends.high) limits.push({ [axis]: place, lineStyle: { color: colour("warn"), type: "solid", width: 1.5 } });
  }
  return {
    id: "recommended", type: "scatter", data: alongNumber ? [] : pointsOf(panel, picks), symbol: "circle", symbolSize: 19,
    itemStyle: { color: "rgba(0,0,0,0)", borderColor: colour("ink"), borderWidth: 2 }, z: 6,
    markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: colour("warn"), type: "dashed", width: 1.5 }, data: limits },
  };
}

function chosenMark(panel) {
  const rows = state.chosen >= 0 ? [state.chosen] : [];
  return {
    id: "chosen", type: "scatter", data: pointsOf(panel, rows), symbol: "rect", symbolSize: 22, silent: true, z: 5,
    itemStyle: { color: "rgba(0,0,0,0)", borderColor: colour("blue"), borderWidth: 2, borderType: "dashed" },
  };
}

function brushed(panel, areas) {
  let filters = state.filters;
  const range = areas.length ? areas[areas.length - 1].coordRange : null;
  for (const [place, name] of [panel.x, panel.y].entries()) {
    if (!name) continue;
    const interval = range ? [...range[place]].sort((one, other) => one - other) : null;
    filters = { ...filters };
    if (interval) filters[name] = [interval];
    else delete filters[name];
  }
  update({ filters });
}

// Draw the rectangle that is selected, wherever it was selected.
function markBrush({ chart, x, y }) {
  const [across, along] = [x, y].map((name) => (name ? state.filters[name] : [[STRIP.low, STRIP.high]]));
  const one = across && along && across.length === 1 && along.length === 1;
  const areas = one ? [{ brushType: "rect", xAxisIndex: 0, yAxisIndex: 0, coordRange: [across[0], along[0]] }] : [];
  chart.dispatchAction({ type: "brush", areas });
}

function allowDragging(allowed) {
  for (const { chart } of panels) {
    chart.dispatchAction({ type: "takeGlobalCursor", key: "brush", brushOption: { brushType: allowed ? "rect" : false, brushMode: "single" } });
  }
}
