// Cells: the code that a model wrote, cell by cell, with its output, and the tools that an agent called. They are shown a
// page at a time.

import { button, el, fill } from './dom.js';
import { count, time } from './units.js';
import { cellState, toolState } from './tree.js';
import { cellTexts, toolTexts } from './detail.js';

const PAGE = 30;

/** The panel. `show(run)` appends new cells; existing ones never change. */
export function cells({ origin, runId }) {
  const none = el('p', { class: 'empty' }, 'No code has run and no tool was called yet. The recursive loop runs cells; an agent calls tools.');
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
      if (run.nCells + run.nTools === all.length) return draw();
      all = [...run.cells.values(), ...run.tools.values()]
        .flat()
        .sort((a, b) => a.seq - b.seq);
      return draw();
    },
  };
}

function card(item, origin, runId) {
  const { title, className, facts, texts } = item.paths ? ofTool(item) : ofCell(item);
  const body = el('div', { class: 'cell-body' });
  const element = el(
    'details',
    { class: `cell ${className}` },
    el('summary', {}, el('strong', {}, title), ' ', el('span', { class: 'n' }, facts.filter(Boolean).join(' · '))),
    body,
  );
  let isLoaded = false;
  element.addEventListener('toggle', () => {
    if (!element.open || isLoaded) return;
    isLoaded = true;
    fill(body, texts({ origin, runId }));
  });
  element.open = true;
  return element;
}

function ofCell(cell) {
  return {
    title: `Cell ${cell.id}`,
    className: cell.outcome.is ?? '',
    facts: [
      cellState(cell),
      time(cell.tookMs),
      cell.calls ? count(cell.calls, 'call') : '',
      cell.children ? count(cell.children, 'child frame') : '',
    ],
    texts: (context) => cellTexts(context, cell),
  };
}

function ofTool(tool) {
  return {
    title: `${tool.name} ${tool.id}`,
    className: tool.hasFailed ? 'raised' : '',
    facts: [toolState(tool), time(tool.tookMs), tool.paths.join(', ')],
    texts: (context) => toolTexts(context, tool),
  };
}
