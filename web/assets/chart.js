// Draws with uPlot over the pictures that the server drew: a cursor that all curves share, and dragging shows a shorter stretch, which
// stands in the address as any other does. Without JavaScript the pictures stay, and the buttons above them choose the stretch.
const uPlot = globalThis.uPlot, curves = document.getElementById("curves"), words = curves?.dataset ?? {};
const dashes = [[5, 3], [], [], [9, 3], [2, 3], [9, 3, 2, 3], [14, 4], [4, 4]]; // as the pictures'
const css = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const pad = n => String(n).padStart(2, "0");
const followed = !new URLSearchParams(location.search).has("to");
const drawn = new Map();
let answer, asking;

const digits = v => { const a = Math.abs(v); return a === 0 ? "0" : a >= 99.95 ? Math.round(v).toLocaleString("en-US") : a >= 9.995 ? v.toFixed(1) : a >= 0.9995 ? v.toFixed(2) : a >= 0.001 ? v.toFixed(3) : v.toPrecision(2); };
const millis = v => Math.abs(v) >= 999.5 ? digits(v / 1000) + " s" : v === 0 || Math.abs(v) >= 0.9995 ? digits(v) + " ms" : digits(v * 1000) + " µs";
const bytes = v => { let i = 0; for (; Math.abs(v) >= 1023.5 && i < 4; i++) v /= 1024; return digits(v) + " " + ["B", "KiB", "MiB", "GiB", "TiB"][i]; };
const write = {per_second: v => digits(v) + "/s", seconds: v => millis(v * 1000), ms: millis, bytes, bytes_per_second: v => bytes(v) + "/s", share: v => digits(100 * v) + " %"};
const text = (unit, v) => v == null ? "–" : (write[unit] ?? digits)(v);
const tick = (unit, v) => v === 0 ? "0" : text(unit, v).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

// The clock of the page: that of this browser, or UTC where the person chose it.
const utc = "utc" in words;
const at = seconds => { const d = new Date(1000 * (seconds + answer.begins)); return utc ? [d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds(), d.getUTCMonth() + 1, d.getUTCDate()] : [d.getHours(), d.getMinutes(), d.getSeconds(), d.getMonth() + 1, d.getDate()]; };
const clock = seconds => at(seconds).slice(0, 3).map(pad).join(":");

