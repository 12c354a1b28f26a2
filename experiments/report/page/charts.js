/* Charts. They draw what the data hold; ranks, means and probabilities were computed before. */

/** Draws into a box now, when its width changes and when the filters change. */
class Chart {
  constructor(box, data, filters) {
    this.box = box;
    this.data = data;
    this.filters = filters;
    this.width = 0;
    this.start();
    filters.listeners.push(() => this.redraw());
    new ResizeObserver(() => {
      const width = Math.floor(this.box.clientWidth);
      if (width && width !== this.width) this.redraw();
    }).observe(box);
    this.redraw();
  }

  redraw() {
    this.width = Math.floor(this.box.clientWidth);
    if (this.width) this.draw();
  }

  start() {}

  canvas(height, label) {
    return shape("svg", { viewBox: `0 0 ${this.width} ${height}`, width: this.width, height, role: "img", "aria-label": label });
  }

  nothing(text) {
    this.box.replaceChildren(make("p", { class: "faint" }, text));
  }

  shownRankers() {
    return this.data.rankers.map((ranker) => this.filters.has("ranker", ranker.key));
  }
}

class Ranks extends Chart {
  start() {
    this.measure = Object.keys(this.data.ranks)[0];
  }

  draw() {
    const { rankers, ranks, measures } = this.data;
    if (!this.measure) return this.nothing(`There are no ranks: ${Object.values(this.data.reasons)[0] || "nothing is complete"}.`);
    const given = ranks[this.measure];
    const shown = this.shownRankers();
    const row = 22, top = 46, width = this.width;
    const names = given.rankers.map((place) => rankers[place].label);
    const left = Math.min(Math.max(...names.map((name) => textWidth(name))) + 10, width * 0.46);
    const cliques = given.cliques.filter((clique) => clique.length > 1);
    const gap = Math.min(9, (width * 0.22) / Math.max(cliques.length, 1));
    const right = cliques.length * gap + 44;
    const height = top + row * names.length + 8;
    const most = Math.max(given.rankers.length, 2);
    const x = linear([1, most], [left + 8, width - right]);
    const svg = this.canvas(height, `${measures[this.measure]}: average ranks, best first: ` +
      given.rankers.map((place, i) => `${rankers[place].label} ${given.ranks[i].toFixed(2)}`).join(", "));
    const ticks = x.ticks(Math.max(2, Math.floor((width - left - right) / 40))).filter((tick) => Number.isInteger(tick) && x(tick) - x(1) > 14);
    svg.setAttribute("role", "group"); // names in it are links
    for (const tick of [1, ...ticks]) {
      svg.append(
        shape("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top - 6, y2: height - 6 }),
        shape("text", { class: "small", x: x(tick), y: top - 10, "text-anchor": "middle" }, String(tick)),
      );
    }
    if (given.cd !== null && names.length > 1) {
      const end = Math.min(1 + given.cd, most);
      const cut = 1 + given.cd > most;
      const said = `critical distance ${given.cd.toFixed(2)}${cut ? ", longer than the axis" : ""}`;
      svg.append(
        shape("path", { class: "axis", "stroke-width": 2, "data-cd": given.cd,
          d: `M${x(1)} 14v6M${x(1)} 17H${x(end)}${cut ? "" : "m0 -3v6"}` }),
        shape("text", { class: "small", x: Math.max(2, Math.min(x(1), width - textWidth(said, 11) - 2)), y: 10 }, said),
      );
    }
    const short = shortenedApart(names, left - 6);
    const lineOf = new Map();
    given.rankers.forEach((place, i) => {
      const look = rankers[place];
      const y = top + row * (i + 0.5);
      lineOf.set(place, y);
      const rank = given.ranks[i];
      svg.append(
        shape("g", { class: shown[place] ? null : "dim", "data-ranker-row": look.key },
          shape("a", { href: look.href },
            shape("text", { x: left, y: y + 4, "text-anchor": "end" }, short[i], shape("title", {}, look.label))),
          shape("line", { class: "grid", x1: left + 8, x2: x(rank), y1: y, y2: y }),
          marker(look, x(rank), y, 5),
          shape("text", { class: "small", x: x(rank) + 9, y: y + 4 }, rank.toFixed(2))),
      );
    });
    cliques.forEach((clique, number) => {
      const lines = clique.map((place) => lineOf.get(place));
      const at = width - cliques.length * gap + number * gap + gap / 2;
      svg.append(shape("path", { class: "axis", "stroke-width": Math.min(3, gap * 0.6), "data-clique": clique.length,
        d: `M${at} ${Math.min(...lines) - 6}V${Math.max(...lines) + 6}` }));
    });
    const notes = [`Over ${given.used.length} data set${given.used.length === 1 ? "" : "s"}: ${given.used.join(", ")}.`];
    if (cliques.length) notes.push("Rankers beside one bar are not significantly different (Nemenyi, α = 0.05).");
    else if (given.cd !== null && names.length > 1) notes.push("All neighbouring rankers are significantly different (Nemenyi, α = 0.05).");
    if (given.out_of_reach) notes.push(`With so few data sets no two of ${names.length} rankers can be significantly different.`);
    if (given.no_test) notes.push(`Friedman's test is left out: ${given.no_test}.${given.cd === null ? " Nemenyi's likewise." : ""}`);
    if (given.friedman !== null) notes.push(`Friedman's test: p ${given.friedman < 0.001 ? "< 0.001" : "= " + given.friedman.toFixed(3)}.`);
    if (given.left_out.length) notes.push(`Left out: ${given.left_out.join("; ")}.`);
    const away = rankers.filter((_, place) => !given.rankers.includes(place)).map((ranker) => ranker.label);
    if (away.length) notes.push(`Without a rank, since they are not complete where the others are: ${away.join(", ")}.`);
    this.box.replaceChildren(
      make("div", { class: "controls" }, select("ranked by", Object.keys(ranks).map((key) => [key, measures[key]]), this.measure, (value) => {
        this.measure = value;
        this.redraw();
        this.box.querySelector("select").focus();
      })),
      svg,
      make("p", { class: "faint" }, notes.join(" ")),
    );
  }
}

class Curves extends Chart {
  start() {
    this.dataset = Object.keys(this.data.curves)[0];
    this.bands = this.data.rankers.length <= 6; // more bands hide each other
    this.off = new Set();
    this.many = 16;
    this.few = 10;
    if (this.dataset) this.best();
  }

