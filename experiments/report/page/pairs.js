/* Posterior triangles, and square tables of rankers. */

const RISE = Math.sqrt(3) / 2;

/** Draw one posterior: first better at the left corner, practically equal on top, second better at the right. */
function triangle(width, first, second, pair, small) {
  const side = width - 24, left = 12, top = small ? 8 : 26;
  const height = top + side * RISE + (small ? 8 : 42);
  const place = (p, equal) => [left + side * (1 - p - equal + equal / 2), top + side * RISE * (1 - equal)];
  const joined = (points) => points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");
  const said = `${first} better ${probability(pair.p)}, practically equal ${probability(pair.equal)}, ${second} better ${probability(pair.q)}`;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height.toFixed(0)}`, role: "img", "aria-label": said, class: "triangle" });
  const centre = place(1 / 3, 1 / 3);
  svg.append(shape("path", { class: "axis", d: `M${joined([place(1, 0), place(0, 1), place(0, 0)])}z` }));
  for (const edge of [place(0.5, 0.5), place(0, 0.5), place(0.5, 0)]) svg.append(shape("path", { class: "grid", d: `M${joined([centre, edge])}` }));
  const dots = pair.draws.map(([p, equal]) => place(p, equal)).map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("");
  if (dots) svg.append(shape("path", { class: "draws", d: dots, stroke: "rgb(var(--heat))", "stroke-width": small ? 1.8 : 2.6, "stroke-linecap": "round", opacity: 0.45, "data-draws": pair.draws.length }));
  if (!small) {
    const short = shortenedApart([first, second], width / 2 - 4);
    svg.append(
      shape("text", { x: width / 2, y: 14, "text-anchor": "middle" }, `practically equal ${probability(pair.equal)}`),
      shape("text", { x: 2, y: height - 24 }, short[0]),
      shape("text", { x: 2, y: height - 8 }, `better ${probability(pair.p)}`),
      shape("text", { x: width - 2, y: height - 24, "text-anchor": "end" }, short[1]),
      shape("text", { x: width - 2, y: height - 8, "text-anchor": "end" }, `better ${probability(pair.q)}`),
    );
  }
  return svg;
}

function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const draws = [];
  for (let at = 0; at + 3 < bytes.length; at += 4) draws.push([view.getUint16(at, true) / 65535, view.getUint16(at + 2, true) / 65535]);
  return draws;
}

class Pairs extends Chart {
  start() {
    this.found = new Map();
    for (const [a, b, p, equal, q, datasets, inPaper, message, draws] of this.data.pairs) {
      this.found.set(`${a},${b}`, { p, equal, q, datasets, inPaper, message, text: draws, turned: false });
      this.found.set(`${b},${a}`, { p: q, equal, q: p, datasets, inPaper, message, text: draws, turned: true });
    }
    const chosen = this.data.pairs.find(([, , p]) => p !== null) || this.data.pairs[0];
    if (chosen) [this.first, this.second] = chosen;
  }

  pair(a, b) {
    const found = this.found.get(`${a},${b}`);
    if (found && !found.draws) {
      const draws = unpacked(found.text);
      found.draws = found.turned ? draws.map(([p, equal]) => [1 - p - equal, equal]) : draws;
    }
    return found;
  }

  draw() {
    if (!this.data.pairs.length) return this.nothing(`No pairs were tested: ${this.data.untested || "there are none"}.`);
    const { rankers } = this.data;
    const shown = this.shownRankers();
    const inside = rankers.map((_, place) => place).filter((place) => this.data.pairs.some(([a, b]) => a === place || b === place));
    const options = inside.map((place) => [String(place), rankers[place].label]);
    const choose = (which) => (value) => {
      const other = which === "first" ? "second" : "first";
      if (Number(value) === this[other]) this[other] = this[which];
      this[which] = Number(value);
      this.redraw();
      this.box.querySelector(`.choose-${which} select`).focus();
    };
    const first = select("first", options, String(this.first), choose("first"));
    const second = select("second", options, String(this.second), choose("second"));
    first.classList.add("choose-first");
    second.classList.add("choose-second");
    const pair = this.pair(this.first, this.second);
    const names = [rankers[this.first].label, rankers[this.second].label];
    const room = Math.min(this.width, 400);
    const drawn = make("div", { class: "one-pair" });
    if (pair && pair.p !== null) {
      const made = triangle(room, names[0], names[1], pair, false);
      made.style.maxWidth = `${room}px`;
      drawn.append(made, make("p", { class: "probabilities", role: "status" },
        `${names[0]} better: ${probability(pair.p)}; practically equal (${this.data.score} within ${this.data.rope}): ${probability(pair.equal)}; ` +
        `${names[1]} better: ${probability(pair.q)}. Over ${pair.datasets} data set${pair.datasets === 1 ? "" : "s"} that both finished.` +
        (pair.message ? ` ${pair.message}` : "")));
    } else {
      drawn.append(make("p", {}, pair && pair.message ? pair.message : `${names[0]} and ${names[1]} were not tested against each other.`));
    }
    const matrix = this.matrix(inside.filter((place) => shown[place]));
    const paper = this.data.pairs.filter(([, , p, , , , inPaper]) => inPaper && p !== null);
    const few = paper.length
      ? [make("h3", {}, "The pairs that the paper shows"),
        this.data.stand_ins ? make("p", { class: "faint" }, this.data.stand_ins) : null,
        make("div", { class: "small-multiples" }, ...paper.map(([a, b]) => {
          const shownPair = this.pair(a, b);
          const said = `${rankers[a].label} better ${probability(shownPair.p)}, equal ${probability(shownPair.equal)}, ${rankers[b].label} better ${probability(shownPair.q)}`;
          return make("figure", {}, triangle(200, rankers[a].label, rankers[b].label, shownPair, true), make("figcaption", {}, said));
        }))]
      : [];
    this.box.replaceChildren(
      make("div", { class: "controls" }, first, second, button("swap", () => {
        [this.first, this.second] = [this.second, this.first];
        this.redraw();
      })),
      make("div", { class: "two" }, drawn, matrix),
      ...few.filter((each) => each !== null),
    );
  }

  matrix(places) {
    const { rankers } = this.data;
    return heat("Probability that the ranker of the row is better than that of the column",
      places.map((place) => rankers[place].label),
      (row, column) => {
        const found = this.found.get(`${places[row]},${places[column]}`);
        if (!found || found.p === null) return null;
        const chosen = places[row] === this.first && places[column] === this.second;
        return {
          text: probability(found.p), strength: found.p, chosen,
          said: `${rankers[places[row]].label} against ${rankers[places[column]].label}: better ${probability(found.p)}, practically equal ${probability(found.equal)}, worse ${probability(found.q)}`,
          pressed: () => {
            [this.first, this.second] = [places[row], places[column]];
            this.redraw();
          },
        };
      });
  }
}

/** A square table whose cells are coloured; columns bear the numbers of the lines. */
function heat(title, names, cell) {
  const numbered = names.map((name, place) => `${place + 1} ${name}`);
  const head = make("tr", {}, make("td"), ...names.map((name, place) => make("th", { scope: "col", title: name }, String(place + 1))));
  const lines = numbered.map((name, row) => make("tr", {}, make("th", { scope: "row" }, name), ...names.map((_, column) => {
    const found = row === column ? null : cell(row, column);
    if (!found) return make("td", { class: "faint" }, row === column ? "" : "–");
    const made = make("td", { style: `background: rgba(var(--heat), ${(0.6 * found.strength).toFixed(3)})`, title: found.said, "aria-current": found.chosen ? "true" : null });
    if (found.pressed) {
      const press = button(found.text, found.pressed);
      press.setAttribute("aria-label", found.said);
      made.append(press);
    } else made.append(make("span", {}, found.text));
    return made;
  })));
  return make("div", { class: "scroll tall", role: "region", tabindex: 0, "aria-label": title },
    make("table", { class: "heat" }, make("caption", {}, make("span", {}, title)), make("thead", {}, head), make("tbody", {}, ...lines)));
}

class Similarity extends Chart {
  start() {
    this.kind = Object.keys(this.data.similarity)[0];
  }

  draw() {
    const given = this.data.similarity[this.kind];
    if (!given) return this.nothing("There is nothing to compare.");
    const kept = given.keys.map((key, place) => ({ key, place })).filter(({ key }) => this.filters.has("ranker", key)).map(({ place }) => place);
    const range = extent(given.values.flatMap((line, row) => line.filter((_, column) => column !== row)), 1e-6) || [0, 1];
    const said = { curves: `mean r${this.data.score} curves${this.data.score === "F1" ? ", as in the paper" : ""}`, weights: "weights of the features" };
    this.box.replaceChildren(
      make("div", { class: "controls" }, select("compared by", Object.keys(this.data.similarity).map((key) => [key, said[key] || key]), this.kind, (value) => {
        this.kind = value;
        this.redraw();
        this.box.querySelector("select").focus();
      })),
      heat(`AUFUJI, ${said[this.kind] || this.kind}; the darker, the more alike (from ${range[0].toFixed(given.digits)} to ${range[1].toFixed(given.digits)})`, kept.map((place) => given.names[place]), (row, column) => {
        const value = given.values[kept[row]][kept[column]];
        if (value === null) return null;
        return {
          text: value.toFixed(given.digits), strength: (value - range[0]) / (range[1] - range[0]),
          said: `${given.names[kept[row]]} and ${given.names[kept[column]]}: ${value.toFixed(given.digits)}`,
        };
      }),
    );
  }
}
