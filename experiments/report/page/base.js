/* Small helpers: elements, numbers, scales. */

const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

/** Make an HTML element; children are elements or text, never markup. */
function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** Make an SVG element. */
function shape(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function select(label, options, value, changed) {
  const box = make("select", {}, ...options.map(([key, said]) => make("option", { value: key }, said)));
  box.value = value;
  box.addEventListener("change", () => changed(box.value));
  return make("label", {}, label + " ", box);
}

function button(text, pressed) {
  const made = make("button", { type: "button" }, text);
  made.addEventListener("click", pressed);
  return made;
}

function score(value) {
  return value === null ? "–" : value.toFixed(3);
}

function seconds(value) {
  if (value === null) return "–";
  const places = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : value >= 0.1 ? 3 : 4;
  return value.toFixed(places) + " s";
}

function probability(value) {
  if (value === null) return "–";
  if (value > 0 && value < 0.005) return "< 0.01";
  if (value < 1 && value > 0.995) return "> 0.99";
  return value.toFixed(2);
}

function listed(names, most = 6) {
  const told = names.length > most ? [...names.slice(0, most - 1), `${names.length - most + 1} others`] : names;
  return told.length > 1 ? told.slice(0, -1).join(", ") + " and " + told[told.length - 1] : told.join("");
}

function extent(values, least) {
  const there = values.filter((value) => value !== null && Number.isFinite(value));
  if (!there.length) return null;
  let low = Math.min(...there), high = Math.max(...there);
  if (high - low < least) {
    const middle = (low + high) / 2;
    low = middle - least / 2;
    high = middle + least / 2;
  }
  return [low, high];
}

/** Numbers to data coordinates and back. */
function linear([low, high], [start, end]) {
  const scale = (value) => start + ((value - low) / (high - low || 1)) * (end - start);
  scale.ticks = (count) => niceTicks(low, high, count);
  return scale;
}

function logarithmic([low, high], [start, end]) {
  const inner = linear([Math.log10(low), Math.log10(high)], [start, end]);
  const scale = (value) => inner(Math.log10(value));
  scale.ticks = (count) => {
    for (const steps of [[1, 2, 5], [1, 3], [1]]) {
      const found = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
        for (const step of steps) {
          const value = step * 10 ** power;
          if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
        }
      }
      if (found.length <= count || steps.length === 1) return thinned(found, count);
    }
  };
  return scale;
}

function thinned(values, count) {
  const every = Math.max(1, Math.ceil(values.length / count));
  return values.filter((_, place) => place % every === 0);
}

function niceTicks(low, high, count) {
  const raw = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw) || power;
  const found = [];
  for (let number = Math.ceil(low / step - 1e-9); number * step <= high + 1e-9 * step; number++) found.push(number * step);
  return found;
}

function plain(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(0);
  return String(Number(value.toPrecision(6)));
}

/* Looks: colour, dashes and marker, as in the figures. */

/** The colour of a figure; on a dark page a lighter one of the same hue, since some are nearly black. */
function colour(look) {
  return look.color === "#000000" ? "var(--ink)" : `color-mix(in srgb, ${look.color} var(--of-figures), white)`;
}

const MARKERS = {
  o: (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  s: (r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  D: (r) => polygon(4, 1.2 * r, 0),
  "^": (r) => polygon(3, 1.25 * r, -90),
  v: (r) => polygon(3, 1.25 * r, 90),
  "<": (r) => polygon(3, 1.25 * r, 180),
  ">": (r) => polygon(3, 1.25 * r, 0),
  p: (r) => polygon(5, 1.15 * r, -90),
  "*": (r) => star(r),
  P: (r) => cross(r, 0),
  X: (r) => cross(r, 45),
};

function turned(radius, degrees) {
  const angle = (degrees * Math.PI) / 180;
  return `${(radius * Math.cos(angle)).toFixed(2)} ${(radius * Math.sin(angle)).toFixed(2)}`;
}

function polygon(corners, radius, first) {
  return "M" + Array.from({ length: corners }, (_, place) => turned(radius, first + (360 / corners) * place)).join("L") + "z";
}

function star(r) {
  return "M" + Array.from({ length: 10 }, (_, place) => turned(place % 2 ? 0.55 * r : 1.35 * r, -90 + 36 * place)).join("L") + "z";
}

function cross(r, first) {
  const half = 20;
  const points = [];
  for (const middle of [0, 90, 180, 270]) {
    points.push(turned(1.25 * r, first + middle - half), turned(1.25 * r, first + middle + half), turned(0.6 * r, first + middle + 45));
  }
  return "M" + points.join("L") + "z";
}

function marker(look, x, y, r, attributes = {}) {
  const path = (MARKERS[look.marker] || MARKERS.o)(r);
  return shape("path", { d: path, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, fill: colour(look), ...attributes });
}

const measuring = document.createElement("canvas").getContext("2d");
function textWidth(text, size = 12) {
  measuring.font = `${size}px system-ui, sans-serif`;
  return measuring.measureText(text).width;
}

/** Cut names to a width so that no two that differ look the same: where the ends would be lost, the middle is. */
function shortenedApart(texts, width, size = 12) {
  const cut = (text, share) => {
    if (textWidth(text, size) <= width) return text;
    for (let kept = text.length - 1; kept > 1; kept--) {
      const head = Math.round(kept * share);
      const made = text.slice(0, head) + "…" + text.slice(text.length - (kept - head));
      if (textWidth(made, size) <= width) return made;
    }
    return "…";
  };
  const many = new Set(texts).size;
  let best = null, most = 0;
  for (const share of [1, 0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8]) {
    const made = texts.map((text) => cut(text, share));
    const apart = new Set(made).size;
    if (apart > most) [best, most] = [made, apart];
    if (apart === many) break;
  }
  return best || texts;
}
