// Tree: the frames of a run. Calls and child frames are below the cell or tool that made them; many in a row are shown as
// one row with their sums. Only visible rows are elements, so a run of ten thousand calls is as fast as one of ten.

import { announce, el, plain } from './dom.js';
import { effectState } from './effects.js';
import { parentOf } from './fold.js';
import { windowed } from './windowed.js';
import { count, dollars, head, time, tokens, whole } from './units.js';

const ROW_PX = 30;
const DEPTH_SHOWN_MAX = 12;
/** This many calls or frames in a row are shown as one. */
const BATCH_MIN = 12;
const TYPING_MS = 150;

/** The children of a frame, where calls and frames that a cell or tool made are below it. */
export function nested(run, id) {
  const [out, waiting] = [[], []];
  for (const twig of run.children.get(id) ?? []) {
    if (twig.kind !== 'cell' && twig.kind !== 'tool') {
      waiting.push(twig);
      continue;
    }
    const own = twig.kind === 'cell' ? findCell(run, twig.id) : findTool(run, twig.id);
    // It was set aside when a limit was raised.
    if (!own) continue;
    const isMade = madeBy(run, twig.kind, own, waiting);
    out.push(...waiting.filter((other) => !isMade(other)), { ...twig, below: grouped(waiting.filter(isMade)) });
    waiting.length = 0;
  }
  return grouped([...out, ...waiting]);
}

/** A cell records how many calls and children it made, not which: they are the last to begin before its end. */
function madeBy(run, kind, own, twigs) {
  const last = twigs.reduce((most, twig) => (twig.kind === 'call' ? Math.max(most, ordinalOf(twig.id)) : most), 0);
  const least = kind === 'cell' ? last - own.calls + 1 : 0;
  return (twig) => {
    if (twig.kind === 'frame') return kind === 'tool' || own.children > 0;
    if (twig.kind === 'effect') return run.effects.get(twig.id).startedActiveMs >= own.startedActiveMs - 1;
    return ordinalOf(twig.id) >= least && run.calls.get(twig.id).startedActiveMs >= own.startedActiveMs - 1;
  };
}

function ordinalOf(call) {
  return whole(Number(String(call).split('#')[1]));
}

/** Groups many calls or frames in a row into one twig. */
function grouped(twigs) {
  const out = [];
  for (let from = 0, to; from < twigs.length; from = to) {
    const { kind } = twigs[from];
    to = from + 1;
    while (to < twigs.length && twigs[to].kind === kind) to += 1;
    const same = twigs.slice(from, to);
    const isBatch = same.length >= BATCH_MIN && (kind === 'call' || kind === 'frame');
    if (isBatch) out.push({ kind: 'batch', id: `${same[0].id}…${same.at(-1).id}`, of: kind, below: same });
    else out.push(...same);
  }
  return out;
}

/** The rows of a tree in order, without those below closed rows. Only batches are closed, unless `toggled`. */
export function rows(run, toggled, isAllOpen = false) {
  const shown = [];
  // An explicit stack, because the journal determines the depth.
  const stack = [{ twigs: run.children.get('') ?? [], idx: 0, depth: 0 }];
  while (stack.length > 0) {
    const top = stack[stack.length - 1];
    const twig = top.twigs[top.idx];
    top.idx += 1;
    if (!twig) {
      stack.pop();
      continue;
    }
    const below = twig.below ?? (twig.kind === 'frame' ? nested(run, twig.id) : []);
    const isOpen = below.length > 0 && (isAllOpen || toggled.has(twig.id) === (twig.kind === 'batch'));
    shown.push({ ...twig, below, depth: top.depth, hasMore: below.length > 0, isOpen });
    if (isOpen) stack.push({ twigs: below, idx: 0, depth: top.depth + 1 });
  }
  return shown;
}

/** What every frame and its descendants spent: `{calls, tokens, cost}` by frame. */
export function branchSums(run) {
  const sums = new Map();
  // A child's name is longer than its parent's: with the longest first, each sum is complete when it is added to the parent.
  const frames = Array.from(run.frames.values()).sort((a, b) => b.id.length - a.id.length);
  for (const { id, nCalls, tokens: n, cost } of frames) {
    const own = sums.get(id) ?? { calls: 0, tokens: 0, cost: 0 };
    add(own, { calls: nCalls, tokens: n, cost });
    sums.set(id, own);
    const parent = parentOf(id);
    if (parent === '') continue;
    if (!sums.has(parent)) sums.set(parent, { calls: 0, tokens: 0, cost: 0 });
    add(sums.get(parent), own);
  }
  return sums;
}

function add(sum, other) {
  sum.calls += other.calls;
  sum.tokens += other.tokens;
  sum.cost += other.cost;
}

