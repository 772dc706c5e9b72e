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

// Return a colour by kind of design; neighbours never share one.
function winnerColours(spans) {
  const colours = new Map([["", "transparent"]]);
  let next = 0;
  spans.forEach((span, at) => {
    if (colours.has(span.kind)) return;
    const before = at ? colours.get(spans[at - 1].kind) : null;
    if (FILLS[next % FILLS.length] === before) next += 1;
    colours.set(span.kind, FILLS[next % FILLS.length]);
    next += 1;
  });
  return colours;
}

function winnerLine(panel) {
  const spans = winnerSpans();
  const colours = winnerColours(spans);
  const picks = state.picks.filter((row) => row >= 0);
  const sorted = pointsOf(panel, picks).sort((one, other) => one[0] - other[0]);
  const areas = spans.filter((span) => span.high > span.low).map((span) => [
    { xAxis: span.low, itemStyle: { color: colours.get(span.kind), opacity: 0.28 } },
    { xAxis: span.high },
  ]);
  return {
    id: "winners", type: "line", data: sorted, showSymbol: false, z: 3, silent: true, lineStyle: { color: colour("ink"), width: 1.6 },
    markArea: { silent: true, data: areas },
  };
}

function followWinners() {
  if (!data.sweep) return;
  document.getElementById("winners").hidden = false;
  const table = document.getElementById("winners-table");
  const { facts, kinds: labels } = columns[data.sweep];
  const shown = (place) => (labels ? labels[place] : show(place * facts.axis.factor, facts));
  const ends = alongNumber ? [`from ${facts.words}`, "to"] : [facts.words];
  const head = [...ends, "recommended"];
  document.getElementById("shades").hidden = !alongNumber;
  table.replaceChildren(element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))));
  const body = element("tbody");
  const spans = winnerSpans();
  const colours = winnerColours(spans);
  for (const span of spans) {
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = colours.get(span.kind);
    swatch.style.opacity = 0.6;
    body.append(element("tr", {},
      ...(alongNumber ? [span.from, span.to] : [span.from]).map(
        (place) => element("td", { class: alongNumber ? "number" : "" }, shown(place))),
      element("td", {}, swatch, ` ${span.kind || "no design meets the limits"}`)));
  }
  table.append(body);
}
