// The roofs over the recommended design: the headroom to each limit.

function followRoofs() {
  const row = state.picks[0] ?? -1;
  const tables = row < 0 || data.sweep ? [] : data.limits.map((limited) => roofTable(limited, row)).filter(Boolean);
  document.getElementById("roofs").hidden = !tables.length;
  document.getElementById("roofs-box").replaceChildren(...tables, ...(row === startPicks[0] ? data.roofs.map((text) => element("p", {}, text)) : []));
}

// Return the limits of a design as bars, if it has more than one.
function roofTable({ words: about, unit, reached, limits }, row) {
  const known = limits.map(({ words, values }) => ({ words, value: values[row], times: values[row] / reached[row] }))
    .filter(({ value }) => typeof value === "number").sort((one, other) => one.value - other.value);
  if (known.length < 2) return null;
  const share = ({ times }) => Math.log(Math.max(times, 1));
  const most = Math.max(Math.log(1.25), ...known.map(share).filter(Number.isFinite));
  const rows = known.map((limit) => {
    const bar = element("i", {});
    bar.style.width = `${Math.max((100 * Math.min(share(limit), most)) / most, 0.8)}%`;
    return element("tr", {}, element("th", { scope: "row" }, limit.words), element("td", { class: "bar-cell" }, element("div", { class: "span" }, bar)), element("td", { class: "number" }, show(limit.value, unit)), element("td", { class: "number" }, headroom(limit.times)));
  });
  const head = ["limit", `above ${show(reached[row], unit)} reached (log)`, "allows", "headroom"].map((text, place) => element("th", { scope: "col", class: place > 1 ? "number" : "" }, text));
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `Limits of the ${about}` }, element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
}

function headroom(times) {
  if (times >= 10) return `${Number((times - 1).toPrecision(3))}x`;
  return `${Number((100 * (times - 1)).toPrecision(3))} %`;
}
