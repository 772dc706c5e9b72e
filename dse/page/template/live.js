// The page with its program behind it: what moves is asked, and the answer is exact.

const facts = JSON.parse(document.getElementById("live-facts").textContent);
const at = (name) => document.getElementById(name);
const REACH = Math.log(10); // a slider goes from a tenth to ten times the value of the study
const STEPS = 400;
const moved = { ...facts.moved };
const known = [];
const tab = String(Math.random());
let asked = 0;

function made(name, attributes, ...children) {
  const box = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) box.setAttribute(key, value);
  box.append(...children);
  return box;
}

async function ask(what, body) {
  const reply = await fetch(what, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...body, tab, version: facts.version }) });
  return reply.ok ? reply.json() : null;
}

const place = (slider, value) => Math.round((Math.log(value / slider.value) / REACH) * STEPS);
const shown = (slider, value) => `${Number((value / slider.factor).toPrecision(5))} ${slider.unit}`.trim();

function drawSlider(slider) {
  const range = made("input", { type: "range", min: -STEPS, max: STEPS, step: 1, value: 0, "aria-label": slider.words, "data-path": slider.path, list: `flips-${slider.path}` });
  const field = made("input", { type: "text", size: 14, "aria-label": `${slider.words}, as typed` });
  setters[slider.path] = (value) => { field.value = shown(slider, value); move(field.value); };
  const flips = made("span", { class: "small" });
  const fault = made("span", { class: "small fault", role: "alert" });
  const now = moved[slider.path];
  field.value = now === undefined ? shown(slider, slider.value) : now;
  const move = (value) => {
    if (value === undefined) delete moved[slider.path];
    else moved[slider.path] = value;
    soon();
  };
  range.addEventListener("input", () => {
    const value = slider.value * Math.exp((Number(range.value) / STEPS) * REACH);
    field.value = shown(slider, value);
    move(range.value === "0" ? undefined : field.value);
  });
  field.addEventListener("change", () => move(field.value.trim() === shown(slider, slider.value) ? undefined : field.value.trim()));
  const marks = made("datalist", { id: `flips-${slider.path}` });
  const look = async () => {
    flips.textContent = "looking where the answer changes";
    const found = (await ask("flips", { path: slider.path }))?.flips ?? [];
    flips.textContent = found.map(({ at: value, becomes }) => `${value < slider.value ? "below" : "above"} ${shown(slider, value)}: ${becomes}`).join("; ") || "the answer changes nowhere near";
    marks.append(...found.map(({ at: value }) => made("option", { value: place(slider, value) })));
  };
  const button = made("button", { type: "button" }, "Where does the answer change?");
  button.addEventListener("click", () => { button.hidden = true; look(); });
  at(slider.first ? "sliders" : "more-sliders").append(made("div", { class: "slider", "data-of": slider.path }, made("label", {}, made("span", {}, slider.words), field, range), marks, button, flips, fault));
}

const setters = {};
const setSlider = (path, value) => setters[path](value);

function state() {
  return { moved, prefer: at("live-prefer").value, within: at("live-within").value };
}

let waiting = 0;
function soon() {
  clearTimeout(waiting);
  const near = nearest();
  if (near) tell(near);
  at("live-answer").classList.add("stale");
  waiting = setTimeout(() => ask_answer(++asked), 200);
}

// The answer to what is nearest to what is set now, until the exact one is there.
function nearest() {
  const distance = (one) => facts.sliders.reduce((sum, { path }) => sum + (one.moved[path] === moved[path] ? 0 : 1), 0);
  return [...known].sort((one, other) => distance(one) - distance(other))[0];
}

async function ask_answer(number) {
  const now = state();
  const kept = { ...moved };
  const found = await ask("answer", { ...now, number });
  if (number !== asked || !found) return;
  at("live-answer").classList.remove("stale");
  at("changed").hidden = !found.changed;
  if (!found.faults && known.push({ moved: kept, ...found }) > 100) known.shift();
  tell(found);
}

function tell(found) {
  const faults = at("live-faults");
  for (const box of document.querySelectorAll(".slider .fault")) box.textContent = "";
  faults.replaceChildren();
  for (const fault of found.faults ?? []) {
    const words = [fault.written, fault.rule, fault.remedy].filter(Boolean).join("; ");
    const slider = [...document.querySelectorAll(".slider")].find((one) => one.dataset.of === fault.path);
    if (slider) slider.querySelector(".fault").textContent = words;
    else faults.append(made("li", {}, `${fault.path ? `${fault.path}: ` : ""}${words}`));
  }
  faults.hidden = !faults.children.length;
  if (found.faults) return;
  for (const slider of facts.sliders) {
    const range = document.querySelector(`input[data-path="${slider.path}"]`);
    const value = found.numbers?.[slider.path] ?? slider.value;
    if (document.activeElement !== range) range.value = place(slider, value);
  }
  at("live-answer").innerHTML = found.html; // escaped by the program
  at("live-answer").dataset.pick = found.pick ?? "";
  at("live-regret").textContent = found.regret ?? "";
  at("live-set").textContent = (found.set ?? []).map((pair) => `--set "${pair}"`).join(" ");
  at("live-copy").hidden = !found.set?.length;
}

const query = () => new URLSearchParams(Object.entries(moved).map(([path, value]) => ["set", `${path}=${value}`])).toString();

async function follow() {
  const found = await ask("status", {});
  if (!found) return;
  at("run-status").innerHTML = found.html; // escaped by the program
  at("run-pictures").replaceChildren(...livePictures(found));
  at("stopping").hidden = found.state !== "running";
  if (found.state === "running") setTimeout(follow, 2000);
  else if (facts.running) location.reload();
}

// How the front grew, and the front, of what is measured so far.
function livePictures({ state, growth, axes }) {
  if (state !== "running") return [];
  const [x, y] = axes ?? [];
  return [...(growth ? [growthPicture(growth)] : []), ...(y ? [plainPicture(`Front so far: ${y.label} over ${x.label}; the table above has its designs.`, x, y, false)] : [])];
}

at("stop").addEventListener("click", async () => {
  at("stop").disabled = true;
  const found = await ask("stop", {});
  at("stopped").textContent = found?.faults ? found.faults.map(({ rule }) => rule).join("; ") : "it stops after what it does now";
  if (found?.faults) at("stop").disabled = false;
});
if (facts.run) {
  if (!facts.sliders.length) at("live-title").textContent = "Progress";
  at("run-status").hidden = false;
  follow();
}
if (facts.sliders.length) {
  at("moving").hidden = false;
  at("sliders").append(made("details", { id: "rest" }, made("summary", {}, "More numbers of the study"), made("div", { id: "more-sliders" })));
  facts.sliders.forEach(drawSlider);
  at("sliders").append(at("rest"));
  at("rest").hidden = facts.sliders.every(({ first }) => first);
  for (const name of ["live-prefer", "live-within"]) at(name).addEventListener("change", soon);
  at("live-copy").addEventListener("click", () => navigator.clipboard.writeText(at("live-set").textContent));
  at("live-front").addEventListener("click", () => location.assign(`?${query()}`));
  at("live-report").addEventListener("click", () => location.assign(`report.html?${query()}`));
  at("live-study").addEventListener("click", () => location.assign(`study.yaml?${query()}`));
  offerMap();
  soon();
}
at("again").addEventListener("click", async () => {
  await ask("again", {});
  location.assign(location.pathname);
});
