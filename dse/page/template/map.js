// The decision map of a served page: drawn as it is refined; a click sets the study there.

const MAP = { width: 720, height: 420, left: 92, bottom: 46, top: 12, right: 16 };
let mapNumber = 0;

// Values of one, two and five in each power of ten between two ends.
function roundValues(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const digit of [1, 2, 5]) {
      const value = Number(`${digit}e${power}`);
      if (low <= value && value <= high) found.push(value);
    }
  }
  return found;
}

function drawMap(found) {
  const { width, height, left, bottom, top, right } = MAP;
  const [across, up] = found.ends.map(([low, high]) => ({ low, span: Math.log(high / low) }));
  const x = (value) => left + (width - left - right) * Math.log(value / across.low) / across.span;
  const y = (value) => height - bottom - (height - top - bottom) * Math.log(value / up.low) / up.span;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "shape-rendering": "crispEdges", "aria-label": `Which answer is best over ${found.axes[0].words} and ${found.axes[1].words}; the list below has the shares` });
  for (const cell of found.cells) {
    const fill = found.colours[cell.answer];
    const nothing = cell.answer === facts.nothing;
    const area = { x: x(cell.from), y: y(cell.high), width: x(cell.to) - x(cell.from), height: y(cell.low) - y(cell.high), ...(fill ? { fill } : { class: nothing ? "nothing" : "others" }) };
    svg.append(drawn("rect", area, drawn("title", {}, cell.answer)));
  }
  svg.append(drawn("rect", { x: left, y: top, width: width - left - right, height: height - top - bottom, fill: "none", stroke: "currentColor" }));
  const label = (text, place) => svg.append(drawn("text", place, text));
  found.axes.forEach((axis, number) => {
    const [low, high] = found.ends[number].map((end) => end / axis.factor);
    for (const value of roundValues(low, high)) {
      if (number) label(String(value), { x: left - 6, y: y(value * axis.factor) + 4, "text-anchor": "end" });
      else label(String(value), { x: x(value * axis.factor), y: height - bottom + 16, "text-anchor": "middle" });
    }
    const words = axis.unit ? `${axis.words} [${axis.unit}]` : axis.words;
    if (number) label(words, { transform: `translate(14 ${(height - bottom + top) / 2}) rotate(-90)`, "text-anchor": "middle" });
    else label(words, { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" });
  });
  svg.append(drawn("circle", { cx: x(found.axes[0].value), cy: y(found.axes[1].value), r: 5, fill: "none", stroke: "currentColor", "stroke-width": 2 }));
  svg.addEventListener("click", (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const shares = [(point.x - left) / (width - left - right), (height - bottom - point.y) / (height - top - bottom)];
    if (shares.some((share) => share < 0 || share > 1)) return;
    found.axes.forEach((axis, number) => {
      const [low, high] = found.ends[number];
      const value = low * (high / low) ** shares[number];
      setSlider(axis.path, shown(axis, axis.whole ? Math.round(value) : Number(value.toPrecision(3))));
    });
  });
  const legend = Object.entries(found.shares).map(([answer, share]) => {
    const swatch = drawn("svg", { viewBox: "0 0 10 10" }, drawn("rect", { width: 10, height: 10, stroke: "currentColor", "stroke-width": 0.5, ...(found.colours[answer] ? { fill: found.colours[answer] } : { class: answer === facts.nothing ? "nothing" : "others" }) }));
    return element("span", {}, swatch, `${answer}: ${Number((100 * share).toPrecision(2))} %`);
  });
  at("map").replaceChildren(svg, element("p", { class: "legend" }, ...legend));
}

async function refineMap() {
  const number = ++mapNumber;
  const request = { ...question(), axes: [at("map-across").value, at("map-up").value] };
  let rows = -1;
  for (;;) {
    at("map-words").textContent = rows < 0 ? "computing the first rows" : `${rows} rows, more are computed`;
    const found = await ask("map", request);
    if (number !== mapNumber) return;
    if (!found || found.faults) {
      at("map-words").textContent = found ? found.faults.map(({ rule, remedy }) => [rule, remedy].filter(Boolean).join("; ")).join(". ") : "the program does not answer";
      return;
    }
    if (found.interrupted) {
      await new Promise((done) => setTimeout(done, 300)); // an answer comes first
      if (!found.cells) continue;
    }
    drawMap(found);
    if (!found.interrupted && (!found.more || found.rows <= rows)) {
      at("map-words").textContent = `${found.rows} rows, each exact along the first number${found.more ? "; there is no time for more" : ""}. A click sets both numbers.`;
      return;
    }
    rows = found.rows;
  }
}

function offerMap() {
  if (facts.sliders.length < 2) return;
  at("map-box").hidden = false;
  for (const [name, chosen] of [["map-across", 0], ["map-up", 1]]) {
    for (const { path, words } of facts.sliders) at(name).append(element("option", { value: path }, words));
    at(name).selectedIndex = chosen;
  }
  at("map-draw").addEventListener("click", refineMap);
}