  /** Of very many rankers the best few are shown at first. */
  best() {
    const areas = this.data.areas[this.dataset] || [];
    const there = this.data.curves[this.dataset].map((curve) => curve.ranker);
    const ordered = [...there].sort((a, b) => (areas[b] ?? -1) - (areas[a] ?? -1));
    this.off = new Set(there.length > this.many ? ordered.slice(this.few) : []);
  }

  draw() {
    const datasets = Object.keys(this.data.curves).filter((name) => this.filters.has("dataset", name));
    if (!Object.keys(this.data.curves).length) return this.nothing("There are no curves: no ranker is complete on any data set.");
    if (!datasets.length) return this.nothing("The filters leave no data set with curves.");
    if (!datasets.includes(this.dataset)) this.dataset = datasets[0];
    const { rankers } = this.data;
    const filtered = this.shownRankers();
    const all = this.data.curves[this.dataset].filter((curve) => filtered[curve.ranker]);
    const curves = all.filter((curve) => !this.off.has(curve.ranker));
    const width = this.width, height = Math.max(260, Math.min(420, width * 0.55));
    const left = 46, right = 12, top = 12, bottom = 42;
    const xs = [...new Set(all.flatMap((curve) => curve.x))].sort((a, b) => a - b);
    const largest = Math.max(...xs, 2);
    const x = logarithmic([1, largest], [left, width - right]);
    const values = extent([1, ...curves.flatMap((curve) => curve.mean)], 0.04) || [0, 1.1];
    const margin = 0.06 * (values[1] - values[0]);
    const low = values[0] < 0 ? values[0] - margin : Math.max(0, values[0] - margin), high = values[1] + margin;
    const y = linear([low, high], [height - bottom, top]);
    const svg = this.canvas(height, `${this.dataset}: r${this.data.score} of ${curves.length} rankers against the number of top-ranked features`);
    // A pointer along the axis, moved with the arrow keys: to assistive technology that is a slider.
    for (const [name, value] of Object.entries({ tabindex: 0, class: "curves", role: "slider", "aria-valuemin": 1, "aria-valuemax": largest, "aria-valuenow": this.at || 1 })) {
      svg.setAttribute(name, value);
    }
    const clip = `${this.box.dataset.group}-clip`;
    svg.append(shape("clipPath", { id: clip }, shape("rect", { x: left, y: top, width: Math.max(0, width - left - right), height: height - top - bottom })));
    for (const tick of y.ticks(6)) {
      svg.append(
        shape("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
        shape("text", { class: "small", x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, plain(tick)),
      );
    }
    const ticks = x.ticks(Math.max(2, Math.floor((width - left - right) / 56)));
    for (const tick of ticks.filter((each) => x(largest) - x(each) > 34).concat([largest])) {
      svg.append(shape("text", { class: "small", x: x(tick), y: height - bottom + 16, "text-anchor": tick === largest ? "end" : "middle" }, plain(tick)));
    }
    svg.append(
      shape("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
      shape("text", { class: "small", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "number of top-ranked features"),
      shape("text", { class: "small", transform: `translate(11 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, `r${this.data.score} (1 = all features)`),
      shape("line", { class: "axis", "stroke-dasharray": "3 3", x1: left, x2: width - right, y1: y(1), y2: y(1) }),
    );
    const inside = shape("g", { "clip-path": `url(#${clip})` });
    svg.append(inside);
    if (this.bands) for (const curve of curves) inside.append(this.band(curve, rankers[curve.ranker], x, y, curves.length));
    curves.forEach((curve, number) => {
      const look = rankers[curve.ranker];
      inside.append(this.line(curve, look, x, y));
      const every = Math.max(1, Math.ceil(curve.x.length / 7));
      curve.x.forEach((size, i) => {
        if (i % every === number % every && curve.mean[i] !== null) inside.append(marker(look, x(size), y(curve.mean[i]), 3.5));
      });
    });
    const cursor = shape("line", { class: "axis cursor", visibility: "hidden", y1: top, y2: height - bottom, x1: left, x2: left });
    svg.append(cursor);
    const readout = make("div", { class: "readout", "aria-live": "polite" });
    const read = (size) => {
      this.at = size;
      cursor.setAttribute("visibility", "visible");
      svg.setAttribute("aria-valuenow", size);
      svg.setAttribute("aria-valuetext", `top ${size} features`);
      cursor.setAttribute("x1", x(size));
      cursor.setAttribute("x2", x(size));
      const found = curves
        .map((curve) => ({ curve, i: curve.x.indexOf(size) }))
        .filter(({ curve, i }) => i >= 0 && curve.mean[i] !== null)
        .sort((a, b) => b.curve.mean[b.i] - a.curve.mean[a.i]);
      readout.replaceChildren(
        make("strong", {}, `Top ${size} feature${size === 1 ? "" : "s"}`),
        make("ol", {}, ...found.map(({ curve, i }) => {
          const band = curve.lower[i] === null ? "" : ` (${score(curve.lower[i])} to ${score(curve.upper[i])})`;
          return make("li", {}, `${rankers[curve.ranker].label} ${score(curve.mean[i])}${band}`);
        })),
      );
    };
    const nearest = (event) => {
      const box = svg.getBoundingClientRect();
      const place = ((event.clientX - box.left) / box.width) * width;
      return xs.reduce((best, size) => (Math.abs(x(size) - place) < Math.abs(x(best) - place) ? size : best), xs[0]);
    };
    svg.addEventListener("pointermove", (event) => read(nearest(event)));
    svg.addEventListener("pointerdown", (event) => read(nearest(event)));
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -xs.length, End: xs.length }[event.key];
      if (step === undefined || !xs.length) return;
      event.preventDefault();
      const place = this.at === undefined ? (step > 0 ? -1 : xs.length) : xs.indexOf(this.at);
      read(xs[Math.min(xs.length - 1, Math.max(0, place + step))]);
    });
    this.box.replaceChildren(this.controls(datasets, all), svg, this.legend(all), readout, this.notes(curves, all));
    if (this.at !== undefined && xs.includes(this.at)) read(this.at);
    else this.at = undefined;
  }

  band(curve, look, x, y, count) {
    const there = curve.x.map((_, i) => i).filter((i) => curve.lower[i] !== null);
    if (there.length < 2) return shape("g");
    const up = there.map((i) => `${x(curve.x[i]).toFixed(1)} ${y(curve.upper[i]).toFixed(1)}`);
    const down = [...there].reverse().map((i) => `${x(curve.x[i]).toFixed(1)} ${y(curve.lower[i]).toFixed(1)}`);
    return shape("path", { class: "band", d: `M${up.join("L")}L${down.join("L")}z`, fill: colour(look), opacity: Math.min(0.16, 0.6 / count) });
  }

  line(curve, look, x, y) {
    let path = "", open = false;
    curve.x.forEach((size, i) => {
      if (curve.mean[i] === null) return (open = false);
      path += `${open ? "L" : "M"}${x(size).toFixed(1)} ${y(curve.mean[i]).toFixed(1)}`;
      open = true;
    });
    return shape("path", { class: "curve", "data-curve": look.key, d: path || "M0 0", fill: "none", stroke: colour(look), "stroke-width": 1.8, "stroke-dasharray": look.dashes || null });
  }

  controls(datasets, all) {
    const bands = make("input", { type: "checkbox" });
    bands.checked = this.bands;
    const again = (name) => {
      this.redraw();
      const found = this.box.querySelector(name);
      if (found) found.focus();
    };
    bands.addEventListener("change", () => {
      this.bands = bands.checked;
      again("input[type=checkbox]");
    });
    return make("div", { class: "controls" },
      select("data set", datasets.map((name) => [name, name]), this.dataset, (value) => {
        this.dataset = value;
        again("select");
      }),
      make("label", {}, bands, "95 % bands"),
      button("all curves", () => { this.off = new Set(); this.redraw(); }),
      button("none", () => { this.off = new Set(all.map((curve) => curve.ranker)); this.redraw(); }),
      all.length > this.many ? button(`best ${this.few}`, () => { this.best(); this.redraw(); }) : null);
  }

  legend(all) {
    return make("ul", { class: "legend" }, ...all.map((curve) => {
      const look = this.data.rankers[curve.ranker];
      const on = !this.off.has(curve.ranker);
      const press = button("", () => {
        if (on) this.off.add(curve.ranker);
        else this.off.delete(curve.ranker);
        this.redraw();
        this.box.querySelector(`.legend [data-key="${CSS.escape(look.key)}"]`).focus();
      });
      press.setAttribute("aria-pressed", on);
      press.dataset.key = look.key;
      press.append(
        shape("svg", { viewBox: "0 0 30 12", "aria-hidden": "true" },
          shape("line", { x1: 1, x2: 29, y1: 6, y2: 6, stroke: colour(look), "stroke-width": 1.8, "stroke-dasharray": look.dashes || null }),
          marker(look, 15, 6, 3.5)),
        look.label);
      return make("li", {}, press);
    }));
  }

  notes(curves, all) {
    const told = [];
    if (curves.length < all.length) told.push(`${curves.length} of ${all.length} curves are drawn; press a name to add or take away its curve.`);
    const undefinedFolds = Math.max(0, ...all.map((curve) => curve.undefined));
    if (undefinedFolds) told.push(`In ${undefinedFolds} folds ${this.data.undefined}, so that r${this.data.score} has no value; they are left out.`);
    const there = new Set(this.data.curves[this.dataset].map((curve) => curve.ranker));
    const away = this.data.rankers.filter((_, place) => !there.has(place)).map((ranker) => ranker.label);
    if (away.length) told.push(`Not complete on ${this.dataset}, so without a curve: ${listed(away)}.`);
    if (this.bands) told.push("Bands are 95 % confidence of the mean (corrected resampled t).");
    return make("p", { class: "faint" }, told.join(" "));
  }
}
