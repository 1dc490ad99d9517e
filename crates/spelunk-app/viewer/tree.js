// Tree: the frames of a run, each with its calls, cells and children in the order in which they began. Only the rows in
// sight are elements, so a run of ten thousand calls is as quick as one of ten.

import { el, plain } from './dom.js';
import { windowed } from './windowed.js';
import { count, dollars, head, time, tokens, whole } from './units.js';

const ROW_PX = 30;
const DEPTH_SHOWN_MAX = 12;

/** The rows of a tree in order; what lies below a closed frame is left out. */
export function rows(run, closed) {
  const shown = [];
  // A stack of our own: depth is chosen by whoever wrote the journal.
  const stack = [{ twigs: run.children.get('') ?? [], idx: 0, depth: 0 }];
  while (stack.length > 0) {
    const top = stack[stack.length - 1];
    const twig = top.twigs[top.idx];
    top.idx += 1;
    if (!twig) {
      stack.pop();
      continue;
    }
    const below = twig.kind === 'frame' ? (run.children.get(twig.id) ?? []) : [];
    const isOpen = below.length > 0 && !closed.has(twig.id);
    shown.push({ ...twig, depth: top.depth, hasMore: below.length > 0, isOpen });
    if (isOpen) stack.push({ twigs: below, idx: 0, depth: top.depth + 1 });
  }
  return shown;
}

/** The tree as a list. `onOpen(kind, id)` is called when a row is chosen. */
export function tree({ onOpen }) {
  const closed = new Set();
  let run = null;
  const toggle = (row, wanted) => {
    if (!row.hasMore || row.isOpen === wanted) return;
    if (row.isOpen) closed.add(row.id);
    else closed.delete(row.id);
    list.show(rows(run, closed));
  };
  const list = windowed({
    label: 'Frames, calls, cells and tools',
    name: 'tree',
    rowPx: ROW_PX,
    roles: ['tree', 'treeitem'],
    key: (row) => `${row.kind} ${row.id}`,
    row: (row) => line(run, row, () => toggle(row, !row.isOpen)),
    classOf: (row) => `${row.kind} ${stateClass(run, row)}`,
    attributes: (row) => ({
      'aria-level': String(row.depth + 1),
      'aria-expanded': row.hasMore ? String(row.isOpen) : null,
    }),
    more: {
      ArrowRight: (row) => toggle(row, true),
      ArrowLeft: (row) => toggle(row, false),
      l: (row) => toggle(row, true),
      h: (row) => toggle(row, false),
    },
    open: (row) => onOpen(row.kind, row.id),
  });
  return {
    element: list.element,
    show(next) {
      run = next;
      list.show(rows(run, closed));
    },
    select: (kind, id) => list.select(`${kind} ${id}`),
  };
}

function line(run, row, onToggle) {
  const indent = el('span', { class: 'indent' });
  indent.style.setProperty('width', `${Math.min(row.depth, DEPTH_SHOWN_MAX) * 18}px`);
  const twist = row.hasMore
    ? el(
        'span',
        {
          class: 'twist',
          'aria-hidden': 'true',
          on: {
            click: (event) => {
              event.stopPropagation();
              onToggle();
            },
          },
        },
        row.isOpen ? '▾' : '▸',
      )
    : el('span', { class: 'twist', 'aria-hidden': 'true' });
  const facts = { frame: frameFacts, call: callFacts, cell: cellFacts, tool: toolFacts }[row.kind](run, row.id);
  return [
    indent,
    twist,
    el('span', { class: 'dot', 'aria-hidden': 'true' }),
    el('span', { class: 'name' }, facts.name),
    el('span', { class: 'what' }, facts.what),
    el('span', { class: 'state-word' }, facts.state),
    el('span', { class: 'figures spent' }, facts.spent ?? ''),
    el('span', { class: 'figures' }, facts.took),
  ];
}

