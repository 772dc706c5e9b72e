// What is preferred and limited by hand, and the design that is recommended then.

function drawControls() {
  const prefer = document.getElementById("prefer");
  const option = (value, words) => prefer.append(element("option", { value }, words));
  for (const name of data.objectives) option(name, wanted(name));
  if (data.objectives.length > 1) option(KNEE, "the knee");
  if (data.merit) option(data.preference.by, data.preference.words);
  prefer.addEventListener("change", () => update({ by: prefer.value }));
  const tolerance = document.getElementById("tolerance");
  tolerance.addEventListener("change", () => {
    const share = Math.min(Math.max(Number(tolerance.value) || 0, 0), 100) / 100;
    update({ tolerance: share });
  });
  drawLimits();
  const dragging = document.getElementById("dragging");
  dragging.checked = !window.matchMedia("(pointer: coarse)").matches;
  dragging.addEventListener("change", () => allowDragging(dragging.checked));
  document.getElementById("reset").addEventListener("click", () => {
    update({ filters: {}, limits: {}, chosen: -1, ...atStart });
  });
}

// A limit moves over the values that designs of the front have, so that each step decides.
function drawLimits() {
  const box = document.getElementById("limits");
  for (const name of data.objectives) {
    const { facts, values } = columns[name];
    const steps = [...new Set(values)].sort((one, other) => one - other);
    if (steps.length < 2) continue;
    const most = facts.sense !== "maximise";
    const slider = element("input", { type: "range", min: "0", max: String(steps.length - 1), step: "1", "aria-label": `${facts.words} ${most ? "at most" : "at least"}` });
    const said = element("output");
    const open = most ? steps.length - 1 : 0;
    slider.value = String(open);
    slider.dataset.limit = name;
    slider.addEventListener("input", () => {
      const limits = { ...state.limits };
      if (Number(slider.value) === open) delete limits[name];
      else limits[name] = steps[Number(slider.value)];
      update({ limits });
    });
    followers.push(() => {
      if (!(name in state.limits)) slider.value = String(open);
      said.textContent = name in state.limits ? show(state.limits[name], facts) : "no limit";
      slider.setAttribute("aria-valuetext", said.textContent);
    });
    box.append(element("label", {}, element("span", {}, `${facts.words} ${most ? "at most" : "at least"}`), said, slider));
  }
  if (!box.children.length) box.append("No objective differs between designs of the front.");
}

function followControls() {
  document.getElementById("prefer").value = state.by;
  const tolerance = document.getElementById("tolerance");
  const alone = data.objectives.length === 1 && !data.merit;
  tolerance.disabled = state.by === KNEE || alone;
  if (document.activeElement !== tolerance) tolerance.value = String(Number((100 * state.tolerance).toPrecision(12)));
  document.getElementById("rule").textContent = ruleWords();
  const picks = state.picks.filter((row) => row >= 0);
  const box = document.getElementById("pick");
  if (!picks.length) box.replaceChildren("No design of the front meets the limits.");
  else if (data.sweep) box.replaceChildren("One design for each value of the sweep: see the table below the pictures.");
  else box.replaceChildren(...picks.map(pickWords));
}

function ruleWords() {
  if (state.by === KNEE) return "The knee: the least sum of the objectives, each scaled to [0, 1] over the designs that meet the limits. Ties: the first objective decides, then the next.";
  const best = data.objectives.includes(state.by) ? wanted(state.by) : data.preference.words;
  const others = data.objectives.filter((name) => name !== state.by).map(wanted);
  const then = others.join(", then ");
  if (!state.tolerance) return `The design with the ${best}; of equals ${then ? `the one with the ${then}` : "the first one"}.`;
  return `Of the designs within ${100 * state.tolerance} % of the ${best}, the one with the ${then}.`;
}

function pickWords(row) {
  const box = element("div", {}, element("b", { class: "pick" }, described[row]));
  box.firstChild.dataset.row = row;
  const first = startPicks[state.picks.indexOf(row)];
  const rows = data.objectives.map((name) => {
    const { facts, values } = columns[name];
    return element("tr", {}, element("td", {}, facts.words), element("td", { class: "number" }, show(values[row], facts)), element("td", {}, changeWords(values[row], values[first])));
  });
  box.append(element("table", {}, ...rows));
  if (first === row) box.append(element("p", { class: "small" }, "This is the answer above."));
  else box.append(element("p", { class: "small" }, `Compared with ${described[first]}, the answer above.`));
  return box;
}

function changeWords(value, before) {
  if (value === before || before === 0) return "";
  const share = (value - before) / Math.abs(before);
  if (share >= 9) return `${Number((1 + share).toPrecision(3))}x`;
  return `${Number((100 * Math.abs(share)).toPrecision(3))} % ${share > 0 ? "more" : "less"}`;
}

let startPicks = [];