// What changed stands as a dotted line on every curve.
const marks = d => u => {
  const {ctx, bbox} = u, px = uPlot.pxRatio;
  ctx.save();
  ctx.lineWidth = 1.5 * px;
  ctx.strokeStyle = css("ink");
  ctx.setLineDash([2 * px, 3 * px]);
  for (const m of d.chart.marks ?? []) {
    const x = u.valToPos(m.at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
  }
  ctx.restore();
};

const zoom = u => {
  if (u.select.width < 8) return;
  const from = Math.floor(answer.begins + u.posToVal(u.select.left, "x")), to = Math.ceil(answer.begins + u.posToVal(u.select.left + u.select.width, "x"));
  const stretch = `?from=${from}&to=${Math.max(to, from + 10)}`;
  if (words.zoom) location.href = words.zoom + stretch; // of an alert: the instance in that stretch
  else location.search = stretch;
};

// columns are what uPlot is given of a chart: of each layer its upper and its lower edge.
const columns = chart => [chart.xs, ...chart.lines.flatMap(l => l.low ? [l.values, l.low] : [l.values])];

// options are made once for a figure; d.chart is what it shows now.
const options = (d, width, height) => {
  const colour = {stroke: css("muted"), grid: {stroke: css("hair"), width: 1}, ticks: {show: false}, font: "12px system-ui, sans-serif"};
  const span = () => d.chart.x.to - d.chart.x.from;
  const place = v => [clock(v), ...new Set((d.chart.marks ?? []).filter(m => Math.abs(m.at - v) <= Math.max(1, span() / 150)).map(m => m.name.replace(/^\S+ /, "")))].join(" · ");
  const series = [{label: words.at, class: "place", value: (u, v) => v == null ? "" : place(v)}], bands = [];
  d.chart.lines.forEach((l, n) => {
    const stroke = css("ink" + l.ink);
    const own = i => { const now = d.chart.lines[n], v = now?.values[i]; return v == null ? null : v - (now.low?.[i] ?? 0); }; // of the layer alone
    series.push({label: l.label ?? l.name, stroke, width: l.low ? 1.2 : 2, dash: l.low ? [] : dashes[l.ink % 8], points: {show: false}, value: (u, v, s, i) => i == null ? "" : text(d.chart.y.unit, own(i))});
    if (!l.low) return;
    series.push({label: l.label ?? l.name, class: "under", width: 0, points: {show: false}});
    bands.push({series: [series.length - 2, series.length - 1], fill: `color-mix(in srgb, ${stroke} 45%, transparent)`});
  });
  const roomy = u => { // no label upon another
    const all = d.chart.x.ticks ?? [], every = Math.ceil(all.length * (span() < 300 ? 66 : 46) / ((u.bbox.width / uPlot.pxRatio) || width));
    return all.filter((_, n) => n % every === 0);
  };
  return {
    width, height, padding: [10, 14, 0, 0], series, bands,
    cursor: {sync: {key: "instance", setSeries: false}, points: {size: 6}, drag: {x: true, y: false, setScale: false}, y: false},
    legend: {markers: {dash: (u, i) => series[i].dash?.length ? "dashed" : "solid", width: 3}},
    scales: {x: {time: false, range: () => [d.chart.x.from, d.chart.x.to]}, y: {range: (u, min, max) => [0, Math.max(max ?? 0, d.chart.y.to || 0) * 1.06 || 1]}},
    axes: [
      {...colour, grid: {show: false}, size: 28, splits: roomy, filter: (u, s) => s, values: (u, s) => s.map(v => span() > 172_800 ? at(v).slice(3).map(pad).join("-") : clock(v).slice(0, span() < 300 ? 8 : 5))},
      {...colour, size: 64, space: 34, values: (u, s) => s.map(v => tick(d.chart.y.unit, v))},
    ],
    hooks: {draw: [marks(d)], setSelect: [zoom], setCursor: [u => u.root.classList.toggle("pointed", u.cursor.idx != null)]},
  };
};

// put shows a chart in a figure: new data in the plot that is there, if its lines are the same.
const put = (figure, chart) => {
  const plot = figure.querySelector(".plot"), width = plot.clientWidth, height = figure.classList.contains("wide") ? (width < 480 ? 220 : 300) : 190;
  const kind = [width, css("ink"), ...chart.lines.map(l => l.label ?? l.name)].join("\n");
  const old = drawn.get(figure);
  if (old?.kind === kind) { old.chart = chart; old.plot.setData(columns(chart)); return; }
  old?.plot.destroy();
  const d = {chart, kind};
  plot.replaceChildren();
  d.plot = new uPlot(options(d, width, height), columns(chart), plot);
  drawn.set(figure, d);
};

const show = () => {
  for (const figure of curves.querySelectorAll("figure[data-chart]")) {
    const chart = answer.charts.find(c => c.title === figure.dataset.chart);
    if (!chart) continue;
    figure.setAttribute("data-drawn", "");
    figure.removeAttribute("tabindex"); // a picture scrolls, and what is drawn over it does not
    put(figure, chart);
  }
};

const ask = async () => {
  if (document.hidden || curves.querySelector(".pointed")) return; // who reads values does not want them to move
  const got = await fetch(location.href, {headers: {Accept: "application/json"}});
  if (!got.ok) return;
  answer = await got.json();
  answer.charts ??= [];
  answer.begins = Date.parse(answer.begins) / 1000;
  show();
};

// draw is called when the server sent what it drew: what it drew first is drawn over, and what is drawn over stays.
export const draw = element => { if (element === curves && answer) show(); };

// plots tells that curves are drawn here, and need not be sent as pictures.
export const plots = Boolean(curves && uPlot);

if (plots) {
  const again = () => { clearTimeout(asking); asking = setTimeout(async () => { try { if (followed) await ask(); } finally { again(); } }, 1000 * Math.max(2, Number(words.step))); };
  ask().finally(again);
  let width = innerWidth;
  addEventListener("resize", () => { if (width !== innerWidth && answer) { width = innerWidth; show(); } });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => answer && show());
}
