// Keys: ? shows them, / searches, g and a letter goes to a page, j and k move in a list, Enter opens, a opens an approval and never sends it.
const pages = {n: "/", f: "/fleet", a: "/alerts", d: "/advice", t: "/trials", r: "/runs", b: "/runbooks"};
let going = false;
const rows = () => [...document.querySelectorAll("main .rows tbody th a, main .ask h3 a, main .books a")];
const move = by => { const all = rows(), at = all.indexOf(document.activeElement); all[Math.min(Math.max(at + by, 0), all.length - 1)]?.focus(); };
document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea")) { if (e.key === "Escape") e.target.blur(); return; }
  if (going) { going = false; const to = pages[e.key]; if (to) { e.preventDefault(); location.href = to; } return; }
  switch (e.key) {
    case "g": going = true; setTimeout(() => going = false, 1500); break;
    case "j": move(1); break;
    case "k": move(-1); break;
    case "/": { const field = document.querySelector("main input[type=search]"); if (field) { e.preventDefault(); field.focus(); } break; }
    case "a": document.querySelector("main .ask a.button")?.focus(); break;
    case "?": { const help = document.getElementById("keys"); help.hidden = !help.hidden; break; }
    case "Escape": document.getElementById("keys").hidden = true; break;
  }
});
