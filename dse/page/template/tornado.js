// Of each assumption the interval in which the answer holds, as a bar.

const MOST_BARS = 40;

// A name that a narrow column breaks between its parts.
function breakable(name) {
  return (name.match(/[^._]+[._]?|[._]/g) ?? [name]).flatMap((part) => [part, element("wbr")]);
}

function drawTornado() {
  const { flips } = data;
  if (!flips) return;
  document.getElementById("tornado").hidden = false;
  const table = document.getElementById("tornado-table");
  const head = ["assumption", "value over today's: the answer holds inside the bar", "change needed", "answer beyond"];
  const moving = flips.assumptions.filter((entry) => entry.least_relative_change !== null)
    .sort((one, other) => nearest(one) - nearest(other));
  const shown = moving.slice(0, MOST_BARS);
  if (shown.length) table.append(element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))));
  const reach = Math.max(Math.log(1.25), ...shown.flatMap((entry) => ends(entry).filter(({ flip }) => flip).map(({ ratio }) => Math.abs(Math.log(ratio)))));
  table.append(element("tbody", {}, ...shown.map((entry) => tornadoLine(entry, reach * 1.1))));
  const still = flips.assumptions.length - shown.length;
  const unchecked = (flips.not_checked ?? []).length;
  document.getElementById("tornado-words").textContent = `${flips.assumptions.length === 1 ? "The one assumption" : `Each of ${flips.assumptions.length} assumptions`} was moved alone, by up to ${flips.range_factor} times either way; ${still ? `${still} more ${still === 1 ? "changes" : "change"} nothing or less` : "no other is behind"}.${unchecked ? ` There was no time for ${unchecked} ${unchecked === 1 ? "other, which is" : "others, which are"} named in the answer.` : ""}`;
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

function tornadoLine(entry, reach) {
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
    element("th", { scope: "row" }, ...breakable(entry.assumption), entry.evidence === "given" ? "" : ` (${entry.evidence})`),
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
