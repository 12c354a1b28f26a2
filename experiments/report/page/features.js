/* The features that one ranker chose on one data set. */

class BestFeatures extends Chart {
  start() {
    this.dataset = Object.keys(this.data.chosen)[0];
    this.ranker = null;
  }

  draw() {
    const { rankers, chosen } = this.data;
    if (!this.dataset) return this.nothing("No features are known: no ranker is complete with a ranking on any data set.");
    const datasets = Object.keys(chosen).filter((name) => this.filters.has("dataset", name));
    if (!datasets.length) return this.nothing("The filters leave no data set with best features.");
    if (!datasets.includes(this.dataset)) this.dataset = datasets[0];
    const given = chosen[this.dataset];
    const shown = this.shownRankers();
    const there = rankers.map((_, place) => String(place)).filter((place) => given.rankers[place] && shown[place]);
    const again = (name, value) => {
      this[name] = value;
      this.redraw();
      this.box.querySelector(`select[data-choice=${name}]`).focus();
    };
    const choice = (label, name, options) => {
      const made = select(label, options, this[name], (value) => again(name, value));
      made.querySelector("select").dataset.choice = name;
      return made;
    };
    if (!there.includes(this.ranker)) this.ranker = there[0] ?? null;
    const controls = make("div", { class: "controls" },
      choice("data set", "dataset", datasets.map((name) => [name, name])),
      there.length ? choice("ranker", "ranker", there.map((place) => [place, rankers[place].label])) : null);
    if (!there.length) {
      this.box.replaceChildren(controls, make("p", { class: "faint" }, `The filters leave no ranker with best features on ${this.dataset}.`));
      return;
    }
    const own = given.rankers[this.ranker];
    this.box.replaceChildren(controls, this.table(given, own), make("p", { class: "faint" }, this.notes(given, own)));
    sortable(this.box.querySelector("table"));
  }

  table(given, own) {
    const heads = ["place", "feature", "among the first 20", "mean rank", "mean weight"];
    const numbers = (texts, keys) => texts.map((text, i) => make("td", { class: "number", "data-sort": keys[i] }, text));
    const caption = `${this.data.rankers[this.ranker].label} on ${this.dataset}`;
    return make("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: 0 },
      make("table", {},
        make("caption", {}, make("span", {}, caption)),
        make("thead", {}, make("tr", {}, ...heads.map((head, i) => make("th", { scope: "col", class: i === 1 ? null : "number" }, head)))),
        make("tbody", {}, ...own.best.map(([name, share, rank, weight], i) =>
          make("tr", {},
            make("th", { scope: "row", class: "number", "data-sort": i + 1 }, String(i + 1)),
            make("td", { class: "name", "data-sort": given.names[name].toLowerCase() }, given.names[name]),
            ...numbers([percent(share), rank.toFixed(1), plainly(weight)], [share, rank, weight]))))));
  }

  notes(given, own) {
    const folds = own.folds + own.without;
    const told = [`${own.best.length} of ${given.features} features, over ${own.folds === folds ? folds : `${own.folds} of ${folds}`} fold${folds === 1 ? "" : "s"}.`];
    if (own.without) told.push("The rankings of the other folds are not in the rows.");
    if (own.tied) told.push(`In ${own.tied} fold${own.tied === 1 ? "" : "s"} equal weights share the places up to the 20th.`);
    if (given.features <= 20) told.push("All features are among the first 20.");
    return told.join(" ");
  }
}

/** A share in percent; as all or none only what is. */
function percent(share) {
  const text = (100 * share).toFixed(0);
  if (text === "100" && share < 1) return "> 99 %";
  return text === "0" && share > 0 ? "< 1 %" : `${text} %`;
}

/** A weight with four significant digits. */
function plainly(value) {
  return String(Number(value.toPrecision(4)));
}
