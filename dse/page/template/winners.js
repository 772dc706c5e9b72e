// Along a sweep: who is recommended where, as shades behind the scatters and as a table.

// Return the intervals in which the same kind of design is recommended; choices singly.
function winnerSpans() {
  const column = columns[data.sweep];
  const won = new Map(state.picks.filter((row) => row >= 0).map((row) => [column.places[row], row]));
  const swept = [...new Set(column.places)];
  const places = column.facts.number ? swept.sort((one, other) => one - other) : swept;
  const halfway = (one, other) => (column.facts.axis?.log ? Math.sqrt(one * other) : (one + other) / 2);
  const spans = [];
  places.forEach((place, at) => {
    const row = won.get(place) ?? -1;
    const kind = row < 0 ? "" : kinds[row];
    const last = spans[spans.length - 1];
    const low = at ? halfway(places[at - 1], place) : column.facts.number ? place : place - 0.5;
    const high = at + 1 < places.length ? halfway(place, places[at + 1]) : column.facts.number ? place : place + 0.5;
    if (alongNumber && last && last.kind === kind) Object.assign(last, { high, to: place });
    else spans.push({ kind, low, high, from: place, to: place, row });
  });
  return spans;
}

// Return the hue and the strength of each shade; neighbours differ in one of both.
function winnerShades(spans) {
  let strong = false;
  return spans.map(({ row }, at) => {
    const fill = row < 0 ? "transparent" : look(hues.labels[row])[0];
    const before = at && spans[at - 1].row >= 0 ? look(hues.labels[spans[at - 1].row])[0] : "";
    strong = fill === before ? !strong : false;
    return { color: fill, opacity: strong ? 0.45 : 0.2 };
  });
}

function winnerLine(axes) {
  const spans = winnerSpans();
  const shades = winnerShades(spans);
  const picks = state.picks.filter((row) => row >= 0);
  const sorted = pointsOf(axes, picks).sort((one, other) => one[0] - other[0]);
  const areas = spans.flatMap((span, at) => (span.high > span.low ? [[{ xAxis: span.low, itemStyle: shades[at] }, { xAxis: span.high }]] : []));
  return {
    id: "winners", type: "line", data: sorted, showSymbol: false, z: 3, silent: true, lineStyle: { color: colour("ink"), width: 1.6 },
    markArea: { silent: true, data: state.x === data.sweep ? areas : [] },
  };
}

function winnersTable() {
  const { facts, kinds: labels } = columns[data.sweep];
  const shown = (place) => (labels ? labels[place] : show(place * facts.axis.factor, facts));
  const ends = alongNumber ? [`from ${facts.words}`, "to"] : [facts.words];
  const head = element("tr", {}, ...[...ends, "recommended"].map((text) => element("th", { scope: "col" }, text)));
  const spans = winnerSpans();
  const shades = winnerShades(spans);
  const lines = spans.map((span, at) => {
    const swatch = element("span", { class: "swatch" });
    Object.assign(swatch.style, { background: shades[at].color, opacity: shades[at].opacity });
    const places = (alongNumber ? [span.from, span.to] : [span.from]).map((place) => element("td", { class: alongNumber ? "number" : "" }, shown(place)));
    return element("tr", {}, ...places, element("td", {}, swatch, ` ${span.kind || "no design meets the limits"}`));
  });
  return element("div", { class: "wide short", tabindex: "0", role: "region", "aria-label": "Recommended along the sweep" }, element("table", { id: "winners-table" }, element("thead", {}, head), element("tbody", {}, ...lines)));
}
