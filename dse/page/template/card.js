// The answer: the design that is recommended now, its numbers, what others cost, how sure it is.

let startPicks = [];
const pickOf = (row) => state.picks.find((pick) => pick >= 0 && (!data.sweep || columns[data.sweep].values[pick] === columns[data.sweep].values[row])) ?? -1;
const within = (row, name) => (columns[name].facts.sense === "maximise" ? columns[name].values[row] >= state.limits[name] : columns[name].values[row] <= state.limits[name]);

function followCard() {
  const picks = state.picks.filter((row) => row >= 0);
  const box = document.getElementById("card");
  if (data.sweep) box.replaceChildren(winnersTable(), proofLines());
  else if (!picks.length) box.replaceChildren(element("p", { id: "pick" }, "No design of the front meets the limits."), proofLines());
  else box.replaceChildren(...picks.map(cardOf), proofLines());
  const own = picks.length && picks.every((row, at) => row === startPicks[at]);
  const note = document.getElementById("more-of");
  note.hidden = Boolean(own || data.sweep);
  note.textContent = `This is of the study's own answer${startPicks[0] >= 0 ? `, ${described[startPicks[0]]}` : ""}.`;
  document.getElementById("more-answer").classList.toggle("stale", !note.hidden);
  document.getElementById("tornado").classList.toggle("stale", !note.hidden);
}

function cardOf(row) {
  const place = placeOf(row);
  const name = element("p", { class: "pick" }, element("b", {}, described[row]));
  name.dataset.row = row;
  return element("div", { id: "pick" },
    ...(place ? [element("p", { class: "place" }, place)] : []),
    name,
    element("p", { class: "reason" }, reasonOf(row)),
    element("table", {}, element("tbody", {}, ...data.objectives.map((goal) => numberLine(row, goal)))),
    element("p", { class: "small" }, leftOut(row)),
    ...(row === startPicks[0] ? data.fragile.map((words) => element("p", {}, words)) : []),
    element("ul", {}, ...instead(row).map((words) => element("li", {}, words))));
}

// Why this design: the rule that takes it, and its bottleneck.
function reasonOf(row) {
  const words = bestWords();
  const limit = data.category ? `; ${columns[data.category].facts.words}: ${columns[data.category].values[row]}` : "";
  return `${words[0].toUpperCase()}${words.slice(1)}${limit}.`;
}

// Where a design is: its device or platform, unless that is what all have.
function placeOf(row) {
  const name = data.colour;
  return name && data.choices.includes(name) && !columns[name].facts.number ? `${columns[name].facts.words}: ${columns[name].values[row]}` : "";
}

function numberLine(row, goal) {
  const { facts, values } = columns[goal];
  const value = values[row];
  const spread = data.spreads[goal]?.map((end) => end[row]);
  const range = spread && spread[1] - spread[0] > 1e-3 * Math.abs(value) ? `${show(spread[0], facts)} to ${show(spread[1], facts)}` : "";
  const first = startPicks[0] ?? -1;
  const change = first >= 0 && first !== row ? changeWords(value, values[first]) : "";
  const cells = [element("th", { scope: "row" }, facts.words), element("td", { class: "number" }, element("b", {}, show(value, facts))), element("td", { class: "small" }, ...[range, change && `${change} than the study's`].filter(Boolean).map((words) => element("div", {}, words)))];
  const limit = limitOf(goal);
  if (limit !== undefined) {
    const bar = element("i");
    const share = facts.sense === "maximise" ? limit / value : value / limit;
    bar.style.width = `${Math.max(Math.min(100 * share, 100), 1)}%`;
    cells[2].append(element("div", { class: "span", title: `${Number((100 * share).toPrecision(3))} % of the limit` }, bar), element("div", {}, `${facts.sense === "maximise" ? "at least" : "of"} ${show(limit, facts)}`));
  }
  return element("tr", {}, ...cells);
}

// The tightest limit of an objective, by the study or by hand.
function limitOf(goal) {
  const most = columns[goal].facts.sense !== "maximise";
  const found = data.bounds.filter(({ objective, upper }) => objective === goal && upper === most).map(({ value }) => value);
  if (goal in state.limits) found.push(state.limits[goal]);
  return found.length ? Math[most ? "min" : "max"](...found) : undefined;
}

// What a sum leaves out is known of the study's own answer.
function leftOut(row) {
  const ranged = Object.keys(data.spreads).length ? "Ranges as the cores vary. " : "";
  return ranged + (row === startPicks[0] ? data.uncounted : "");
}

// The prices of the nearest two with another choice: another device, or core, or of all the others.
function instead(row) {
  const column = data.colour && data.choices.includes(data.colour) ? columns[data.colour] : null;
  const kind = (one) => (column ? show(column.values[one], column.facts) : designs[one]);
  const left = allRows.filter((one) => state.admitted[one] && kind(one) !== kind(row));
  const best = together(left, kind).map(recommendedOf);
  const found = [];
  while (found.length < 2 && best.length) {
    const next = recommendedOf([...best].sort((one, other) => one - other));
    found.push(next);
    best.splice(best.indexOf(next), 1);
  }
  return found.map((one) => {
    const changes = data.objectives.map((goal) => [changeWords(columns[goal].values[one], columns[goal].values[row]), columns[goal].facts.words]).filter(([words]) => words);
    return `${column ? `${kind(one)}, ` : ""}${nameOf(one)}: ${changes.map((pair) => pair.join(" ")).join(", ") || "as good"}`;
  });
}

function proofLines() {
  const lines = state.by === start.by || data.sweep ? data.proof : [`With the ${bestWords()}. ${data.proof[0]}`, data.proof[1]];
  return element("div", { class: "small" }, ...lines.map((line) => element("p", {}, line)));
}
