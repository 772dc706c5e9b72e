// Which design is recommended: the rule of the program, on the losses as it compares them.

// Forty significant bits by Veltkamp's splitting, so that sums in another order are equal.
function rounded(loss) {
  const carried = loss * 8193;
  return Number.isFinite(carried) ? carried - (carried - loss) : loss;
}

function roundedHalfEven(value) {
  const whole = Math.floor(value);
  const rest = value - whole;
  if (rest !== 0.5) return Math.round(value);
  return whole % 2 === 0 ? whole : whole + 1;
}

// The sum of the objectives, each scaled to [0, 1] over the rows; the knee has the least.
function bends(rows, losses) {
  const sums = new Float64Array(rows.length);
  for (const loss of losses) {
    let low = Infinity;
    let high = -Infinity;
    for (const row of rows) {
      low = Math.min(low, loss[row]);
      high = Math.max(high, loss[row]);
    }
    const spread = high > low ? high - low : 1;
    rows.forEach((row, place) => { sums[place] += (loss[row] - low) / spread; });
  }
  return sums.map((sum) => roundedHalfEven(sum * 1e12) / 1e12);
}

// Return the recommended one of `rows`, which stand in the order of front.csv; -1 of none.
// `merit` has what is minimised for each of them, `compared` is the objective that it is, or -1.
function recommended(rows, merit, losses, compared, tolerance) {
  if (!rows.length) return -1;
  const least = merit.reduce((one, other) => Math.min(one, other), Infinity);
  const near = least + tolerance * Math.abs(least);
  const deciding = losses.filter((_, goal) => !tolerance || goal !== compared);
  const keys = (place) => {
    const losing = deciding.map((loss) => loss[rows[place]]);
    if (!tolerance) return [merit[place], ...losing];
    const good = merit[place] <= near || merit[place] === least;
    return [good ? -Infinity : merit[place], ...losing, merit[place]];
  };
  let best = 0;
  let held = keys(0);
  for (let place = 1; place < rows.length; place++) {
    const other = keys(place);
    const at = other.findIndex((value, key) => value !== held[key]);
    if (at >= 0 && other[at] < held[at]) {
      best = place;
      held = other;
    }
  }
  return rows[best];
}
