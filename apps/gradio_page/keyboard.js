// What Gradio leaves out for the keyboard and for screen readers:
// - It gives each radio of a choice a name of its own: no arrow key goes from one to the next, and
//   each is told as the only one. Here those of a choice are one group, with the choice's label.
// - Its tabs are reached by the Tab key only, one after the other. Here the row of tabs is one stop,
//   arrow keys, Home and End choose among them, and a panel has the name of its tab.
(() => {
  const tabs = () => [...document.querySelectorAll("[role=tablist] [role=tab]")];

  function set(element, name, value) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value); // or it never ends
  }

  function complete() {
    for (const choice of document.querySelectorAll("fieldset:has(input[type=radio])")) {
      set(choice, "role", "radiogroup");
      const label = choice.querySelector("[data-testid=block-info]");
      if (label) set(choice, "aria-label", label.textContent.trim());
      for (const radio of choice.querySelectorAll("input")) set(radio, "name", choice.id);
    }
    for (const tab of tabs()) {
      const selected = tab.ariaSelected === "true";
      set(tab, "tabindex", selected ? "0" : "-1");
      if (!selected) continue;
      const shown = [...document.querySelectorAll("[role=tabpanel]")].find((one) => one.offsetParent);
      if (shown) set(shown, "aria-label", tab.textContent.trim());
    }
  }

  addEventListener("keydown", (event) => {
    const all = tabs();
    const at = all.indexOf(event.target);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1 }[event.key];
    if (at < 0 || to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = all.at(to % all.length);
    next.focus();
    next.click();
  });
  new MutationObserver(complete).observe(document.documentElement, {
    attributeFilter: ["aria-selected", "name"],
    childList: true,
    subtree: true,
  });
})();
