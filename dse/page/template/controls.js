// What is preferred and limited by hand, and what of that is not as in the study.

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
  document.getElementById("reset").addEventListener("click", () => update({ filters: {} }));
  document.getElementById("restore").addEventListener("click", () => {
    const { by, tolerance: share } = start;
    update({ by, tolerance: share, limits: {}, filters: {}, moved: {} });
    if (location.search) location.assign(location.pathname + location.hash); // a front that was drawn with other numbers
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
      const held = steps.map((_, at) => at).filter((at) => !(name in state.limits) || (most ? steps[at] <= state.limits[name] : steps[at] >= state.limits[name]));
      if (document.activeElement !== slider) slider.value = String(name in state.limits ? held[most ? held.length - 1 : 0] ?? (most ? 0 : steps.length - 1) : open);
      said.textContent = name in state.limits ? show(state.limits[name], facts) : "no limit";
      slider.setAttribute("aria-valuetext", said.textContent);
    });
    box.append(element("label", {}, element("span", {}, `${facts.words} ${most ? "at most" : "at least"}`), said, slider));
  }
}

function followControls() {
  document.getElementById("prefer").value = state.by;
  const tolerance = document.getElementById("tolerance");
  const alone = data.objectives.length === 1 && !data.merit;
  tolerance.disabled = state.by === KNEE || alone;
  if (document.activeElement !== tolerance) tolerance.value = String(Number((100 * state.tolerance).toPrecision(12)));
  document.getElementById("rule").textContent = ruleWords();
  const differing = differingWords();
  document.getElementById("strip").hidden = !differing.length;
  document.getElementById("differing").textContent = differing.join("; ");
}

// What is not as in the study, in words.
function differingWords() {
  const words = [];
  if (state.by !== start.by) words.push(`prefer ${bestWords()}`);
  if (state.tolerance !== start.tolerance) words.push(`within ${Number((100 * state.tolerance).toPrecision(6))} %`);
  for (const [name, limit] of Object.entries(state.limits)) words.push(`${columns[name].facts.words} ${columns[name].facts.sense === "maximise" ? "≥" : "≤"} ${show(limit, columns[name].facts)}`);
  for (const name of Object.keys(state.filters)) words.push(`only some of ${columns[name].facts.words} are shown`);
  for (const [path, value] of Object.entries({ ...given, ...state.moved })) words.push(`${path} ${value}`);
  return words;
}

function bestWords() {
  if (state.by === KNEE) return "the knee";
  return data.objectives.includes(state.by) ? wanted(state.by) : data.preference.words;
}

function ruleWords() {
  if (state.by === KNEE) return "The knee: the least sum of the objectives, each scaled to [0, 1] over the designs that meet the limits.";
  const others = data.objectives.filter((name) => name !== state.by).map(wanted);
  const then = others.join(", then ");
  if (!state.tolerance || !then) return "";
  return `Of the designs within ${Number((100 * state.tolerance).toPrecision(6))} % of the ${bestWords()}, the one with the ${then}.`;
}

function changeWords(value, before) {
  if (before === 0) return "";
  const share = (value - before) / Math.abs(before);
  if (Math.abs(share) < 1e-6) return "";
  if (share >= 9) return `${Number((1 + share).toPrecision(3))}x`;
  return `${Number((100 * Math.abs(share)).toPrecision(3))} % ${share > 0 ? "more" : "less"}`;
}
