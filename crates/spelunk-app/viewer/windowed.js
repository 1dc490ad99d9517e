// Windowed: a list of any length in which only visible rows are elements. All rows have the same height. For the keyboard
// it is a listbox (or a tree): arrows, j and k, Home, End and Page keys move, Enter opens.

import { el } from './dom.js';

const ROWS_AROUND = 8;

/**
 * `row(item, idx)` returns the children of a row, `key(item)` its key; `open(item)` is called when a row is chosen. `more`
 * maps further keys to handlers for the current row. The list has `element`, `show(items)`, `select(key)`.
 */
export function windowed({
  label,
  rowPx,
  row,
  key,
  open,
  classOf = () => '',
  name = 'list',
  roles = ['listbox', 'option'],
  attributes = () => ({}),
  more = {},
}) {
  const space = el('div', { class: 'space', role: 'presentation' });
  const element = el(
    'div',
    { class: 'windowed', role: roles[0], tabindex: '0', 'aria-label': label, data: { list: name } },
    space,
  );
  let items = [];
  let at = 0;
  let chosen = null;
  let isPressed = false;
  let waiting = null;
  const idOf = (idx) => `${name}-${idx}`;

  const draw = () => {
    const first = Math.max(0, Math.floor(element.scrollTop / rowPx) - ROWS_AROUND);
    const last = Math.min(
      items.length,
      Math.ceil((element.scrollTop + (element.clientHeight || 400)) / rowPx) + ROWS_AROUND,
    );
    space.style.setProperty('height', `${items.length * rowPx}px`);
    const rows = [];
    for (let idx = first; idx < last; idx += 1) {
      const isChosen = key(items[idx]) === chosen;
      const line = el(
        'div',
        {
          class: `row ${classOf(items[idx])}${idx === at ? ' at' : ''}`,
          role: roles[1],
          id: idOf(idx),
          'aria-selected': String(isChosen),
          'aria-posinset': String(idx + 1),
          'aria-setsize': String(items.length),
          data: { idx: String(idx) },
          ...attributes(items[idx]),
        },
        row(items[idx], idx),
      );
      line.style.setProperty('top', `${idx * rowPx}px`);
      line.style.setProperty('height', `${rowPx}px`);
      rows.push(line);
    }
    space.replaceChildren(...rows);
    if (items.length > 0 && at >= first && at < last) element.setAttribute('aria-activedescendant', idOf(at));
    else element.removeAttribute('aria-activedescendant');
  };

  const go = (to) => {
    if (items.length === 0) return;
    at = Math.min(items.length - 1, Math.max(0, to));
    const top = at * rowPx;
    if (top < element.scrollTop) element.scrollTop = top;
    const bottom = top + rowPx - element.clientHeight;
    if (bottom > element.scrollTop) element.scrollTop = bottom;
    draw();
  };
  const choose = (idx) => {
    if (!items[idx]) return;
    at = idx;
    chosen = key(items[idx]);
    draw();
    open(items[idx]);
  };
  const page = () => Math.max(1, Math.floor(element.clientHeight / rowPx) - 1);
  const steps = {
    ArrowDown: () => go(at + 1),
    j: () => go(at + 1),
    ArrowUp: () => go(at - 1),
    k: () => go(at - 1),
    PageDown: () => go(at + page()),
    PageUp: () => go(at - page()),
    Home: () => go(0),
    End: () => go(items.length - 1),
    Enter: () => choose(at),
    ' ': () => choose(at),
  };
  element.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = Object.hasOwn(steps, event.key) ? steps[event.key] : null;
    const extra = Object.hasOwn(more, event.key) && items[at] ? () => more[event.key](items[at]) : null;
    if (!step && !extra) return;
    event.preventDefault();
    event.stopPropagation();
    (step ?? extra)();
  });
  // A row that is replaced between press and release gets no click, so updates wait for the release.
  element.addEventListener('pointerdown', () => {
    isPressed = true;
    const release = () =>
      setTimeout(() => {
        isPressed = false;
        if (waiting) show(waiting);
      });
    for (const end of ['pointerup', 'pointercancel']) window.addEventListener(end, release, { once: true });
  });
  element.addEventListener('click', (event) => {
    const line = event.target.closest('.row');
    if (line) choose(Number(line.dataset.idx));
  });
  element.addEventListener('scroll', () => requestAnimationFrame(draw), { passive: true });
  new ResizeObserver(draw).observe(element);
  const show = (next) => {
    waiting = isPressed ? next : null;
    if (isPressed) return;
    items = next;
    at = Math.min(at, Math.max(0, items.length - 1));
    draw();
  };
  return {
    element,
    show,
    select(wanted) {
      chosen = wanted;
      const idx = items.findIndex((item) => key(item) === wanted);
      if (idx >= 0) go(idx);
      else draw();
    },
  };
}
