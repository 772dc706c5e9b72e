// The page with its program behind it: what moves is asked, and the answer is exact.

const facts = JSON.parse(document.getElementById("live-facts").textContent);
const at = (name) => document.getElementById(name);
const REACH = 10; // a slider goes from a tenth to ten times the value of the study
const PER_DECADE = 40;
const tab = String(Math.random());
// a page of words alone has no pictures that follow, and keeps what was moved itself
const whole = at("data").textContent !== "null";
const now = whole ? state : { moved: {} };
const setters = {};
let asked = 0;

async function ask(what, body) {
  const reply = await fetch(what, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...body, tab, version: facts.version }) });
  return reply.ok ? reply.json() : null;
}

// What is set: what the page was drawn with, and what was moved since.
const set = () => ({ ...facts.moved, ...now.moved });
const isMoved = () => Object.entries(now.moved).some(([path, value]) => value !== facts.moved[path]);
const shown = (slider, value) => `${Number((value / slider.factor).toPrecision(5))} ${slider.unit}`.trim();

function setSlider(path, value) {
  const changed = { ...now.moved };
  if (value === undefined || value === facts.moved[path]) delete changed[path];
  else changed[path] = value;
  if (value === undefined && path in facts.moved) changed[path] = shown(facts.sliders.find((one) => one.path === path), facts.sliders.find((one) => one.path === path).value);
  if (whole) update({ moved: changed });
  else {
    now.moved = changed;
    followLive();
  }
}

// Round values around that of the study, which is one of them.
function stepsOf({ value, factor, unit, whole: integer }) {
  const quarter = (one) => 2 ** Math.floor(Math.log2(one)) / 4; // of KiB, what is a whole number of bytes
  const round = (one) => {
    if (unit.endsWith("iB")) return Math.round(one / quarter(one)) * quarter(one);
    return integer ? Math.max(Math.round(one), 1) : Number((one / factor).toPrecision(2)) * factor;
  };
  const steps = Array.from({ length: 2 * PER_DECADE + 1 }, (_, step) => round(value * REACH ** (step / PER_DECADE - 1)));
  return [...new Set([...steps.filter((one) => Math.abs(one / value - 1) > 1e-9), value])].sort((one, other) => one - other);
}

function drawSlider(slider) {
  const steps = stepsOf(slider);
  const own = steps.indexOf(slider.value);
  const range = element("input", { type: "range", min: 0, max: steps.length - 1, step: 1, value: own, "aria-label": slider.words, "data-path": slider.path, list: `flips-${slider.path}` });
  const field = element("input", { type: "text", size: 14, "aria-label": `${slider.words}, as typed` });
  const flips = element("span", { class: "small" });
  const fault = element("span", { class: "small fault", role: "alert" });
  const nearest = (value) => steps.reduce((best, one, place) => (Math.abs(Math.log(one / value)) < Math.abs(Math.log(steps[best] / value)) ? place : best), 0);
  setters[slider.path] = (number) => {
    const text = set()[slider.path];
    if (document.activeElement !== field) field.value = text ?? shown(slider, slider.value);
    if (document.activeElement !== range && (number || !text)) range.value = nearest(number || slider.value);
    range.setAttribute("aria-valuetext", field.value);
  };
  range.addEventListener("input", () => {
    field.value = shown(slider, steps[range.value]);
    setSlider(slider.path, Number(range.value) === own ? undefined : field.value);
  });
  field.addEventListener("change", () => setSlider(slider.path, field.value.trim() === shown(slider, slider.value) ? undefined : field.value.trim()));
  const marks = element("datalist", { id: `flips-${slider.path}` });
  const button = element("button", { type: "button" }, "Where does the answer change?");
  button.addEventListener("click", async () => {
    button.hidden = true;
    flips.textContent = "looking where the answer changes";
    let reply;
    do reply = await ask("flips", { path: slider.path }); while (reply?.interrupted);
    const found = reply?.flips ?? [];
    flips.textContent = found.map(({ at: value, becomes }) => `${value < slider.value ? "below" : "above"} ${shown(slider, value)}: ${becomes}`).join("; ") || "the answer changes nowhere near";
    marks.append(...found.map(({ at: value }) => element("option", { value: nearest(value) })));
  });
  const ends = element("span", { class: "ends small" }, element("span", {}, shown(slider, steps[0])), element("span", {}, shown(slider, steps[steps.length - 1])));
  at(slider.first ? "sliders" : "more-sliders").append(element("div", { class: "slider", "data-of": slider.path }, element("label", {}, element("span", {}, slider.words), field, range), ends, marks, button, flips, fault));
}

