// Numbers in SI as the program writes them in its texts: four digits, and the unit that suits.

function plainDigits(value) {
  const size = Number(Math.abs(value).toExponential(3));
  if (size === 0) return "0";
  if (!(size >= 1e-3 && size < 1e6)) return shortDigits(value);
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(size)));
  const text = value.toFixed(decimals);
  return decimals ? text.replace(/\.?0+$/, "") : text;
}

function shortDigits(value) {
  if (!Number.isFinite(value)) return value > 0 ? "inf" : value < 0 ? "-inf" : "none";
  const exponent = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(4)))));
  if (exponent >= -4 && exponent < 4) return String(Number(value.toPrecision(4)));
  const [digits, power] = value.toExponential(3).split("e");
  const sign = power.startsWith("-") ? "-" : "+";
  return `${digits.replace(/\.?0+$/, "")}e${sign}${power.slice(1).padStart(2, "0")}`;
}

function unitOf(value, facts) {
  const size = Number(Math.abs(value).toExponential(3));
  if (!Number.isFinite(size)) return [1, ""];
  if (size === 0) return [1, facts.zero];
  for (const [factor, label] of [...facts.binary].reverse()) {
    if (value % factor === 0 && factor <= size && size < 1e4 * factor) return [factor, label];
  }
  let found = facts.steps[0];
  for (const step of facts.steps) if (step[0] <= size) found = step;
  return [found[1], found[2]];
}

// Return a value of a column with its unit; a text as it is.
function show(value, facts) {
  if (typeof value === "string") return value;
  if (value === null || value === undefined || Number.isNaN(value)) return "none";
  const [factor, label] = unitOf(value, facts);
  return `${plainDigits(value / factor)} ${label}`.trim();
}

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

// Return how an axis writes its ticks, which are in its unit: all as numbers, or all as powers of ten.
function tickOf({ low, high, log }) {
  const powers = log && (low < 1e-3 || high >= 1e5);
  return (value) => {
    const power = Math.log10(Math.abs(value));
    if (!powers) return String(Number(value.toPrecision(7)));
    const whole = Math.floor(power + 1e-9);
    const factor = Number((value / 10 ** whole).toPrecision(4));
    return `${factor === 1 ? "" : `${factor}·`}10${[...String(whole)].map((digit) => RAISED[digit]).join("")}`;
  };
}