function frameFacts(run, id) {
  const frame = run.frames.get(id);
  const took = frame.closedActiveMs === null ? '' : time(frame.closedActiveMs - frame.openedActiveMs);
  return {
    name: id,
    what: `${frame.strategy} · ${frameTitle(frame)}`,
    state: frameState(frame),
    spent: frame.nCalls > 1 ? `${tokens(frame.tokens)} ${dollars(frame.cost)}` : '',
    took,
  };
}

function frameTitle(frame) {
  const note = frame.note?.text ?? '';
  const files = Array.from(note.matchAll(/^--- FILE [^:]*: (.*) \(.*$/gmu), (found) => found[1]);
  if (files.length > 0) return head(files.join(', '), 90);
  if (frame.strategy === 'analyst' && note !== '') return head(plain(note.split('\n')[0]), 90);
  return head(plain(frame.question?.text ?? ''), 90);
}

/** How a frame stands, in a word or two. */
export function frameState(frame) {
  if (frame.state === 'failed') return `failed: ${frame.code}`;
  if (frame.state === 'open') return 'open';
  if (frame.grounding?.is === 'partial') return `partial: ${frame.grounding.stopped_by}`;
  return frame.citations.length > 0 ? `answered, ${frame.citations.length} cited` : 'answered';
}

function callFacts(run, id) {
  const call = run.calls.get(id);
  const took = call.settledActiveMs === null ? '' : time(call.settledActiveMs - call.startedActiveMs);
  const retries = call.retries.length > 0 ? `, ${call.retries.length} tried again` : '';
  return {
    name: id,
    what: head(plain(call.streamed || call.reply?.text || ''), 90),
    state: `${callState(call)}${retries}`,
    spent: callFigures(call),
    took,
  };
}

/** How a call stands, in a word or two. */
export function callState(call) {
  if (call.state === 'failed') return `failed: ${call.code}`;
  if (call.state === 'open') return 'open';
  return call.served === 'cache' ? 'from cache' : 'replied';
}

function callFigures(call) {
  if (!call.usage || call.served === 'cache') return '';
  const [sent, written] = [call.usage.input_tokens, call.usage.output_tokens].map((n) => tokens(whole(n)));
  return `${sent} → ${written} ${dollars(whole(call.usage.cost_microusd))}`;
}

function cellFacts(run, id) {
  const cell = findCell(run, id);
  const code = cell.code?.text ?? '';
  const first = code.split('\n').find((line) => line.trim() !== '' && !line.trim().startsWith('#')) ?? code;
  return { name: `cell ${cell.cell}`, what: head(plain(first), 90), state: cellState(cell), took: time(cell.tookMs) };
}

function toolFacts(run, id) {
  const tool = findTool(run, id);
  const what = tool.arguments?.text ?? '';
  return { name: tool.name, what: head(plain(what), 90), state: toolState(tool), took: time(tool.tookMs) };
}

/** What a tool did, in a word or two. */
export function toolState(tool) {
  if (tool.hasFailed) return 'refused';
  return tool.paths.length > 0 ? `changed ${count(tool.paths.length, 'file')}` : 'looked';
}

/** A call of a tool by its name, `0!2`. */
export function findTool(run, id) {
  return run.tools.get(id.slice(0, id.lastIndexOf('!')))?.find((tool) => tool.id === id);
}

/** How a cell ended, in a word or two. */
export function cellState(cell) {
  return cell.outcome.kind ? `${cell.outcome.is}: ${cell.outcome.kind}` : String(cell.outcome.is ?? '');
}

/** A cell by its name, `0.3:2`. */
export function findCell(run, id) {
  const frame = id.slice(0, id.lastIndexOf(':'));
  return run.cells.get(frame)?.find((cell) => cell.id === id);
}

function stateClass(run, row) {
  if (row.kind === 'frame') return run.frames.get(row.id).state;
  if (row.kind === 'tool') return findTool(run, row.id).hasFailed ? 'failed' : 'printed';
  if (row.kind === 'cell') return findCell(run, row.id).outcome.is ?? '';
  const call = run.calls.get(row.id);
  return call.served === 'cache' ? 'cached' : call.state;
}