/** What a row and its descendants spent. */
function sumOf(run, sums, row) {
  if (row.kind === 'frame') return sums.get(row.id) ?? { calls: 0, tokens: 0, cost: 0 };
  const sum = { calls: 0, tokens: 0, cost: 0 };
  if (row.kind === 'call') {
    const { usage, served } = run.calls.get(row.id);
    if (!usage || served === 'cache') return sum;
    const n = whole(usage.input_tokens) + whole(usage.output_tokens);
    return { calls: 1, tokens: n, cost: whole(usage.cost_microusd) };
  }
  // A cell or batch contains calls, frames and batches of them, never another cell.
  for (const twig of row.below ?? []) add(sum, sumOf(run, sums, twig));
  return sum;
}

/** A predicate for rows: words, `model:NAME`, `state:WORD` and `cost>0.01`, all of which must match. */
export function filterOf(text) {
  const tests = text
    .toLowerCase()
    .split(/\s+/u)
    .filter(Boolean)
    .map((word) => {
      const cost = /^cost>([\d.]+)$/u.exec(word);
      if (cost) return (row) => row.cost > Number(cost[1]) * 1000000;
      const named = /^(model|state):(.+)$/u.exec(word);
      if (named) return (row) => row[named[1]].includes(named[2]);
      return (row) => row.text.includes(word);
    });
  return tests.length === 0 ? null : (row) => tests.every((test) => test(row));
}

/** The rows that match, and their ancestors. */
export function passing(run, sums, passes) {
  const all = rows(run, new Set(), true);
  const kept = [];
  let need = -1;
  for (let idx = all.length - 1; idx >= 0; idx -= 1) {
    const row = all[idx];
    const isAbove = row.depth < need;
    if (!isAbove && !passes(searched(run, sums, row))) continue;
    need = row.depth;
    kept.push({ ...row, isOpen: row.hasMore });
  }
  return kept.reverse();
}

/** The searchable fields of a row. */
function searched(run, sums, row) {
  const { name, what, state } = FACTS[row.kind](run, row, sums);
  const call = row.kind === 'call' ? run.calls.get(row.id) : null;
  const cell = row.kind === 'cell' ? findCell(run, row.id) : null;
  const more = [row.id, call?.reply?.text, cell?.code?.text, cell?.output?.text, run.frames.get(row.id)?.question?.text];
  return {
    text: row.kind === 'batch' ? '' : [name, what, state, call?.model, ...more].join(' ').toLowerCase(),
    model: String(call?.model ?? '').toLowerCase(),
    state: row.kind === 'batch' ? '' : state.toLowerCase(),
    cost: row.kind === 'batch' ? 0 : sumOf(run, sums, row).cost,
  };
}

/** The tree as a list. `onOpen(kind, id)` is called when a row is chosen; two trees on a page need different names. */
export function tree({ onOpen, name = 'tree', label = 'Frames, calls, cells and tools' }) {
  const toggled = new Set();
  let [run, sums, passes, typing] = [null, new Map(), null, 0];
  const shown = () => (passes ? passing(run, sums, passes) : rows(run, toggled));
  const toggle = (row, wanted) => {
    if (!row.hasMore || row.isOpen === wanted || passes) return;
    if (toggled.has(row.id)) toggled.delete(row.id);
    else toggled.add(row.id);
    list.show(shown());
  };
  const list = windowed({
    label,
    name,
    rowPx: ROW_PX,
    roles: ['tree', 'treeitem'],
    key: (row) => `${row.kind} ${row.id}`,
    row: (row) => line(run, sums, row, () => toggle(row, !row.isOpen)),
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
    open: (row) => (row.kind === 'batch' ? toggle(row, !row.isOpen) : onOpen(row.kind, row.id)),
  });
  const input = el('input', {
    type: 'search',
    'aria-label': name === 'tree' ? 'Find in the tree' : `Find in: ${label}`,
    placeholder: 'Find: words, model:NAME, state:failed, cost>0.01',
  });
  input.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      passes = filterOf(input.value);
      const found = shown();
      list.show(found);
      if (passes) announce(`${count(found.length, 'row')} shown`);
    }, TYPING_MS);
  });
  return {
    element: el('div', { class: 'tree-box' }, el('div', { class: 'tools' }, input), list.element),
    show(next) {
      run = next;
      sums = branchSums(run);
      list.show(shown());
    },
    select: (kind, id) => list.select(`${kind} ${id}`),
  };
}

