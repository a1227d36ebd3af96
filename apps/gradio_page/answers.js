// The answers as they are drawn. One belongs to what stood in its tab's boxes when it was asked for:
// while something else stands there, it is marked as an old one, until the new one comes, or what
// was changed is changed back. A long passage is scrolled to the answer that is marked in it. And
// screen readers hear of a new answer when the typing pauses: its headings, not every bar.
(() => {
  const MOST = 200; // events that are remembered
  const PAUSE_MS = 700;
  const HEADINGS =
    "header h3, .za-best, .za-sentence, .za-asked + table .za-winner .za-name";
  const asked = new Map(); // number of an event → what stood in the boxes of its tab
  const tabs = () => [...document.querySelectorAll("[role=tabpanel]")];

  function boxes(tab) {
    const found = [...tab.querySelectorAll("textarea, input")];
    return JSON.stringify(found.map((box) => (box.type === "radio" ? box.checked : box.value)));
  }

  // The result of a job that was done with another model than is chosen now.
  function isOfOther(tab) {
    const done = tab.querySelector(".za-result [data-setting]")?.dataset.setting;
    const chosen = tab.querySelector("input[type=radio]:checked")?.value;
    return done !== undefined && chosen !== undefined && done !== chosen;
  }

  function mark(tab) {
    const number = tab.querySelector(".za-result [data-moment]")?.dataset.moment;
    const isOld = (asked.has(number) && asked.get(number) !== boxes(tab)) || isOfOther(tab);
    for (const panel of tab.querySelectorAll(".za-result")) {
      if (isOld === "old" in panel.dataset) continue;
      if (isOld) panel.dataset.old = document.getElementById("copy-link").dataset.old;
      else delete panel.dataset.old;
      panel.setAttribute("aria-busy", isOld);
    }
  }

  // An event of the tab that is seen gets its number; see page.js.
  window.zaAsked = (number) => {
    const tab = tabs().find((one) => one.offsetParent);
    if (!tab) return;
    asked.set(String(number), boxes(tab));
    if (asked.size > MOST) asked.delete(asked.keys().next().value);
    mark(tab);
  };

  function scroll(found) {
    const box = found.closest(".za-flow");
    const above = found.getBoundingClientRect().top - box.getBoundingClientRect().top;
    box.scrollTop += above - (box.clientHeight - found.offsetHeight) / 2; // the page stays
  }

  // Gradio may draw the tabs before the header, which holds the line.
  function tell(text) {
    const line = document.getElementById("answer-said");
    if (line) line.textContent = text;
  }

  let said = "";
  let pausing = 0;
  function say() {
    const tab = tabs().find((one) => one.offsetParent);
    const stamp = tab?.querySelector(".za-result :is([data-moment], [data-setting])");
    if (tab?.querySelector(".za-result[data-old]")) return; // the new one is still to come
    const found = stamp ? [...tab.querySelectorAll(HEADINGS)] : [];
    const text = found.map((one) => one.innerText.replace(/\s+/g, " ")).join("; ");
    const answer = stamp ? stamp.outerHTML + text : "";
    if (answer !== said) tell(text);
    said = answer; // a job that has ended is drawn again each minute
  }

  const markAll = () => tabs().forEach(mark);
  const drawn = new MutationObserver((changes) => {
    markAll();
    if (changes.some(({ target }) => target.closest?.("[role=tabpanel]"))) {
      tell(""); // or it is silent if it is the same
      clearTimeout(pausing);
      pausing = setTimeout(say, PAUSE_MS);
    }
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      node.querySelectorAll?.(".za-passage .za-found").forEach(scroll);
    }
  });
  for (const kind of ["input", "change"]) addEventListener(kind, markAll);
  drawn.observe(document.documentElement, { childList: true, subtree: true });
})();
