// The decision map of a served page: drawn by the program as it is refined; a click sets the study there.

let mapNumber = 0;

function drawMap(found) {
  const shares = Object.entries(found.shares).map(([answer, share]) => `${answer}: ${Number((100 * share).toPrecision(2))} %`);
  const picture = element("img", { class: "picture", src: `data:image/svg+xml;base64,${found.svg}`, alt: `Decision map of ${found.axes.map(({ words }) => words).join(" and ")}. ${shares.join(", ")}.` });
  picture.addEventListener("click", ({ clientX, clientY }) => {
    const { left, bottom, width, height } = picture.getBoundingClientRect();
    const places = [(clientX - left) / width, (bottom - clientY) / height];
    const parts = found.frame.map(([low, high], number) => (places[number] - low) / (high - low));
    if (parts.some((part) => part < 0 || part > 1)) return;
    found.axes.forEach((axis, number) => {
      const [low, high] = found.ends[number];
      const value = low * (high / low) ** parts[number];
      setSlider(axis.path, shown(axis, axis.whole ? Math.round(value) : Number(value.toPrecision(3))));
    });
  });
  at("map").replaceChildren(picture);
}

async function refineMap() {
  const number = ++mapNumber;
  const request = { ...question(), axes: [at("map-across").value, at("map-up").value], hues: [...hues.names, ...hues.off] };
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
      if (!found.svg) continue;
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
