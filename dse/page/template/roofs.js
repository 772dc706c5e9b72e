// The roofs over the recommended design: the headroom to each limit, and where they bend.

const DASHES = ["solid", [8, 3], [2, 3], [10, 3, 2, 3], [4, 2]];

function drawRoofs() {
  if (!data.roofs.length) return;
  document.getElementById("roofs").hidden = false;
  const box = document.getElementById("roofs-box");
  for (const roofs of data.roofs) {
    const words = element("div", {}, roofTable(roofs), element("p", {}, roofs.text));
    const chart = roofs.across ? element("div", { class: "roof" }) : null;
    box.append(element("div", { class: "roofs" }, words, ...(chart ? [element("div", {}, roofLegend(roofs), chart)] : [])));
    if (chart) drawRoofline(chart, roofs);
  }
}

const roofColour = (place) => FILLS[place % FILLS.length];

function roofTable({ limits, reached, unit, words }) {
  const share = ({ times }) => Math.log(Math.max(times ?? 1, 1));
  const most = Math.max(Math.log(1.25), ...limits.map(share).filter(Number.isFinite));
  const rows = limits.map((limit, place) => {
    const bar = element("i", {});
    bar.style.width = `${Math.max((100 * Math.min(share(limit), most)) / most, 0.8)}%`;
    bar.style.background = roofColour(place);
    return element("tr", {}, element("th", { scope: "row" }, limit.words), element("td", { class: "bar-cell" }, element("div", { class: "span" }, bar)), element("td", { class: "number" }, show(limit.value, unit)), element("td", { class: "number" }, limit.headroom));
  });
  const head = ["limit", `above ${show(reached, unit)} reached (log)`, "allows", "headroom"].map((text, place) => element("th", { scope: "col", class: place > 1 ? "number" : "" }, text));
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `Limits of the ${words}` }, element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
}

function roofLegend({ limits, lift, reached, unit }) {
  const stroke = (fill, dash) => {
    const drawn = marker("none", "path://M0 5 H20");
    drawn.setAttribute("viewBox", "0 0 20 10");
    Object.entries({ stroke: fill, "stroke-width": 3, "stroke-dasharray": Array.isArray(dash) ? dash.join() : "" }).forEach((pair) => drawn.firstChild.setAttribute(...pair));
    return drawn;
  };
  const entries = limits.map(({ words }, place) => [stroke(roofColour(place), DASHES[place % DASHES.length]), words]);
  entries.push([stroke(colour("soft")), "can be reached"], [marker(colour("ink"), "circle", true), `reached, ${show(reached, unit)}`]);
  if (lift) entries.push([stroke(colour("ink"), [1, 2]), "with the design that lifts it"]);
  return element("div", { class: "legend", "aria-hidden": "true" }, ...entries.map((parts) => element("span", {}, ...parts)));
}

// The limits over granularity or intensity: none is exceeded, so that the lowest is what can be reached.
function drawRoofline(box, { limits, heights, places, at, across, along, reached, lift, words }) {
  const chart = chartIn(box, `What each limit allows of the ${words}, over the ${across.words}; the table has the limits of the design.`);
  const points = (height) => places.map((value, place) => [value / across.factor, height[place] === null ? null : height[place] / along.factor]);
  const lowest = places.map((_, place) => Math.min(...limits.map(({ label }) => heights[label][place] ?? Infinity)));
  const ticks = places.filter((value) => Number.isInteger(Math.log2(value / at) / 4)).map((value) => value / across.factor);
  const written = (value) => show(value * across.factor, across.unit);
  const line = (id, values, style, z) => ({ id, type: "line", data: points(values), showSymbol: false, silent: true, z, lineStyle: style });
  const named = (axis, gap, label, more) => ({
    type: "log", min: axis.low, max: axis.high, name: label, nameLocation: "middle", nameGap: gap, nameTextStyle: { color: colour("ink") }, axisLine: { onZero: false },
    axisLabel: { hideOverlap: true, showMinLabel: false, showMaxLabel: false, color: colour("ink"), ...more }, axisTick: more, splitLine: { show: !more.customValues, lineStyle: { color: colour("line") } },
  });
  frames.push(() => chart.setOption({
    animation: false, textStyle: font(), grid: { left: 66, right: 28, top: 8, bottom: 46 },
    xAxis: named(across, 26, across.words, { customValues: ticks, formatter: written }), yAxis: named(along, 46, along.label, { formatter: tickOf(along) }),
    series: [
      ...limits.map(({ label }, place) => line(label, heights[label], { color: roofColour(place), width: 2, type: DASHES[place % DASHES.length] }, 2)),
      line("lowest", lowest, { color: colour("ink"), width: 3, opacity: 0.55 }, 3),
      ...(lift ? [line("lift", lift.height, { color: colour("ink"), width: 1.2, type: "dotted" }, 3)] : []),
      { id: "own", type: "scatter", data: [[at / across.factor, reached / along.factor]], symbol: "circle", symbolSize: 15, silent: true, z: 5, itemStyle: { color: "rgba(0,0,0,0)", borderColor: colour("ink"), borderWidth: 2 } },
    ],
  }));
}
