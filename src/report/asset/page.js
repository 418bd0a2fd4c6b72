/* Draws the charts of lines again so that one can look closer: pointer or arrow keys read values, a drag zooms, the
 * legend hides lines. Without it the page is the same, in still pictures. */
(function () {
	"use strict";
	var charts = JSON.parse(document.getElementById("charts").textContent);
	var said = document.getElementById("said");
	var drawn = [];

	function colour(name) {
		return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
	}

	function digits(value) {
		return value >= 100 || value === Math.round(value) ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
	}

	function scaled(value, step, units) {
		var i = 0;
		while (i + 1 < units.length && value >= step) {
			value /= step;
			i++;
		}
		return digits(value) + " " + units[i];
	}

	var nines = ["least", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %"];
	var write = {
		"count": function (v) { return v >= 1000 ? Math.round(v).toLocaleString("en") : digits(v); },
		"bytes": function (v) { return v ? scaled(v, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]) : "0"; },
		"bytes/s": function (v) { return write.bytes(v) + (v ? "/s" : ""); },
		"ns": function (v) { return v ? scaled(v, 1000, ["ns", "µs", "ms", "s"]) : "0"; },
		"s": function (v) { return digits(v) + " s"; },
		"/s": function (v) { return write.count(v) + " /s"; },
		"%": function (v) { return digits(v) + " %"; },
		"nines": function (v) {
			if (v === Math.floor(v))
				return nines[v] || "";
			return (100 - 100 * Math.pow(10, -v)).toPrecision(Math.floor(v) + 3) + " %";
		}
	};

	function text(value, unit) {
		return value === null || value === undefined ? "?" : write[unit](value);
	}

	/* All series over one x; where one has no value there is a gap that is drawn over. */
	function joined(chart) {
		return uPlot.join(chart.series.map(function (series) {
			return [series.x, series.y.map(function (y) { return y === null || (chart.y.log && y <= 0) ? null : y; })];
		}));
	}

	/* Bytes in steps that are whole in their unit. */
	function steps(axis) {
		var list = [], at;
		if (axis.unit !== "bytes" && axis.unit !== "bytes/s")
			return undefined;
		for (at = 1; at < 1e16; at *= 2)
			list.push(at);
		return list;
	}

	function marks(chart) {
		return function (plot) {
			var context = plot.ctx, ratio = window.devicePixelRatio || 1;
			context.save();
			context.strokeStyle = context.fillStyle = colour("mark");
			context.font = 11 * ratio + "px system-ui, sans-serif";
			context.setLineDash([4 * ratio, 3 * ratio]);
			chart.marks.forEach(function (mark, index) {
				var x = plot.valToPos(mark.x, "x", true), box = plot.bbox, right = x > box.left + box.width / 2;
				if (x < box.left - 1 || x > box.left + box.width + 1)
					return;
				context.beginPath();
				context.moveTo(x, box.top);
				context.lineTo(x, box.top + box.height);
				context.stroke();
				context.textAlign = right ? "right" : "left";
				context.fillText(mark.text.slice(0, 30), x + (right ? -5 : 5) * ratio, box.top + (11 + 13 * (index % 4)) * ratio);
			});
			context.restore();
		};
	}

	/* What went on for a while: a line where it begins, a tint as long as it lasts. Under the lines. */
	function spans(chart) {
		return function (plot) {
			var context = plot.ctx, ratio = window.devicePixelRatio || 1, box = plot.bbox;
			context.save();
			context.strokeStyle = context.fillStyle = colour("span");
			context.lineWidth = ratio;
			chart.spans.forEach(function (span) {
				var from = Math.max(plot.valToPos(span.from, "x", true), box.left);
				var to = Math.min(plot.valToPos(span.to, "x", true), box.left + box.width);
				if (from > box.left + box.width || to < box.left)
					return;
				context.globalAlpha = 0.12;
				context.fillRect(from, box.top, Math.max(to - from, ratio), box.height);
				context.globalAlpha = 1;
				context.beginPath();
				context.moveTo(from, box.top);
				context.lineTo(from, box.top + box.height);
				context.stroke();
			});
			context.restore();
		};
	}

	/* Their names, each once, under the legend. */
	function span_names(chart, box) {
		var names = chart.spans.map(function (span) { return span.text; });
		names.filter(function (name, index) { return names.indexOf(name) === index; }).forEach(function (name) {
			var line = document.createElement("p");
			line.className = "spans";
			line.appendChild(document.createElement("span"));
			line.appendChild(document.createTextNode(name));
			box.appendChild(line);
		});
	}

	function axis(of, size) {
		var made = {
			stroke: function () { return colour("fg"); },
			grid: { stroke: function () { return colour("line"); }, width: 1 },
			ticks: { stroke: function () { return colour("line"); }, width: 1 },
			font: "11px system-ui, sans-serif",
			values: function (plot, list) { return list.map(function (v) { return v === null ? "" : write[of.unit](v); }); }
		};
		if (size)
			made.size = size;
		if (of.unit === "nines") {
			made.splits = function (plot) {
				var list = [], at = Math.ceil(plot.scales.x.min);
				for (; at <= plot.scales.x.max; at++)
					list.push(at);
				return list;
			};
		} else if (steps(of) && !of.log) {
			made.incrs = steps(of);
		}
		if (of.log && of.unit === "bytes") {
			made.splits = function (plot, index, low, high) {
				var list = [], at;
				for (at = 1; at <= high * 1.001; at *= 2)
					if (at >= low * 0.999)
						list.push(at);
				return list;
			};
			made.filter = function (plot, list) { return list; };
		}
		return made;
	}

	function options(chart, width) {
		return {
			width: width,
			height: 260,
			cursor: { focus: { prox: 30 } },
			legend: { live: true },
			scales: {
				x: { time: false, distr: chart.x.log ? 3 : 1, log: chart.x.unit === "bytes" ? 2 : 10 },
				y: {
					distr: chart.y.log ? 3 : 1,
					range: chart.y.log ? undefined : function (plot, low, high) { return [0, high > 0 ? high * 1.04 : 1]; }
				}
			},
			axes: [axis(chart.x), axis(chart.y, 76)],
			series: [{
				label: chart.x.label,
				value: function (plot, v) { return v === null ? "-" : text(v, chart.x.unit); }
			}].concat(chart.series.map(function (series, index) {
				return {
					label: series.name,
					stroke: function () { return colour("s" + index % 8); },
					width: 1.75,
					spanGaps: true,
					points: { show: chart.points },
					value: function (plot, v) { return v === null ? "-" : text(v, chart.y.unit); }
				};
			})),
			hooks: { drawAxes: [spans(chart)], draw: [marks(chart)] }
		};
	}

	/* Say what is under the cursor, for who cannot see it. */
	function say(chart, plot) {
		var at = plot.cursor.idx, parts = [chart.x.label + " " + text(plot.data[0][at], chart.x.unit)];
		chart.series.forEach(function (series, index) {
			if (plot.series[index + 1].show && plot.data[index + 1][at] !== null && plot.data[index + 1][at] !== undefined)
				parts.push(series.name + " " + text(plot.data[index + 1][at], chart.y.unit));
		});
		said.textContent = parts.join(", ");
	}

	function keys(chart, plot, place) {
		place.addEventListener("keydown", function (event) {
			var count = plot.data[0].length, at = plot.cursor.idx;
			var step = { ArrowRight: 1, ArrowLeft: -1, PageDown: Math.ceil(count / 10), PageUp: -Math.ceil(count / 10), Home: -count, End: count }[event.key];
			if (step === undefined || event.target !== place)
				return;
			event.preventDefault();
			at = at === null || at === undefined ? (step > 0 ? -1 : count) : at;
			at = Math.max(0, Math.min(count - 1, at + step));
			plot.setCursor({ left: plot.valToPos(plot.data[0][at], "x"), top: 20 });
			say(chart, plot);
		});
	}

	/* A line is hidden by its name, by keyboard too. */
	function legend(plot) {
		plot.root.querySelectorAll(".u-legend .u-series th").forEach(function (name, index) {
			if (index === 0)
				return;
			name.tabIndex = 0;
			name.setAttribute("role", "button");
			name.setAttribute("aria-pressed", "true");
			name.addEventListener("keydown", function (event) {
				if (event.key === "Enter" || event.key === " ") {
					event.preventDefault();
					name.click();
				}
			});
			name.addEventListener("click", function () {
				setTimeout(function () { name.setAttribute("aria-pressed", String(plot.series[index].show)); });
			});
		});
	}

	function draw(chart) {
		var figure = document.getElementById(chart.name), place = figure.querySelector(".picture");
		var box = document.createElement("div"), plot;
		box.className = "plot";
		place.appendChild(box);
		figure.classList.add("drawn");
		plot = new uPlot(options(chart, place.clientWidth), joined(chart), box);
		legend(plot);
		span_names(chart, box);
		keys(chart, plot, place);
		drawn.push({ plot: plot, place: place });
	}

	charts.forEach(function (chart) {
		if (chart.series.some(function (series) { return series.x.length > 0; }))
			draw(chart);
	});

	window.addEventListener("resize", function () {
		drawn.forEach(function (one) { one.plot.setSize({ width: one.place.clientWidth, height: 260 }); });
	});
	window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
		drawn.forEach(function (one) { one.plot.redraw(); });
	});
})();
