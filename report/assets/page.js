"use strict";
// Draws each figure with uPlot over its static picture. The data and every word on the page come from the server side.
(() => {
  const {figures, frames} = JSON.parse(document.getElementById("figures").textContent);
  const narrow = "\u202f";
  const dashes = [[5, 3], [], [], [9, 3], [2, 3], [9, 3, 2, 3], [14, 4], [4, 4]];
  const css = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const ink = i => css("ink" + i % 8);
  const fade = (colour, share) => `color-mix(in srgb, ${colour} ${share}%, transparent)`;

  // Numbers are written as the report writes them: about three digits and the unit that fits.
  const digits = v => {
    const a = Math.abs(v);
    if (a === 0) return "0";
    if (a >= 99.95) return Math.round(v).toLocaleString("en-US");
    if (a >= 9.995) return v.toFixed(1);
    if (a >= 0.9995) return v.toFixed(2);
    return a >= 0.001 ? v.toFixed(2 - Math.floor(Math.log10(a))) : v.toPrecision(2);
  };
  const clock = v => {
    const s = Math.floor(v), pad = n => String(n).padStart(2, "0");
    return s >= 3600 ? `${Math.floor(s / 3600)}:${pad(Math.floor(s / 60) % 60)}:${pad(s % 60)}` : `${Math.floor(s / 60)}:${pad(s % 60)}`;
  };
  const bytes = v => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let i = 0;
    for (; Math.abs(v) >= 1023.5 && i < units.length - 1; i++) v /= 1024;
    return digits(v) + narrow + units[i];
  };
  const write = {
    per_second: v => digits(v) + "/s",
    ms: v => Math.abs(v) >= 999.5 ? digits(v / 1000) + narrow + "s" : v === 0 || Math.abs(v) >= 0.9995 ? digits(v) + narrow + "ms" : digits(v * 1000) + narrow + "µs",
    share: v => digits(v * 100) + narrow + "%",
    count: v => Math.round(v).toLocaleString("en-US"),
    seconds: v => write.ms(v * 1000), bytes, bytes_per_second: v => bytes(v) + "/s", elapsed: clock, ms_per_second: v => write.ms(v) + "/s",
  };
  const text = (unit, v) => v == null ? "–" : (write[unit] || digits)(v);
  const tick = (unit, v) => v == null ? "" : v === 0 && unit !== "elapsed" ? "0" : text(unit, v).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

  // A marker per ink, so that lines can be told apart without colour.
  const marker = (path, i, x, y, r) => {
    const poly = (...points) => { points.forEach(([dx, dy], k) => path[k ? "lineTo" : "moveTo"](x + dx * r, y + dy * r)); path.closePath(); };
    switch (i % 8) {
      case 1: return poly([-.9, -.9], [.9, -.9], [.9, .9], [-.9, .9]);
      case 2: return poly([0, -1.1], [1.1, .9], [-1.1, .9]);
      case 3: return poly([0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]);
      case 4: return poly([0, 1.1], [1.1, -.9], [-1.1, -.9]);
      case 5: return poly([-.4, -1.2], [.4, -1.2], [.4, -.4], [1.2, -.4], [1.2, .4], [.4, .4], [.4, 1.2], [-.4, 1.2], [-.4, .4], [-1.2, .4], [-1.2, -.4], [-.4, -.4]);
      case 6: return poly([-1.3, -.5], [1.3, -.5], [1.3, .5], [-1.3, .5]);
      case 7: return poly([-.5, -1.3], [.5, -1.3], [.5, 1.3], [-.5, 1.3]);
      default: path.moveTo(x + r, y); path.arc(x, y, r, 0, 2 * Math.PI);
    }
  };
  const points = i => (u, s, from, to) => {
    const path = new Path2D(), r = 4 * uPlot.pxRatio;
    for (let k = from; k <= to; k++) {
      const v = u.data[s][k];
      if (v != null) marker(path, i, u.valToPos(u.data[0][k], "x", true), u.valToPos(v, "y", true), r);
    }
    return {stroke: null, fill: path};
  };

  // Phases are shaded behind the lines and named above them, what is done to the cluster on a line of its own;
  // trouble and events are drawn over the lines.
  const behind = (chart, small) => u => {
    const {ctx, bbox} = u, px = uPlot.pxRatio, right = bbox.left + bbox.width, spans = chart.spans || [];
    const at = v => Math.min(Math.max(u.valToPos(v, "x", true), bbox.left), right);
    ctx.save();
    ctx.textBaseline = "bottom";
    spans.forEach((s, i) => {
      const from = at(s.from), to = at(s.to);
      if (to <= from) return;
      if (s.tint !== "calm") {
        ctx.fillStyle = css(s.tint);
        ctx.fillRect(from, bbox.top, Math.max(to - from, px), bbox.height);
        if (s.tint === "step") { ctx.fillStyle = css("muted"); ctx.fillRect(from, bbox.top, px / 2, bbox.height); }
      }
      if (small) return;
      const upper = s.tint === "disturbed", next = spans.slice(i + 1).find(n => n.tint === "disturbed");
      const room = (upper ? next ? at(next.from) : right : to) - from - 4 * px;
      ctx.font = `${upper ? "600 " : ""}${12 * px}px system-ui, sans-serif`;
      ctx.fillStyle = css(upper ? "fail" : "muted");
      let name = s.name;
      if (ctx.measureText(name).width > room) {
        while (name && ctx.measureText(name + "…").width > room) name = name.slice(0, -1);
        name = name.length > 2 ? name + "…" : "";
      }
      ctx.fillText(name, from + 2 * px, bbox.top - (upper ? 19 : 3) * px);
    });
    ctx.restore();
  };
  const above = chart => u => {
    const {ctx, bbox} = u, px = uPlot.pxRatio;
    const inside = x => x >= bbox.left && x <= bbox.left + bbox.width;
    ctx.save();
    ctx.lineWidth = px;
    ctx.strokeStyle = css("muted");
    ctx.setLineDash([2 * px, 3 * px]);
    for (const m of chart.marks || []) {
      const x = u.valToPos(m.at, "x", true);
      if (!inside(x)) continue;
      ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
    }
    ctx.setLineDash([]);
    ctx.lineWidth = 2 * px;
    ctx.strokeStyle = css("trouble");
    for (const t of chart.trouble || []) {
      const x = u.valToPos(t, "x", true);
      if (!inside(x)) continue;
      ctx.beginPath(); ctx.moveTo(x, bbox.top + bbox.height); ctx.lineTo(x, bbox.top + bbox.height - 7 * px); ctx.stroke();
    }
    ctx.restore();
  };

  const round = v => { const p = 10 ** Math.floor(Math.log10(v)); return [1, 2, 5, 10].map(m => m * p).find(t => t >= v * 0.9999); };
  const logTicks = (u, axis, min, max) => {
    const room = Math.max(u.bbox.height / uPlot.pxRatio / 34, 2);
    for (const choice of [[1, 2, 5], [1, 3], [1]]) {
      const all = [];
      for (let d = Math.floor(Math.log10(min) + 1e-9); d <= Math.log10(max) + 1e-9; d++)
        for (const m of choice) { const t = m * 10 ** d; if (t >= min * 0.999 && t <= max * 1.001) all.push(t); }
      if (all.length <= room + 1 || choice.length === 1) return all;
    }
  };
  const binary = [0, 1, 2, 3, 4].flatMap(k => [1, 2, 5, 10, 20, 50, 100, 200, 500].map(m => m * 1024 ** k));
  const floor = v => { const p = 10 ** Math.floor(Math.log10(v) + 1e-9); return [5, 2, 1].map(m => m * p).find(t => t <= v * 1.0001) || p; };

  function options(chart, log, data, width) {
    const colour = {stroke: css("muted"), grid: {stroke: css("hair"), width: 1}, ticks: {show: false}, font: "12px system-ui, sans-serif"};
    const ticks = chart.x.ticks, room = ticks ? 0.04 : 0;
    const small = data.small;
    const xRange = (u, min, max) => {
      if (ticks) { min = ticks[0]; max = ticks[ticks.length - 1]; if (min === max) return [min - 1, max + 1]; }
      else if (min === chart.xs[0] && max === chart.xs[chart.xs.length - 1]) {
        min = Math.min(chart.x.from, min); max = Math.max(chart.x.to, max);
      }
      if (chart.x.log) { const by = (max / min) ** room; return [min / by, max * by]; }
      return [min - (max - min) * room, max + (max - min) * room];
    };
    const yRange = (u, min, max) => {
      if (min == null) return log ? [1, 10] : [0, 1];
      if (log) return min === max ? [floor(min / 2), round(max * 2)] : [floor(min), round(max)];
      if (chart.y.zero || min >= 0 && min < max * 0.6) min = Math.min(min, 0);
      const by = (max - min || Math.abs(max) || 1) * 0.06;
      return [min === 0 ? 0 : min - by, max + by];
    };
    // Under the cursor the legend tells the place, with what happened there, and the values; else it only names the lines.
    const step = chart.xs.length > 1 ? chart.xs[1] - chart.xs[0] : 1;
    const place = v => {
      if (ticks && chart.x.labels) return chart.x.labels[ticks.indexOf(v)];
      const here = (chart.marks || []).filter(m => Math.abs(m.at - v) <= step * 0.75).map(m => m.name);
      return [text(chart.x.unit, v), ...new Set(here)].join(" · ");
    };
    const series = [{label: chart.x.label || "at", class: "place", value: (u, v) => v == null ? "" : place(v)}];
    const columns = [chart.xs], bands = [];
    const positive = values => log ? values.map(v => v > 0 ? v : null) : values;
    // A band that reaches down to zero is cut off at the lowest value: the page says so.
    const least = Math.min(...chart.lines.flatMap(l => [...l.values, ...(l.high || [])]).filter(v => v > 0));
    const bounded = values => log ? values.map(v => v == null ? null : Math.max(v, least)) : values;
    for (const l of chart.lines) {
      const stroke = ink(l.ink);
      columns.push(positive(l.values));
      series.push({
        label: l.name || chart.title, stroke, width: small ? 1.5 : 2, dash: dashes[l.ink % 8], value: (u, v) => u.cursor.idx == null ? "" : text(chart.y.unit, v),
        points: l.marked ? {show: true, paths: points(l.ink), fill: stroke} : {show: false},
      });
      if (l.low) {
        const at = columns.length;
        columns.push(positive(l.high), bounded(l.low));
        series.push({label: "high", class: "band", width: 0, points: {show: false}}, {label: "low", class: "band", width: 0, points: {show: false}});
        bands.push({series: [at, at + 1], fill: fade(stroke, 16)});
      }
    }
    return [{
      width, height: small ? 118 : width < 480 ? 240 : 280,
      padding: [(chart.spans || []).length && !small ? 36 : 10, ticks ? 8 : 20, 0, 0],
      cursor: {sync: data.sync ? {key: data.sync, setSeries: false} : undefined, points: {size: 7}, drag: {x: !ticks, y: false}, y: false},
      legend: {markers: {dash: (u, i) => series[i].dash && series[i].dash.length ? "dashed" : "solid", width: 3}},
      scales: {
        x: {time: false, distr: chart.x.log ? 3 : 1, log: 2, range: xRange},
        y: {distr: log ? 3 : 1, range: yRange},
      },
      axes: [
        {...colour, grid: {show: false}, size: 30, space: 64, label: small ? undefined : chart.x.label || undefined, labelSize: 20, labelFont: colour.font, labelGap: 0,
          splits: ticks ? () => ticks : undefined, filter: ticks ? (u, s) => s : undefined,
          incrs: chart.x.unit === "elapsed" ? [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400] : undefined,
          values: (u, s) => s.map((v, i) => ticks && chart.x.labels ? chart.x.labels[i] : tick(chart.x.unit, v))},
        {...colour, size: data.sync && !small ? 64 : (u, values) => Math.max(...(values || []).map(v => (v || "").length), 3) * 7 + 10, space: small ? 24 : 44,
          splits: log ? logTicks : undefined, filter: (u, s) => s, incrs: /^bytes/.test(chart.y.unit) ? binary : undefined,
          values: (u, s) => s.map(v => tick(chart.y.unit, v))},
      ],
      series, bands, hooks: {setCursor: [u => u.root.classList.toggle("pointed", u.cursor.idx != null)], drawClear: [behind(chart, small)], draw: [above(chart)]},
    }, columns];
  }

  function figure(element) {
    const data = figures[element.id], frame = frames[data.sync] || {}, plot = element.querySelector(".plot"), controls = element.querySelector(".controls");
    const logButton = element.querySelector("button.log");
    let view = data.first, log = data.views[view].y.log || false, chart = null;
    const draw = () => {
      if (!plot.clientWidth) return;
      if (chart) chart.destroy();
      const [o, columns] = options({...data.views[view], ...frame}, log, data, plot.clientWidth);
      chart = new uPlot(o, columns, plot);
    };
    element.classList.add("drawn");
    element.classList.toggle("single", data.views[0].lines.length === 1);
    plot.hidden = false;
    if (controls) controls.hidden = false;
    element.querySelectorAll("[data-view]").forEach((button, i, all) => button.addEventListener("click", () => {
      all.forEach(b => b.setAttribute("aria-pressed", b === button));
      view = i;
      draw();
    }));
    if (logButton) logButton.addEventListener("click", () => {
      log = !log;
      logButton.setAttribute("aria-pressed", log);
      draw();
    });
    plot.addEventListener("keydown", e => {
      const step = {ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity}[e.key];
      if (!step || !chart) return;
      e.preventDefault();
      const last = chart.data[0].length - 1, now = chart.cursor.idx == null ? step > 0 ? -1 : last + 1 : chart.cursor.idx;
      const to = Math.min(Math.max(now + step, 0), last);
      chart.setCursor({left: chart.valToPos(chart.data[0][to], "x"), top: 10}, true, true);
    });
    draw();
    let width = plot.clientWidth;
    new ResizeObserver(() => { if (plot.clientWidth !== width) { width = plot.clientWidth; draw(); } }).observe(plot);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  }

  // A table that is wider than its place says so: on a phone nothing else shows that there is more of it.
  const places = new ResizeObserver(all => all.forEach(e => e.target.classList.toggle("wide", e.target.scrollWidth > e.target.clientWidth + 1)));
  document.querySelectorAll(".scroll").forEach(s => places.observe(s));

  // Figures further down are drawn when they come near, so that a page of many signals opens at once.
  const near = new IntersectionObserver(entries => {
    for (const e of entries) if (e.isIntersecting) { near.unobserve(e.target); figure(e.target); }
  }, {rootMargin: "800px"});
  document.querySelectorAll(".chart-figure").forEach(f => near.observe(f));
})();
