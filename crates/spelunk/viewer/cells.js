// Cells: the code that a model wrote, block by block, with what each printed. Text is fetched when a cell is opened or
// comes into sight.

import { button, el, fill } from './dom.js';
import { count, time } from './units.js';
import { cellState } from './tree.js';
import { cellTexts } from './detail.js';

const PAGE = 30;

/** The panel. `show(run)` adds what is new; cells never change. */
export function cells({ origin, runId }) {
  const none = el('p', { class: 'empty' }, 'No code has run: only the recursive loop writes cells.');
  const body = el('div', {});
  const more = el('div', { class: 'tools' });
  const element = el('div', {}, none, body, more);
  let all = [];
  let nShown = 0;
  let shownMax = PAGE;
  const draw = () => {
    none.hidden = all.length > 0;
    for (; nShown < Math.min(all.length, shownMax); nShown += 1) body.append(card(all[nShown], origin, runId));
    fill(
      more,
      all.length > nShown
        ? button(`Show ${Math.min(PAGE, all.length - nShown)} more of ${all.length}`, () => {
            shownMax += PAGE;
            draw();
          })
        : null,
    );
  };
  return {
    element,
    show(run) {
      if (run.nCells === all.length) return draw();
      all = Array.from(run.cells.values())
        .flat()
        .sort((a, b) => a.seq - b.seq);
      return draw();
    },
  };
}

function card(cell, origin, runId) {
  const body = el('div', { class: 'cell-body' });
  const facts = [
    cellState(cell),
    time(cell.tookMs),
    cell.calls ? count(cell.calls, 'call') : '',
    cell.children ? count(cell.children, 'child frame') : '',
  ].filter(Boolean);
  const element = el(
    'details',
    { class: `cell ${cell.outcome.is ?? ''}` },
    el('summary', {}, el('strong', {}, `Cell ${cell.id}`), ' ', el('span', { class: 'n' }, facts.join(' · '))),
    body,
  );
  let isLoaded = false;
  element.addEventListener('toggle', () => {
    if (!element.open || isLoaded) return;
    isLoaded = true;
    fill(body, cellTexts({ origin, runId }, cell));
  });
  element.open = true;
  return element;
}
