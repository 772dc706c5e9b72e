// The table of designs: it sorts, filters, and shows as many rows as are asked for.

const STEP = 50;
const order = { by: null, falling: false };
let most = STEP;

// Choices before objectives, unless the screen has no room for both.
const middle = narrow() ? [data.objectives, data.choices] : [data.choices, data.objectives];
const tableColumns = [...new Set([data.sweep, ...middle.flat(), data.category].filter((name) => name && (columns[name].facts.differs || data.objectives.includes(name))))];

function drawTable() {
  const table = document.getElementById("table");
  const head = element("tr");
  head.append(heading(NAME, "design"));
  for (const name of tableColumns) head.append(heading(name, columns[name].facts.words));
  table.append(element("caption", { class: "small" }), element("thead", {}, head), element("tbody"));
  document.getElementById("csv").addEventListener("click", saveCsv);
  document.getElementById("more").addEventListener("click", () => {
    most += STEP;
    followTable();
  });
}

function heading(name, words) {
  const sorts = element("button", { type: "button" }, words);
  const cell = element("th", { scope: "col" }, sorts);
  cell.dataset.column = name;
  sorts.addEventListener("click", () => {
    order.falling = order.by === cell.dataset.column && !order.falling;
    order.by = cell.dataset.column;
    followTable();
  });
  const { facts } = columns[name];
  if (facts.number) {
    cell.className = "number";
    const unit = /\[(.*)\]/.exec(facts.axis.label)?.[1] ?? "";
    for (const end of ["from", "to"]) {
      const field = element("input", { type: "number", step: "any", placeholder: `${end} ${unit}`.trim(), "aria-label": `${words} ${end}, ${unit}` });
      field.dataset.end = end;
      field.addEventListener("change", () => filterNumbers(name, cell));
      cell.append(field);
    }
  } else {
    const field = element("input", { type: "text", placeholder: "has", "aria-label": `${words} has` });
    field.addEventListener("input", () => filterTexts(name, field.value));
    cell.append(field);
  }
  return cell;
}

function filterNumbers(name, cell) {
  const [low, high] = [...cell.querySelectorAll("input")].map((field) => field.value);
  const interval = [low === "" ? -Infinity : Number(low), high === "" ? Infinity : Number(high)];
  update({ filters: withFilter(name, low === "" && high === "" ? null : [interval]) });
}

function filterTexts(name, text) {
  const places = columns[name].kinds.map((kind, place) => [kind, place])
    .filter(([kind]) => kind.toLowerCase().includes(text.toLowerCase()))
    .map(([, place]) => [place, place]);
  update({ filters: withFilter(name, text === "" ? null : places.length ? places : [[-1, -1]]) });
}

function sortedRows() {
  const rows = allRows.filter((row) => state.inside[row]);
  if (order.by === null) return rows;
  const { values } = columns[order.by];
  const compare = typeof values[0] === "string"
    ? (one, other) => values[one].localeCompare(values[other], "en", { numeric: true })
    : (one, other) => values[one] - values[other];
  return rows.sort((one, other) => (order.falling ? -1 : 1) * compare(one, other) || one - other);
}

function followTable() {
  const table = document.getElementById("table");
  const rows = sortedRows();
  for (const cell of table.querySelectorAll("th[data-column]")) {
    const sorted = order.by === cell.dataset.column;
    cell.setAttribute("aria-sort", sorted ? (order.falling ? "descending" : "ascending") : "none");
    fillFields(cell);
  }
  const picks = new Set(state.picks);
  const shown = rows.slice(0, most);
  table.tBodies[0].replaceChildren(...shown.map((row) => tableLine(row, picks.has(row))));
  const words = rows.length === size ? `${size > 1 ? "all " : ""}${size.toLocaleString("en")} design${size === 1 ? "" : "s"}` : `${rows.length.toLocaleString("en")} of ${size.toLocaleString("en")} designs selected`;
  const admitted = Object.keys(state.limits).length ? `, ${rows.filter((row) => state.admitted[row]).length.toLocaleString("en")} within the limits` : "";
  document.getElementById("count").textContent = words + admitted;
  table.caption.textContent = words + (shown.length < rows.length ? `, ${shown.length} of them in the table` : "");
  const more = document.getElementById("more");
  more.hidden = shown.length === rows.length;
  more.textContent = `Show ${Math.min(STEP, rows.length - shown.length)} more`;
}

// Let the fields of a heading show what is selected, unless somebody writes in one.
function fillFields(cell) {
  const name = cell.dataset.column;
  if (cell.contains(document.activeElement)) return;
  const intervals = state.filters[name];
  const { facts, kinds: labels } = columns[name];
  const fields = cell.querySelectorAll("input");
  if (facts.number) {
    const low = intervals ? Math.min(...intervals.map(([from]) => from)) : -Infinity;
    const high = intervals ? Math.max(...intervals.map(([, to]) => to)) : Infinity;
    fields[0].value = Number.isFinite(low) ? Number(low.toPrecision(6)) : "";
    fields[1].value = Number.isFinite(high) ? Number(high.toPrecision(6)) : "";
  } else {
    const one = intervals && intervals.length === 1 && labels[Math.round((intervals[0][0] + intervals[0][1]) / 2)];
    if (!intervals) fields[0].value = "";
    else if (one) fields[0].value = one;
  }
}

function tableLine(row, picked) {
  const name = element("button", { type: "button" }, nameOf(row));
  name.addEventListener("click", (event) => choose(row, event));
  const cells = [element("td", { class: "named" }, name)];
  for (const column of tableColumns) {
    const { facts, values } = columns[column];
    cells.push(element("td", { class: facts.number ? "number" : "" }, show(values[row], facts)));
  }
  const line = element("tr", { class: picked ? "recommended" : state.admitted[row] ? "" : "limited" }, ...cells);
  line.dataset.row = row;
  return line;
}

const details = Object.fromEntries(Object.entries(data.details).map(([name, { facts, values }]) => [name, { facts, values: unpacked(values) }]));
