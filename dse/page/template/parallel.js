// Designs as lines across axes: the swept field, choices, objectives, and what limits a design.

const FEWEST = 4; // of fewer designs the table says as much
let parallel = null;
let crossed = [];
let coloured = null;
let syncing = false; // while axes are set one by one, what they hold together is no selection

function parallelColumns() {
  const names = [data.sweep, ...data.choices, ...data.objectives, data.category].filter(Boolean);
  const usable = ({ values, facts, kinds: labels }) =>
    facts.number ? facts.varies && values.every(Number.isFinite) : labels.length > 1;
  return [...new Set(names)].filter((name) => usable(columns[name]));
}

function drawParallel() {
  crossed = parallelColumns();
  const box = document.getElementById("parallel");
  if (crossed.length < 2 || size < FEWEST) {
    document.getElementById("parallel-box").hidden = true;
    return;
  }
  box.style.height = narrow() ? `${crossed.length * 74 + 60}px` : "";
  parallel = chartIn(box, "Parallel coordinates across its choices and objectives; the table below has the same designs.");
  frames.push(() => parallel.setOption(parallelFrame()));
  parallel.on("axisareaselected", () => {
    if (syncing) return;
    const axes = parallel.getModel().queryComponents({ mainType: "parallelAxis" });
    let filters = state.filters;
    axes.forEach((axis, place) => {
      const name = crossed[place];
      filters = { ...filters };
      if (axis.activeIntervals.length) filters[name] = axis.activeIntervals.map((pair) => [...pair]);
      else delete filters[name];
    });
    if (JSON.stringify(filters) !== JSON.stringify(state.filters)) update({ filters });
  });
}

function parallelFrame() {
  const vertical = narrow();
  return {
    animation: false,
    textStyle: font(),
    parallel: vertical
      ? { layout: "vertical", left: 22, right: 26, top: 40, bottom: 30 }
      : { layout: "horizontal", left: 60, right: 90, top: 48, bottom: 24, axisExpandable: false },
    parallelAxis: crossed.map((name, dim) => {
      const axis = axisOf(name);
      return {
        ...axis, dim,
        ...(vertical ? { nameLocation: "middle", nameGap: -13 } : { nameLocation: "end", nameGap: 16, name: axis.name.replace(" [", "\n[") }),
        nameTextStyle: { ...font(), lineHeight: 15, textBorderColor: colour("paper"), textBorderWidth: 3, ...(vertical ? { fontWeight: 600 } : { verticalAlign: "bottom" }) },
        areaSelectStyle: { width: 18, color: "rgba(0,114,178,.3)", borderColor: "#0072b2" },
        axisLabel: { ...axis.axisLabel, color: colour("ink"), textBorderColor: colour("paper"), textBorderWidth: 3, ...(axis.type === "category" ? { formatter: broken, lineHeight: 13 } : {}) },
      };
    }),
    series: [],
  };
}

// A long name on several lines: none is cut.
function broken(text) {
  return text.replace(/(.{10,}?[ _])/g, "$1\n");
}

function followParallel() {
  if (!parallel) return;
  if (coloured !== state.colour) parallel.setOption(parallelFrame(), { notMerge: true });
  coloured = state.colour;
  const line = (row) => crossed.map((name) => columns[name].places[row]);
  const drawn = data.lines;
  const opacity = drawn.length > 500 ? 0.25 : drawn.length > 60 ? 0.45 : 0.8;
  const series = (id, rows, style, z) => ({ id, type: "parallel", data: rows.map(line), lineStyle: style, z, silent: true, inactiveOpacity: 0.06, activeOpacity: style.opacity, progressive: 500 });
  const picks = data.sweep ? [] : state.picks.filter((row) => row >= 0);
  parallel.setOption({
    series: [
      series("faded", drawn.filter((row) => !bright(row)), { color: colour("faded"), width: 1, opacity: 0.15 }, 1),
      ...hues.names.map((group) => series(`group ${group}`, drawn.filter((row) => hues.labels[row] === group && bright(row)), { color: look(group)[0], width: 1.4, opacity }, 2)),
      series("casing", picks, { color: colour("paper"), width: 9, opacity: 1 }, 3),
      series("recommended", picks, { color: colour("ink"), width: 4, opacity: 1 }, 3),
      series("chosen", state.chosen >= 0 ? [state.chosen] : [], { color: colour("blue"), width: 3, type: "dashed", opacity: 1 }, 4),
    ],
  });
  syncAxes();
}

// Show on each axis what is selected, wherever it was selected.
function syncAxes() {
  syncing = true;
  const axes = parallel.getModel().queryComponents({ mainType: "parallelAxis" });
  axes.forEach((axis, place) => {
    const intervals = state.filters[crossed[place]] ?? [];
    if (JSON.stringify(intervals) !== JSON.stringify(axis.activeIntervals)) {
      parallel.dispatchAction({ type: "axisAreaSelect", parallelAxisId: axis.id, intervals }, { flush: true });
    }
  });
  syncing = false;
}
