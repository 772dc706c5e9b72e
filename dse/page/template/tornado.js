// What matters of assumptions: how far each moves the objective that decides, and the interval in
// which the answer holds, as bars.

const MOST_BARS = 40;
const MOST_MOVED = 12;

function drawImportance() {
  const box = document.getElementById("importance");
  for (const { run, words, width, moved, still } of data.importance) {
    const [shown, rest] = [moved.slice(0, MOST_MOVED), moved.slice(MOST_MOVED)];
    const step = `${100 * width} %`;
    const less = [rest.length ? `${rest.length} more move it less` : "", still ? `${still} ${rest.length ? "more " : ""}move${still === 1 ? "s" : ""} nothing` : ""].filter(Boolean).join(", ");
    if (data.runs.length > 1) box.append(element("h3", {}, run));
    box.append(element("p", {}, `Change of the ${words} of the recommended design as one assumption alone is ${step} less (orange) or more (blue)${less ? `; ${less}` : ""}.`));
    if (!shown.length) continue;
    const most = Math.max(...shown.flatMap(({ change }) => change.filter(Number.isFinite).map(Math.abs)));
    const head = ["assumption", "change", `${step} less`, `${step} more`];
    const table = element("table", { class: "bars" }, element("thead", {}, element("tr", {}, ...head.map((text, at) => element("th", { scope: "col", class: at > 1 ? "number" : "" }, text)))),
      element("tbody", {}, ...shown.map((entry) => importanceLine(entry, most))));
    box.append(element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `Importance of assumptions ${run}` }, table));
  }
}

function importanceLine({ assumption, fitted, change, feasible }, most) {
  const bars = change.map((share, side) => {
    const end = most ? (50 * (share ?? 0)) / most : 0;
    const bar = element("i", { class: side ? "more" : "less" });
    bar.style.left = `${50 + Math.min(end, 0)}%`;
    bar.style.width = `${Math.max(Math.abs(end), 0.4)}%`;
    return bar;
  });
  const middle = element("b");
  middle.style.left = "50%";
  const text = (side) => element("td", { class: "number" }, feasible[side] ? shareWords(change[side]) : "infeasible");
  return element("tr", {}, element("th", { scope: "row" }, ...breakable(assumption), fitted ? " (fitted)" : ""), element("td", { class: "bar-cell" }, element("div", { class: "span" }, ...bars, middle)), text(0), text(1));
}

// A name that a narrow column breaks between its parts.
function breakable(name) {
  return (name.match(/[^._]+[._]?|[._]/g) ?? [name]).flatMap((part) => [part, element("wbr")]);
}

function shareWords(share) {
  if (share === null || Math.abs(share) < 1e-9) return "0 %";
  if (share >= 9) return `${Number((1 + share).toPrecision(3))}x`;
  return `${share > 0 ? "+" : "-"}${Number((100 * Math.abs(share)).toPrecision(3))} %`;
}

function drawTornado() {
  document.getElementById("tornado").hidden = !data.importance.length && !data.flips.length;
  drawImportance();
  if (!data.flips.length) return;
  const table = document.getElementById("tornado-table");
  const several = data.flips.length > 1;
  const head = ["assumption", "value over today's: the answer holds inside the bar", "change needed", "answer beyond"];
  const any = data.flips.some((flips) => flips.assumptions.some((entry) => entry.least_relative_change !== null));
  if (any) table.append(element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))));
  const body = element("tbody");
  const words = [];
  for (const flips of data.flips) {
    const moving = flips.assumptions.filter((entry) => entry.least_relative_change !== null)
      .sort((one, other) => nearest(one) - nearest(other));
    const shown = moving.slice(0, MOST_BARS);
    const reach = Math.max(Math.log(1.25), ...shown.flatMap((entry) => ends(entry).filter(({ flip }) => flip).map(({ ratio }) => Math.abs(Math.log(ratio)))));
    for (const entry of shown) body.append(tornadoLine(entry, reach * 1.1, several ? `${flips.run}: ` : ""));
    const still = flips.assumptions.length - shown.length;
    const unchecked = (flips.not_checked ?? []).length;
    words.push(`${several ? `${flips.run}: ` : ""}${flips.assumptions.length === 1 ? "The one assumption" : `Each of ${flips.assumptions.length} assumptions`} was moved alone, by up to ${flips.range_factor} times either way; ${still ? `${still} more ${still === 1 ? "changes" : "change"} nothing or less` : "no other is behind"}.${unchecked ? ` There was no time for ${unchecked} ${unchecked === 1 ? "other, which is" : "others, which are"} named in the answer.` : ""}`);
  }
  table.append(body);
  document.getElementById("tornado-words").textContent = words.join(" ");
}

function ends(entry) {
  return ["below", "above"].map((side) => {
    const facts = entry[side];
    const change = facts.relative_change;
    return { side, flip: change !== null, ratio: change === null ? 1 : Math.max(1 + change, 1e-6), differs: facts.differs };
  });
}

function nearest(entry) {
  return Math.min(...ends(entry).filter(({ flip }) => flip).map(({ ratio }) => Math.abs(Math.log(ratio))));
}

function tornadoLine(entry, reach, prefix) {
  const [below, above] = ends(entry);
  const at = (ratio) => 50 + (50 * Math.log(ratio)) / reach;
  const left = below.flip ? at(below.ratio) : 0;
  const right = above.flip ? at(above.ratio) : 100;
  const bar = element("i", { class: `${below.flip ? "flips-below" : ""} ${above.flip ? "flips-above" : ""}` });
  bar.style.left = `${left}%`;
  bar.style.width = `${Math.max(right - left, 0.6)}%`;
  const middle = element("b");
  middle.style.left = "50%";
  const flipping = [below, above].filter(({ flip }) => flip);
  const list = (text) => element("td", {}, ...flipping.map((end) => element("div", {}, text(end))));
  return element("tr", {},
    element("th", { scope: "row" }, prefix, ...breakable(entry.assumption), entry.fitted ? " (fitted)" : ""),
    element("td", { class: "bar-cell" }, element("div", { class: "span" }, bar, middle)),
    list(({ ratio }) => factorWords(ratio)),
    list(({ side, differs }) => `${side}: ${differs ?? "no feasible design"}`));
}

function factorWords(ratio) {
  if (ratio >= 2) return `${Number(ratio.toPrecision(4))}x`;
  if (ratio <= 0.1) return `1/${Number((1 / ratio).toPrecision(4))}`;
  const share = 100 * (ratio - 1);
  return `${share > 0 ? "+" : "-"}${Number(Math.abs(share).toPrecision(3))} %`;
}
