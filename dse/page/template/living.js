// The page without its program: answers that were computed for it, and no others.

const facts = JSON.parse(document.getElementById("living-facts").textContent);
const at = (name) => document.getElementById(name);
const answers = new Map(facts.answers.map((answer) => [answer.point.join(), answer]));
// What each number is set to: the place of its value, or a text that is none of them.
const places = {};
const typed = {};
const ownPlace = (slider) => slider.values.indexOf(slider.value);

function made(name, attributes, ...children) {
  const box = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) box.setAttribute(key, value);
  box.append(...children);
  return box;
}

// What a text means in SI, with its unit as the program takes it; NaN of nothing.
function meant(slider, text) {
  const [, number, unit] = text.trim().match(/^([\d.]+(?:e[+-]?\d+)?)\s*(.*)$/i) ?? [];
  return Number(number) * (slider.spellings[unit] ?? NaN);
}

// Move to a value that the page has, or near what was typed.
function set(slider, text) {
  const value = slider.texts.includes(text) ? slider.values[slider.texts.indexOf(text)] : meant(slider, text);
  const far = (other) => Math.abs(Math.log(other / value));
  if (value > 0) places[slider.path] = slider.values.reduce((best, other, place) => (far(other) < far(slider.values[best]) ? place : best), 0);
  typed[slider.path] = value > 0 && far(slider.values[places[slider.path]]) < 1e-9 ? undefined : text;
}

function drawSlider(slider) {
  const { path, words, values, texts, flips } = slider;
  const range = made("input", { type: "range", min: 0, max: values.length - 1, step: 1, "aria-label": words, "data-path": path, list: `marks-${path}` });
  const field = made("input", { type: "text", size: 14, "aria-label": `${words}, as typed` });
  range.addEventListener("input", () => { set(slider, texts[Number(range.value)]); tell(); });
  field.addEventListener("change", () => { set(slider, field.value); tell(); });
  const said = flips.map(({ at: value, becomes }) => `${value < slider.value ? "below" : "above"} ${texts[values.indexOf(value)] ?? "this range"}: ${becomes}`);
  const marks = made("datalist", { id: `marks-${path}` }, ...flips.map(({ at: value }) => values.indexOf(value)).filter((place) => place >= 0).map((value) => made("option", { value })));
  at("sliders").append(made("div", { class: "slider" }, made("label", {}, made("span", {}, words), field, range), marks, made("span", { class: "small" }, said.length ? `The answer changes ${said.join("; ")}` : "The answer changes nowhere near")));
  shown.push(() => {
    range.value = places[path];
    range.setAttribute("aria-valuetext", texts[places[path]]);
    field.value = typed[path] ?? texts[places[path]];
  });
}

function tell() {
  shown.forEach((show) => show());
  const point = facts.sliders.map(({ path }) => places[path]);
  const known = Object.values(typed).every((text) => text === undefined) && answers.get(point.join());
  at("live-answer").dataset.pick = known ? known.pick ?? "" : "";
  if (known) at("live-answer").innerHTML = known.html; // escaped by the program
  else at("live-answer").replaceChildren(...notComputed(point));
  at("live-regret").textContent = (known && known.regret) || "";
  const sets = facts.sliders.filter((slider) => typed[slider.path] !== undefined || places[slider.path] !== ownPlace(slider));
  at("live-set").textContent = sets.map((slider) => `--set "${slider.path}=${typed[slider.path] ?? slider.sets[places[slider.path]]}"`).join(" ");
  at("live-copy").hidden = !sets.length;
  keep(sets);
}

function notComputed(point) {
  const far = (other) => other.point.reduce((sum, place, number) => sum + Math.abs(place - point[number]), 0);
  const near = facts.answers.reduce((best, one) => (far(one) < far(best) ? one : best));
  const words = facts.sliders.map(({ texts, words: name }, number) => `${name} ${texts[near.point[number]]}`).join(", ");
  const button = made("button", { type: "button" }, `Go to ${words}`);
  button.addEventListener("click", () => {
    facts.sliders.forEach(({ path }, number) => { places[path] = near.point[number]; typed[path] = undefined; });
    tell();
  });
  return [made("p", {}, made("b", {}, "Not computed here.")), made("p", {}, "This page has the answers to some numbers only; dse answer with the options below has this one."), button];
}

// The state is in the address: #workload.rate=73 Gbit/s, or #rate=73Gbps.
function keep(sets) {
  const parts = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  for (const key of [...parts.keys()]) if (sliderOf(key)) parts.delete(key);
  for (const { path, texts } of sets) parts.set(path, typed[path] ?? texts[places[path]]);
  const now = parts.toString();
  if (now !== location.hash.slice(1) && (now || location.hash.includes("="))) history.replaceState(null, "", now ? `#${now}` : location.pathname + location.search);
}

const sliderOf = (key) => facts.sliders.find(({ path }) => path === key || path.endsWith(`.${key}`));

function read() {
  for (const slider of facts.sliders) { places[slider.path] = ownPlace(slider); typed[slider.path] = undefined; }
  if (location.hash.includes("=")) for (const [key, text] of new URLSearchParams(location.hash.slice(1))) if (sliderOf(key)) set(sliderOf(key), text);
  tell();
}

const shown = [];
const all = facts.answers.length === facts.points;
at("living-words").textContent = `This page holds ${facts.answers.length.toLocaleString("en")} proven answers${all ? "" : ` of the ${facts.points.toLocaleString("en")} points of these values`}. What lies between them is not computed here.`;
facts.sliders.forEach(drawSlider);
at("live-copy").addEventListener("click", () => navigator.clipboard.writeText(at("live-set").textContent));
window.addEventListener("hashchange", read);
read();
