// What pages do beyond links and forms: check all, keys, and what a screen reader hears.
"use strict";

const announce = (text) => {
  document.getElementById("announce").textContent = text;
};

document.addEventListener("change", (event) => {
  const name = event.target.dataset && event.target.dataset.checkAll;
  if (!name) return;
  for (const box of event.target.form.querySelectorAll(`input[name="${name}"]`)) {
    box.checked = event.target.checked;
  }
});

// choosing a language or a theme needs no second step
for (const select of document.querySelectorAll(".choices select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}
document.documentElement.classList.add("scripted");

const typing = (target) => target.matches("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form) {
    if (event.target.matches("[data-submit-key]")) event.target.form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (typing(event.target) && event.target.type !== "checkbox") return;
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
