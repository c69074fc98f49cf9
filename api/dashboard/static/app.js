// What pages do beyond links and forms: check all, keys, and what a screen reader hears.
"use strict";

const announce = (text) => {
  document.getElementById("announce").textContent = text;
};

document.addEventListener("change", (event) => {
  const name = event.target.dataset && event.target.dataset.checkAll;
  if (!name) return;
  // the form's elements: those beside it that name it are among them
  for (const box of event.target.form.elements) {
    if (box.name === name) box.checked = event.target.checked;
  }
});

// choosing a language or a theme needs no second step
for (const select of document.querySelectorAll(".choices select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}
document.documentElement.classList.add("scripted");

// review: j and k walk through the insights, the other keys press what is shown on the one in focus
const insights = () => [...document.querySelectorAll("[data-insight]")];
const current = () => document.activeElement && document.activeElement.closest("[data-insight]");
const ACTS = { a: "accept", x: "reject", e: "edit", o: "open", i: "identity", " ": "choose" };

const walk = (step) => {
  const all = insights();
  const at = all.indexOf(current());
  const next = all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)];
  if (next) next.focus();
  return Boolean(next);
};

const act = (key) => {
  const target = current() && ACTS[key] && current().querySelector(`[data-act="${ACTS[key]}"]`);
  if (!target) return false;
  if (target.matches("details")) target.open = !target.open;
  else target.click();
  return true;
};

let place = 0;
document.addEventListener("htmx:beforeRequest", () => {
  place = Math.max(insights().indexOf(current()), 0);
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id !== "inbox" && !event.target.closest("#inbox")) return;
  const all = insights();
  if (!current() && all.length) all[Math.min(place, all.length - 1)].focus();
});

const typing = (target) => target.matches("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form) {
    if (event.target.matches("[data-submit-key]")) event.target.form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (typing(event.target) && event.target.type !== "checkbox") return;
  const step = { j: 1, k: -1 }[event.key];
  const pressed = event.key === " " && event.target.matches("button, summary, a, input");
  if (!pressed && (step ? walk(step) : act(event.key))) {
    event.preventDefault();
    return;
  }
  const wanted = CSS.escape(event.key);
  const target = document.querySelector(`[data-key="${wanted}"]`);
  if (!target) return;
  event.preventDefault();
  if (target.matches("input, textarea, select")) target.focus();
  else target.click();
});

document.addEventListener("htmx:afterSwap", (event) => {
  const said = event.target.querySelector && event.target.querySelector('[role="status"]');
  if (said) announce(said.textContent);
});

// a live part that says another state than before is read out, its figures are not
let state = "";
document.addEventListener("htmx:sseMessage", () => {
  const title = document.getElementById("state-title");
  if (title && title.textContent !== state) {
    if (state) announce(title.textContent);
    state = title.textContent;
  }
});
