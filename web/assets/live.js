// Keeps the page up to date: by one stream, by asking again and again where streams do not get through, and it says which.
const {draw, plots} = document.getElementById("curves") ? await import("./chart.js") : {draw: () => {}, plots: false}; // few pages have curves
const badge = document.getElementById("live"), words = badge.dataset;
const here = () => location.pathname + location.search;
const mute = 12_000, poll = 2_000;
let sent = words.sent; // the token of this page: what it shows need not be sent again
let source, heard = Date.now(), losses = 0, polling, fresh = Date.now();

const clock = t => new Date(t).toTimeString().slice(0, 8);
const say = (state, text) => { badge.hidden = false; badge.className = "live is-" + state; badge.lastChild.textContent = text; };

// morph makes an element like another and keeps what a person has done with it: focus, selection, what is open, what is written.
export const morph = (old, next) => {
  if (old.nodeType !== next.nodeType || old.nodeName !== next.nodeName || old.id !== next.id || old.dataset?.key !== next.dataset?.key) { old.replaceWith(next); return; }
  if (old.nodeType !== 1) { if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue; return; }
  if (plots && old.dataset.chart && old.dataset.chart === next.dataset.chart) return; // what is drawn, or the picture until it is
  const kept = old.nodeName === "DETAILS" ? ["open"] : ["INPUT", "SELECT", "OPTION"].includes(old.nodeName) ? ["value", "checked", "selected"] : [];
  for (const a of [...old.attributes]) if (!next.hasAttribute(a.name) && !kept.includes(a.name)) old.removeAttribute(a.name);
  for (const a of next.attributes) if (old.getAttribute(a.name) !== a.value && !kept.includes(a.name)) old.setAttribute(a.name, a.value);
  children(old, next);
};
const children = (old, next) => {
  const want = [...next.childNodes];
  want.forEach((n, i) => { const o = old.childNodes[i]; if (o) morph(o, n); else old.append(n); });
  while (old.childNodes.length > want.length) old.lastChild.remove();
};

const place = (id, html) => {
  const element = document.getElementById(id);
  if (!element) return;
  const next = document.createElement("template");
  next.innerHTML = html;
  children(element, next.content);
  draw(element);
};
// patch takes the rows of a table that changed, and their order if it did.
const patch = (id, rows = {}, order) => {
  const element = document.getElementById(id);
  if (!element) return;
  const focused = document.activeElement, there = new Map([...element.querySelectorAll("[data-key]")].map(e => [e.dataset.key, e]));
  const table = there.values().next().value?.parentNode ?? element.querySelector("tbody");
  for (const [key, html] of Object.entries(rows)) {
    const made = document.createElement("template");
    made.innerHTML = html;
    const next = made.content.firstElementChild;
    if (there.has(key)) morph(there.get(key), next); else { table.append(next); there.set(key, next); }
  }
  if (order) {
    const wanted = new Set(order);
    for (const [key, e] of there) if (!wanted.has(key)) e.remove();
    let at = table.firstElementChild;
    for (const key of order) { const e = there.get(key); if (e === at) at = at.nextElementSibling; else if (e) table.insertBefore(e, at); }
  }
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({preventScroll: true});
};
const well = state => { fresh = Date.now(); say(state, state === "live" ? words.well : words.polling); };

const ask = async () => {
  try {
    const answer = await fetch(here(), {headers: {Accept: "text/html"}, signal: AbortSignal.timeout(10_000)});
    if (answer.status === 401) return location.reload();
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const e of page.querySelectorAll("[data-live]")) place(e.id, e.innerHTML);
    well("polling");
  } catch { say("stale", words.stale + " " + clock(fresh)); }
};

const close = () => { source?.close(); source = undefined; clearInterval(polling); polling = undefined; };
const open = () => {
  close();
  heard = Date.now();
  source = new EventSource("/live?page=" + encodeURIComponent(here() + (plots ? (location.search ? "&" : "?") + "plots=drawn" : "")) + (sent ? "&sent=" + sent : ""));
  sent = "";
  const hear = () => { heard = Date.now(); losses = 0; clearInterval(polling); polling = undefined; well("live"); };
  source.addEventListener("part", e => { hear(); const {id, html, rows, order} = JSON.parse(e.data); if (rows || order) patch(id, rows, order); else place(id, html ?? ""); });
  source.addEventListener("ping", hear);
  source.addEventListener("bye", e => { if (e.data.includes("session")) location.reload(); });
};
const watch = () => {
  if (document.hidden || Date.now() - heard < mute) return;
  if (!polling) say("stale", words.stale + " " + clock(fresh)); // who asks says it where no answer comes
  heard = Date.now();
  if (++losses >= 3 && !polling) { polling = setInterval(ask, poll); ask(); }
  const asking = polling; polling = undefined; open(); polling = asking;
};

// What is relative to now goes on by itself.
const units = [[86_400 * 2, 86_400, words.days], [3600, 3600, words.hours], [60, 60, words.minutes], [0, 1, words.seconds]];
const age = () => {
  for (const e of document.querySelectorAll("time[data-ago]")) {
    const s = Math.max(0, (Date.now() - Date.parse(e.dateTime)) / 1000);
    const [, unit, word] = units.find(([from]) => s >= from);
    e.textContent = s < 5 ? words.now : words.ago.replace("{0}", word.replace("{0}", Math.floor(s / unit)));
  }
};

if (document.querySelector("[data-live]")) {
  open();
  setInterval(watch, 1000);
  setInterval(age, 5000);
  document.addEventListener("visibilitychange", () => document.hidden ? close() : open());
  addEventListener("pagehide", close);
}