// What a question says besides numbers: how designs are compared, and what is limited.
function question() {
  const moved = set();
  if (!whole) return { moved };
  const prefer = now.by === "own" ? null : now.by;
  return { moved, prefer, within: now.by === KNEE ? null : `${100 * now.tolerance} %`, limits: now.limits };
}

let before = "";
let pausing = 0;
function followLive() {
  const moving = isMoved();
  document.querySelectorAll(".follows, #more-answer, #tornado").forEach((part) => part.classList.toggle("outdated", moving));
  at("outdated").hidden = !moving;
  at("outdated-of").textContent = Object.entries(facts.moved).map((pair) => pair.join(" ")).join(", ") || "the study as it is";
  at("live-answer").hidden = whole && !moving;
  if (whole) at("card").hidden = moving;
  for (const slider of facts.sliders) setters[slider.path]();
  const after = JSON.stringify(question());
  if (after === before) return;
  before = after;
  clearTimeout(pausing);
  at("live-answer").classList.add("stale");
  at("searching").hidden = !moving;
  pausing = setTimeout(askAnswer, 200);
}

async function askAnswer() {
  const number = ++asked;
  const found = await ask("answer", { ...question(), number });
  if (number !== asked || !found) return;
  at("live-answer").classList.remove("stale");
  at("searching").hidden = true;
  at("changed").hidden = !found.changed;
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
    else faults.append(element("li", {}, `${fault.path ? `${fault.path}: ` : ""}${words}`));
  }
  faults.hidden = !faults.children.length;
  if (found.faults) return;
  for (const [path, number] of Object.entries(found.numbers ?? {})) setters[path]?.(number);
  const said = element("div", {});
  said.innerHTML = found.html; // escaped by the program
  if (whole && found.values) said.querySelectorAll("p:nth-child(-n+2)").forEach((line) => line.remove()); // design and numbers, which stand above
  const rows = whole ? Object.entries(found.values ?? {}).map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, columns[name].facts.words), element("td", { class: "number" }, element("b", {}, show(value, columns[name].facts))))) : [];
  at("live-answer").replaceChildren(...(found.pick ? [element("p", { class: "pick" }, element("b", {}, found.pick))] : []), ...(rows.length ? [element("table", {}, element("tbody", {}, ...rows))] : []), said, element("p", { class: "small" }, found.regret ?? ""));
  at("live-answer").dataset.pick = found.pick ?? "";
  at("live-set").textContent = (found.set ?? []).map((pair) => `--set "${pair}"`).join(" ");
  at("live-copy").hidden = !found.set?.length;
}

const query = () => new URLSearchParams(Object.entries(set()).map(([path, value]) => ["set", `${path}=${value}`])).toString();

// Draw the page with what is set; its link keeps all else.
function drawWith() {
  const asking = query();
  now.moved = {};
  location.assign(`?${asking}${whole && fragment() ? `#${fragment()}` : ""}`);
}

async function follow() {
  const found = await ask("status", {});
  if (!found) return;
  at("run-status").innerHTML = found.html; // escaped by the program
  at("run-pictures").replaceChildren(...livePictures(found));
  if (found.state === "running") setTimeout(follow, 2000);
  else if (facts.running) location.reload();
}

// How the front grew, and the front, of what is measured so far.
function livePictures({ state, axes }) {
  if (state !== "running") return [];
  const [x, y] = axes ?? [];
  return [...(y ? [plainPicture(`Front so far: ${y.label} over ${x.label}; the table above has its designs.`, x, y, false)] : [])];
}

if (facts.run) {
  at("run-status").hidden = false;
  follow();
}
if (facts.sliders.length) {
  at("moving").hidden = false;
  at("sliders").append(element("details", { id: "rest" }, element("summary", {}, "More numbers of the study"), element("div", { id: "more-sliders" })));
  facts.sliders.forEach(drawSlider);
  at("sliders").append(at("rest"));
  at("rest").hidden = facts.sliders.every(({ first }) => first);
  at("live-copy").addEventListener("click", () => navigator.clipboard.writeText(at("live-set").textContent));
  at("live-front").addEventListener("click", drawWith);
  at("live-report").addEventListener("click", () => location.assign(`report.html?${query()}`));
  at("live-study").addEventListener("click", () => location.assign(`study.yaml?${query()}`));
  at("cancel").addEventListener("click", () => {
    asked += 1;
    ask("cancel", { number: asked });
    at("searching").hidden = true;
  });
  offerMap();
  if (whole) followers.push(followLive);
  followLive();
}
at("again").addEventListener("click", async () => {
  await ask("again", {});
  location.assign(location.pathname);
});