function line(run, sums, row, onToggle) {
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
  const facts = FACTS[row.kind](run, row, sums);
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

const FACTS = { frame: frameFacts, call: callFacts, cell: cellFacts, tool: toolFacts, effect: effectFacts, batch: batchFacts };

/** Tokens and cost, or an empty string if nothing was spent. */
function figures({ tokens: n, cost }) {
  return n > 0 ? `${tokens(n)} ${dollars(cost)}` : '';
}

/** The facts of a batch: how many, how they ended, how long they took. */
function batchFacts(run, row, sums) {
  const spans = [];
  const states = new Map();
  for (const { id } of row.below) {
    const one = row.of === 'call' ? run.calls.get(id) : run.frames.get(id);
    const state = row.of === 'call' ? callState(one) : one.state;
    states.set(state, (states.get(state) ?? 0) + 1);
    const [from, to] =
      row.of === 'call' ? [one.startedActiveMs, one.settledActiveMs] : [one.openedActiveMs, one.closedActiveMs];
    if (to !== null) spans.push(to - from);
  }
  spans.sort((a, b) => a - b);
  const ended = Array.from(states, ([state, n]) => `${n} ${state}`).join(', ');
  const median = spans[Math.floor(spans.length / 2)];
  return {
    name: count(row.below.length, row.of),
    what: ended,
    state: spans.length > 0 ? `${time(spans[0])} to ${time(spans.at(-1))}, median ${time(median)}` : '',
    spent: figures(sumOf(run, sums, row)),
    took: '',
  };
}

function frameFacts(run, { id }, sums) {
  const frame = run.frames.get(id);
  const took = frame.closedActiveMs === null ? '' : time(frame.closedActiveMs - frame.openedActiveMs);
  return {
    name: id,
    what: `${frame.strategy} · ${frameTitle(frame)}`,
    state: frameState(frame),
    spent: figures(sums.get(id) ?? frame),
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

/** The state of a frame, in a few words. */
export function frameState(frame) {
  if (frame.state === 'failed') return `failed: ${frame.code}`;
  if (frame.state === 'open') return 'open';
  if (frame.grounding?.is === 'partial') return `partial: ${frame.grounding.stopped_by}`;
  return frame.citations.length > 0 ? `answered, ${frame.citations.length} cited` : 'answered';
}

function callFacts(run, { id }) {
  const call = run.calls.get(id);
  const took = call.settledActiveMs === null ? '' : time(call.settledActiveMs - call.startedActiveMs);
  const retries = call.retries.length > 0 ? `, ${call.retries.length} retried` : '';
  return {
    name: id,
    what: head(plain(call.streamed || call.reply?.text || ''), 90),
    state: `${callState(call)}${retries}`,
    spent: callFigures(call),
    took,
  };
}

/** The state of a call, in a few words. */
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

function cellFacts(run, row, sums) {
  const cell = findCell(run, row.id);
  const code = cell.code?.text ?? '';
  const first = code.split('\n').find((line) => line.trim() !== '' && !line.trim().startsWith('#')) ?? code;
  return {
    name: `cell ${cell.cell}`,
    what: head(plain(first), 90),
    state: cellState(cell),
    spent: figures(sumOf(run, sums, row)),
    took: time(cell.tookMs),
  };
}

function toolFacts(run, row, sums) {
  const tool = findTool(run, row.id);
  return {
    name: tool.name,
    what: head(plain(tool.arguments?.text ?? ''), 90),
    state: toolState(tool),
    spent: figures(sumOf(run, sums, row)),
    took: time(tool.tookMs),
  };
}

/** The outcome of a tool call, in a few words. */
export function toolState(tool) {
  if (tool.hasFailed) return 'refused';
  return tool.paths.length > 0 ? `changed ${count(tool.paths.length, 'file')}` : 'looked';
}

function effectFacts(run, { id }) {
  const effect = run.effects.get(id);
  return {
    name: effect.name,
    what: head(plain(effect.arguments?.text ?? ''), 90),
    state: effectState(effect),
    spent: '',
    took: effect.outcome ? time(effect.tookMs) : '',
  };
}

/** A tool call by its name, `0!2`. */
export function findTool(run, id) {
  return run.tools.get(id.slice(0, id.lastIndexOf('!')))?.find((tool) => tool.id === id);
}

/** The outcome of a cell, in a few words. */
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
  if (row.kind === 'batch') {
    const states = row.below.map((twig) => stateClass(run, twig));
    return states.find((state) => state === 'open') ?? states.find((state) => state === 'failed') ?? states[0];
  }
  if (row.kind === 'tool') return findTool(run, row.id).hasFailed ? 'failed' : 'printed';
  if (row.kind === 'effect') return { failed: 'failed', returned: 'printed' }[run.effects.get(row.id).outcome?.is] ?? 'open';
  if (row.kind === 'cell') return findCell(run, row.id).outcome.is ?? '';
  const call = run.calls.get(row.id);
  return call.served === 'cache' ? 'cached' : call.state;
}
