// What stands in the address: the tab, what was typed there and which model was chosen. It stands
// behind the "#", which browsers keep to themselves: no server, and no log of one, ever sees it.
(() => {
  const LIMIT = 2000; // characters of all texts together; chat programs cut longer addresses
  const first = {}; // what stands in the boxes of a new page
  const now = {};
  const asked = new URLSearchParams((whole() ?? location.hash).slice(1));
  let tab = ""; // none until the page is filled
  let pending = 0;

  const written = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? ""));

  function fragment(limit) {
    const parts = new URLSearchParams({ tab });
    let characters = 0;
    for (const [key, value] of Object.entries(now)) {
      const [of, name] = key.split(".");
      if (of !== tab || written(value) === written(first[key])) continue;
      characters += written(value).length;
      if (characters <= limit) parts.set(name, written(value));
    }
    return { hash: "#" + parts, characters };
  }

  // Longer texts than an address holds stay in the browser's tab: Gradio loads the page again
  // whenever it has lost the server for a moment.
  function whole() {
    const again = performance.getEntriesByType("navigation")[0].type !== "navigate";
    const kept = JSON.parse(sessionStorage.zaTexts ?? "{}");
    return again && kept.shown === location.hash ? kept.whole : undefined;
  }

  function remember() {
    const { hash, characters } = fragment(Infinity);
    delete sessionStorage.zaTexts;
    try {
      if (characters <= LIMIT) return;
      sessionStorage.zaTexts = JSON.stringify({ shown: location.hash, whole: hash });
    } catch {} // more than the browser keeps
  }

  // Not "#…" alone: that would be read from the page's base, which has no "?lang=".
  const show = (hash) => history.replaceState(null, "", location.pathname + location.search + hash);

  function write() {
    clearTimeout(pending);
    pending = setTimeout(() => {
      if (!document.documentElement.dataset.filled) return; // texts of the link are still missing
      show(fragment(LIMIT).hash);
      remember();
    }, 300);
  }

  // To write back what stood there would undo what somebody typed meanwhile.
  const untouched = { __type__: "update" };

  // What a link says is only taken if the box can hold it.
  function read(text, box) {
    let value = text;
    try {
      if (box.json) value = JSON.parse(text);
    } catch {
      return untouched;
    }
    if (box.choices && !box.choices.includes(value)) return untouched;
    const fits = typeof value === "number" && value >= box.low && value <= box.high;
    if ("low" in box && !fits) return untouched;
    return value;
  }

  const key = (box) => `${box.tab}.${box.name}`;
  const given = (box) => box.tab === tab && asked.has(box.name);
  const told = (box) => (given(box) ? read(asked.get(box.name), box) : untouched);

  // Fills all but the texts, and notes what stands in each box.
  function restore(tabs, boxes, values) {
    tab = tabs.includes(asked.get("tab")) ? asked.get("tab") : tabs[0];
    boxes.forEach((box, index) => {
      first[key(box)] = box.first;
      now[key(box)] = values[index];
    });
    const others = boxes.filter((box) => !box.text);
    return [{ __type__: "update", selected: tab }, ...others.map(told)];
  }

  // The texts come last: it is their change that makes the page answer.
  function texts(boxes) {
    document.documentElement.dataset.filled = "yes"; // whoever drives the page may begin
    const values = boxes.map(told);
    boxes.forEach((box, index) => {
      if (values[index] !== untouched) now[key(box)] = values[index];
    });
    return values;
  }

  async function copy(button) {
    const { hash, characters } = fragment(LIMIT);
    const said = document.getElementById("link-said");
    said.textContent = button.dataset.done;
    if (characters > LIMIT) {
      said.textContent = button.dataset.long.replace("{count}", characters.toLocaleString("en"));
    } else {
      show(hash);
      try {
        await navigator.clipboard.writeText(location.href);
      } catch {
        said.textContent = button.dataset.failed;
      }
    }
    setTimeout(() => (said.textContent = ""), 8000);
  }

  // Who may see a job: whoever has this secret, which stays when the page is loaded again. A tab
  // that is duplicated begins with a copy of it, and would give up the job of the other one: so a
  // page holds a lock on its secret, and whoever does not get it makes a secret of its own.
  const secret = () => crypto.getRandomValues(new Uint32Array(4)).join("-");
  const LEFT_MS = 4000; // in which the page before in the same tab has let go of the lock
  const owned = (name) =>
    new Promise((go, fail) => {
      if (!navigator.locks) return go(name); // not over plain http from another computer
      const held = () => (go(name), new Promise((left) => addEventListener("pagehide", left)));
      navigator.locks.request(name, { signal: AbortSignal.timeout(LEFT_MS) }, held).catch(fail);
    });
  const owner = owned((sessionStorage.zaOwner ||= secret())).catch(() =>
    owned((sessionStorage.zaOwner = secret())),
  );
  window.zaMine = async (values) => [...values.slice(0, -1), await owner];

  // When an event was: the server drops the answer to what this page asked before its latest one.
  // A box tells that it has changed a little late, now and then behind the Enter that asked about
  // that very text; then it is no later event, and 0 is before all others.
  const page = secret();
  let number = 0;
  let answering = "";
  window.zaNow = (values, kind) => {
    const given = JSON.stringify(values.slice(0, -1));
    const late = kind === "typed" && given === answering;
    if (!late) answering = kind === "asked" ? given : "";
    if (!late) zaAsked(++number);
    return [...values.slice(0, -1), [page, late ? 0 : number]];
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("#copy-link");
    if (button) copy(button);
    const other = event.target.closest("#language");
    if (other && tab) {
      event.preventDefault();
      location.href = other.getAttribute("href") + fragment(Infinity).hash;
    }
  });
  // A file that is dropped beside its box: browsers would open it in place of the page.
  for (const kind of ["dragover", "drop"]) {
    addEventListener(kind, (event) => {
      if (!event.dataTransfer.types.includes("Files") || event.defaultPrevented) return;
      event.dataTransfer.dropEffect = "none";
      event.preventDefault();
    });
  }
  addEventListener("hashchange", () => location.reload()); // a link was put into the open page

  window.zaLink = {
    restore,
    texts,
    keep(name, value) {
      now[name] = value;
      write();
    },
    show(name) {
      if (!tab) return; // Gradio opens the first tab before the page is filled
      tab = name;
      write();
    },
  };
})();
