// Tabs of one card, after https://www.w3.org/WAI/ARIA/apg/patterns/tabs/: arrows move, one panel is shown.

/** Wires the tabs in `card`; `prefix` makes ids of them. Returns `choose(name)` and `chosen()`. */
export function makeTabs(card, prefix) {
  const tabs = [...card.querySelectorAll("[data-tab]")];
  const panels = new Map([...card.querySelectorAll("[data-panel]")].map((panel) => [panel.dataset.panel, panel]));
  let shown = null;

  function choose(name) {
    if (name === shown) return;
    shown = name;
    for (const tab of tabs) {
      const right = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", String(right));
      tab.tabIndex = right ? 0 : -1;
      panels.get(tab.dataset.tab).hidden = !right;
    }
    card.dispatchEvent(new CustomEvent("tabchosen"));
  }

  for (const tab of tabs) {
    const panel = panels.get(tab.dataset.tab);
    tab.id = `${prefix}-tab-${tab.dataset.tab}`;
    panel.id = `${prefix}-panel-${tab.dataset.tab}`;
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => choose(tab.dataset.tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
      choose(next.dataset.tab);
      next.focus();
    });
  }
  choose(tabs[0].dataset.tab);
  return { choose, chosen: () => shown };
}
