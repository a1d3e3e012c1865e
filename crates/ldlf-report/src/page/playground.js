"use strict";
(function () {
  // The model is a list of operators, as in ONNX, on one row: every value is a plain array, one number stands for a row of equal ones.
  var place = document.getElementById("playground"), model = JSON.parse(place.querySelector("script").textContent);
  var SVG = "http://www.w3.org/2000/svg";

  function both(a, b, f) {
    var out = new Array(Math.max(a.length, b.length));
    for (var i = 0; i < out.length; i++) { out[i] = f(a[a.length === 1 ? 0 : i], b[b.length === 1 ? 0 : i]); }
    return out;
  }
  function product(row, name) {
    var shape = model.constants[name].shape, weights = model.constants[name].numbers;
    var columns = shape.length === 2 ? shape[1] : 1, out = new Array(columns).fill(0);
    for (var i = 0; i < row.length; i++) {
      for (var j = 0; j < columns; j++) { out[j] += row[i] * weights[i * columns + j]; }
    }
    return out;
  }
  // Grown trees: an entry for every node, numbered from 0 within each tree, and one for every number of a leaf.
  function grown(row, a) {
    if (!a.starts) {
      a.starts = []; a.leaves = {};
      a.nodes_nodeids.forEach(function (node, at) { if (node === 0) { a.starts.push(at); } });
      a.target_nodeids.forEach(function (node, at) {
        var key = a.target_treeids[at] + ":" + node;
        (a.leaves[key] = a.leaves[key] || []).push(at);
      });
    }
    var out = new Array(a.n_targets).fill(0);
    a.starts.forEach(function (start) {
      var at = start;
      while (a.nodes_modes[at] !== "LEAF") {
        at = start + (row[a.nodes_featureids[at]] <= a.nodes_values[at] ? a.nodes_truenodeids[at] : a.nodes_falsenodeids[at]);
      }
      (a.leaves[a.nodes_treeids[at] + ":" + a.nodes_nodeids[at]] || []).forEach(function (leaf) {
        out[a.target_ids[leaf]] += a.target_weights[leaf];
      });
    });
    return out;
  }
  var operators = {
    Add: function (a, b) { return both(a, b, function (x, y) { return x + y; }); },
    Sub: function (a, b) { return both(a, b, function (x, y) { return x - y; }); },
    Mul: function (a, b) { return both(a, b, function (x, y) { return x * y; }); },
    Div: function (a, b) { return both(a, b, function (x, y) { return x / y; }); },
    Clip: function (a, low, high) { return a.map(function (x) { return Math.min(Math.max(x, low[0]), high[0]); }); },
    Sigmoid: function (a) { return a.map(function (x) { return 1 / (1 + Math.exp(-x)); }); },
    Softmax: function (a) {
      var most = Math.max.apply(null, a), raised = a.map(function (x) { return Math.exp(x - most); });
      var sum = raised.reduce(function (x, y) { return x + y; }, 0);
      return raised.map(function (x) { return x / sum; });
    },
    ReduceSum: function (a) { return [a.reduce(function (x, y) { return x + y; }, 0)]; },
    ArgMax: function (a) { return [a.indexOf(Math.max.apply(null, a))]; },
    Gather: function (a, which) { return which.map(function (at) { return a[at]; }); },
    Concat: function () { return Array.prototype.concat.apply([], arguments); },
    Cast: function (a) { return a; },
    Squeeze: function (a) { return a; }
  };

  // All values of the graph for a row.
  function run(row) {
    var values = { features: row };
    function value(name) { return name in values ? values[name] : model.constants[name].numbers; }
    model.nodes.forEach(function (node) {
      var inputs = node.inputs, first = value(inputs[0]);
      if (node.operator === "Split") {
        var from = 0;
        value(inputs[1]).forEach(function (width, part) { values[node.outputs[part]] = first.slice(from, from += width); });
      } else if (node.operator === "MatMul") {
        values[node.outputs[0]] = product(first, inputs[1]);
      } else if (node.operator === "Gemm") {
        values[node.outputs[0]] = operators.Add(product(first, inputs[1]), value(inputs[2]));
      } else if (node.operator === "TreeEnsembleRegressor") {
        values[node.outputs[0]] = grown(first, node.attributes);
      } else {
        values[node.outputs[0]] = operators[node.operator].apply(null, inputs.map(value));
      }
    });
    return values;
  }

  // Soft forests: the splits of all trees, level after level, those of a node together.
  var forests = [];
  model.nodes.forEach(function (node) {
    var makes = function (other) { return other.outputs[0] === node.inputs[0] && other.operator === "Sigmoid"; };
    if (node.operator === "Split" && model.nodes.some(makes)) {
      forests.push({ levels: node.outputs, trees: model.constants[node.inputs[1]].numbers[0] });
    }
  });
  // In which order the nodes of a level stand: all left children, then all right ones.
  function order(level) {
    var nodes = [0];
    for (var i = 0; i < level; i++) {
      nodes = nodes.map(function (n) { return 2 * n; }).concat(nodes.map(function (n) { return 2 * n + 1; }));
    }
    return nodes;
  }
  // The probability of every node of a tree, level by level from the left.
  function reached(values, forest, tree) {
    var levels = [[1]];
    forest.levels.forEach(function (name, level) {
      var next = new Array(2 << level);
      order(level).forEach(function (node, at) {
        var left = values[name][at * forest.trees + tree], here = levels[level][node];
        next[2 * node] = here * left;
        next[2 * node + 1] = here * (1 - left);
      });
      levels.push(next);
    });
    return levels;
  }

  function element(name, attributes, parent, text) {
    var made = document.createElement(name);
    Object.keys(attributes).forEach(function (key) { made.setAttribute(key, attributes[key]); });
    if (text !== undefined) { made.textContent = text; }
    return parent.appendChild(made);
  }
  function drawn(name, attributes, parent) {
    var made = document.createElementNS(SVG, name);
    Object.keys(attributes).forEach(function (key) { made.setAttribute(key, attributes[key]); });
    return parent.appendChild(made);
  }
  function percent(share) { return (100 * share).toFixed(1) + " %"; }

  // The controls.
  var choice = element("p", {}, place), chosen = element("label", {}, choice, "Row ");
  var rows = element("select", { id: "play-row" }, chosen);
  model.rows.forEach(function (row, at) { element("option", { value: at }, rows, String(row)); });
  var again = element("button", { type: "button", id: "play-reset" }, choice, "Reset");
  var sides = element("div", { class: "play-sides" }, place);
  var sliders = element("div", { class: "play-features" }, sides), bars = element("div", { class: "play-labels" }, sides);
  if (model.features.length < model.all) {
    element("p", { class: "muted" }, sliders, model.features.length + " of " + model.all + " features");
  }
  var controls = model.features.map(function (feature, at) {
    var line = element("label", { class: "play-line" }, sliders), step = (feature.high - feature.low) / 200;
    element("span", {}, line, feature.name);
    var slider = element("input", { type: "range", id: "play-feature-" + at, min: feature.low, max: feature.high, step: step || "any" }, line);
    return { slider: slider, shown: element("output", {}, line), place: feature.place };
  });
  var shares = model.labels.map(function (label) {
    var line = element("div", { class: "play-line" }, bars);
    element("span", {}, line, label);
    var frame = element("span", { class: "play-frame" }, line);
    return { before: element("i", { class: "play-before" }, frame), now: element("i", { class: "play-now" }, frame), shown: element("output", {}, line) };
  });
  var trees = null, figure = null, words = null;
  if (forests.length) {
    var line = element("p", {}, place);
    var named = element("label", {}, line);
    element("span", { id: "play-tree-name" }, named, "Tree ");
    trees = element("select", { id: "play-tree" }, named);
    forests.forEach(function (forest, f) {
      for (var tree = 0; tree < forest.trees; tree++) {
        element("option", { value: f + "," + tree }, trees, (forests.length > 1 ? "forest " + (f + 1) + ", " : "") + "tree " + (tree + 1));
      }
    });
    figure = drawn("svg", { viewBox: "0 0 760 220", class: "play-tree", role: "img", "aria-labelledby": "play-tree-name play-path" }, place);
    words = element("p", { class: "muted", id: "play-path", "aria-live": "polite" }, place);
  }

  function draw(values) {
    var at = trees.value.split(",").map(Number), forest = forests[at[0]], levels = reached(values, forest, at[1]);
    var depth = levels.length - 1, x = function (level, node) { return (node + 0.5) * 760 / levels[level].length; };
    var y = function (level) { return 12 + level * 150 / Math.max(depth, 1); };
    // The way that always follows the likelier side.
    var way = [0];
    for (var level = 0; level < depth; level++) {
      var left = 2 * way[level];
      way.push(levels[level + 1][left] >= levels[level + 1][left + 1] ? left : left + 1);
    }
    figure.textContent = "";
    levels.forEach(function (nodes, level) {
      nodes.forEach(function (share, node) {
        if (!level) { return; }
        var on = way[level] === node ? "play-way" : "play-branch";
        drawn("line", { x1: x(level - 1, node >> 1), y1: y(level - 1), x2: x(level, node), y2: y(level), class: on, "stroke-width": 0.3 + 9 * share }, figure);
        if (level === depth) {
          var wide = Math.min(760 / nodes.length * 0.7, 24), high = 44 * share;
          drawn("rect", { x: x(level, node) - wide / 2, y: 168, width: wide, height: Math.max(high, 0.5), class: on }, figure);
        }
      });
    });
    words.textContent = "The row goes mostly to leaf " + (way[depth] + 1) + " of " + levels[depth].length + " along the likelier splits: " +
      percent(levels[depth][way[depth]]) + ". Lines and bars are as strong as the row's probability there.";
  }

  var row = [];
  function show() {
    var before = run(model.inputs[rows.value]).distributions, values = run(row), now = values.distributions;
    var most = Math.max(Math.max.apply(null, before), Math.max.apply(null, now), 1e-9);
    shares.forEach(function (share, label) {
      share.before.style.width = 100 * before[label] / most + "%";
      share.now.style.width = 100 * now[label] / most + "%";
      share.shown.textContent = percent(now[label]);
    });
    controls.forEach(function (control) { control.shown.textContent = Number(row[control.place].toPrecision(4)); });
    if (trees) { draw(values); }
  }
  function start() {
    row = model.inputs[rows.value].slice();
    controls.forEach(function (control) { control.slider.value = row[control.place]; });
    show();
  }
  controls.forEach(function (control) {
    control.slider.addEventListener("input", function () { row[control.place] = Number(control.slider.value); show(); });
  });
  rows.addEventListener("change", start);
  again.addEventListener("click", start);
  if (trees) { trees.addEventListener("change", show); }
  start();
  // For the tests of the page: the largest difference between what the page computes and what the program predicted.
  place.dataset.difference = Math.max.apply(null, model.inputs.map(function (input, at) {
    var own = run(input).distributions;
    return Math.max.apply(null, own.map(function (share, label) { return Math.abs(share - model.predicted[at][label]); }));
  }));
})();
