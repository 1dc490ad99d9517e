// The pure parts of the page: the event stream parser, lanes, areas, quotes, Markdown and numbers.

import assert from 'node:assert/strict';
import test from 'node:test';
import { sseReader } from '../../viewer/stream.js';
import { lanes, levels } from '../../viewer/timeline.js';
import { folders, squarify } from '../../viewer/treemap.js';
import { locate } from '../../viewer/source.js';
import { blocks } from '../../viewer/prose.js';
import { bytes, dollars, head, startOf, time, tokens } from '../../viewer/units.js';
import { findingKey } from '../../viewer/findings.js';
import { flameBars } from '../../viewer/flame.js';
import { branchSums, filterOf, nested, passing, rows } from '../../viewer/tree.js';
import { effectState, pendingEffects } from '../../viewer/effects.js';
import { applyAll, emptyRun } from '../../viewer/fold.js';

test('a stream split at any point yields the same messages', () => {
  const text =
    ': hello\r\n\r\nid: 1\nevent: run.started\ndata: {"a":1}\n\nevent: call.streamed\ndata: {"b":"ü"}\n\ndata: x\ndata: y\n\nevent: end\ndata: {}\n\nid: 9\ndata: torn';
  const whole = sseReader().feed(text);
  assert.deepEqual(whole, [
    { id: '1', event: 'run.started', data: '{"a":1}' },
    { id: null, event: 'call.streamed', data: '{"b":"ü"}' },
    { id: null, event: '', data: 'x\ny' },
    { id: null, event: 'end', data: '{}' },
  ]);
  for (let at = 0; at <= text.length; at += 1) {
    const reader = sseReader();
    assert.deepEqual([...reader.feed(text.slice(0, at)), ...reader.feed(text.slice(at))], whole, `cut at ${at}`);
  }
});

test('a line without end is refused', () => {
  const reader = sseReader();
  assert.throws(() => {
    for (let n = 0; n < 40; n += 1) reader.feed('x'.repeat(1024 * 1024));
  }, /endless line/u);
});

test('calls that overlap have separate lanes, and a free lane is reused', () => {
  const call = (id, startedActiveMs, settledActiveMs) => ({ id, startedActiveMs, settledActiveMs });
  const { bars, nLanes } = lanes([call('a', 0, 10), call('b', 2, 4), call('c', 4, 9), call('d', 10, null)], 20);
  assert.deepEqual(
    bars.map(({ lane, start, end }) => [lane, start, end]),
    [
      [0, 0, 10],
      [1, 2, 4],
      [1, 4, 9],
      [0, 10, 20],
    ],
  );
  assert.equal(nLanes, 2);
  assert.deepEqual(
    levels([
      { start: 3, end: 3 },
      { start: 3, end: 3 },
    ]),
    [
      [3, 2],
      [4, 0],
    ],
  );
  assert.deepEqual(levels(bars), [
    [0, 1],
    [2, 2],
    [4, 2],
    [9, 1],
    [10, 1],
    [20, 0],
  ]);
});

test('areas are proportional, stay in the box and do not overlap', () => {
  const values = [60, 30, 20, 10, 5, 5, 1];
  const box = { x: 10, y: 20, w: 300, h: 200 };
  const placed = squarify(values, box);
  const total = values.reduce((sum, value) => sum + value, 0);
  placed.forEach((area, idx) => {
    assert.ok(Math.abs(area.w * area.h - (values[idx] / total) * box.w * box.h) < 1e-6);
    assert.ok(
      area.x >= box.x - 1e-9 &&
        area.y >= box.y - 1e-9 &&
        area.x + area.w <= box.x + box.w + 1e-6 &&
        area.y + area.h <= box.y + box.h + 1e-6,
    );
    for (const other of placed.slice(0, idx)) {
      const apart =
        area.x >= other.x + other.w - 1e-6 ||
        other.x >= area.x + area.w - 1e-6 ||
        area.y >= other.y + other.h - 1e-6 ||
        other.y >= area.y + area.h - 1e-6;
      assert.ok(apart);
    }
  });
  assert.deepEqual(
    squarify([0, 0], box).map(({ w, h }) => w * h),
    [0, 0],
  );
});

test('folders end at a maximum depth, whatever the path', () => {
  const deep = `${'a/'.repeat(5000)}x.py`;
  const root = folders([
    { path: deep, bytes: 3 },
    { path: 'b.py', bytes: 4 },
    { path: '__proto__/c', bytes: 1 },
  ]);
  assert.equal(root.bytes, 8);
  let [depth, place] = [0, root];
  while (place.children) {
    depth += 1;
    place = Array.from(place.children.values())[0];
  }
  assert.ok(depth <= 6, String(depth));
});

test('a quote is marked where it occurs, across lines and with different white space', () => {
  const lines = ['first line', 'the  magic', 'number is 42.', 'the magic number is 42.'];
  assert.deepEqual(Array.from(locate(lines, 1, 'magic number is')), [
    [1, [5, 10]],
    [2, [0, 9]],
  ]);
  assert.deepEqual(Array.from(locate(lines, 3, 'magic number')), [[3, [4, 16]]]);
  assert.deepEqual(Array.from(locate(lines, 3, 'first')), [[0, [0, 5]]]);
  assert.equal(locate(lines, 0, 'not (there').size, 0);
  assert.equal(locate(lines, 0, '   ').size, 0);
});

test('Markdown is parsed as in reports', () => {
  assert.deepEqual(
    blocks('# A\ntext\nmore\n\n- one\n  1. two\n> said\n```\n<b>\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n---').map(
      (block) => block.is,
    ),
    ['heading', 'paragraph', 'item', 'item', 'quote', 'code', 'table', 'rule'],
  );
  assert.deepEqual(blocks('```\nopen'), [{ is: 'code', lines: ['open'] }]);
});

test('numbers are formatted as on the command line', () => {
  assert.deepEqual([0, 999, 1000, 3141592, 940000000].map(bytes), ['0 B', '999 B', '1.0 kB', '3.1 MB', '940 MB']);
  assert.deepEqual([7, 12345, 2000000].map(tokens), ['7', '12.3k', '2.0M']);
  assert.deepEqual([0, 1, 100, 2345, 99950, 100000, 5000001].map(dollars), [
    '$0.00',
    '<$0.0001',
    '$0.0001',
    '$0.0024',
    '$0.1000',
    '$0.10',
    '$5.01',
  ]);
  assert.deepEqual([7, 4250, 200000, 1800000].map(time), ['7 ms', '4.2 s', '3 min 20 s', '30 min']);
  assert.equal(startOf('rlm-20260822T101403Z-3f9a2b1c'), Date.UTC(2026, 7, 22, 10, 14, 3));
  assert.equal(startOf('nonsense'), 0);
  assert.equal(head('one\n two   three', 9), 'one two…');
});

test('findings are the same if type, words and file are', () => {
  const made = (summary, file) => findingKey({ finding: { type: 'bug', summary, location: { file } } });
  assert.equal(made('SQL is built, from input!', 'a.py'), made('sql is built from input', 'a.py'));
  assert.notEqual(made('x', 'a.py'), made('x', 'b.py'));
});

test('a tree of any depth is laid out without recursion', () => {
  const events = [];
  let frame = '0';
  for (let n = 0; n < 5000; n += 1) {
    events.push({ seq: n + 1, at_ms: n, frame, type: 'frame.opened', strategy: 'repl', question: { text: 'q' } });
    frame += '.0';
  }
  const run = applyAll(emptyRun(), events);
  assert.equal(rows(run, new Set()).length, 5000);
  assert.equal(rows(run, new Set(['0.0'])).length, 2);
});

/** A run whose events are `[type, frame, fields]`, ten milliseconds apart. */
function runOf(...events) {
  return applyAll(
    emptyRun(),
    events.map(([type, frame, fields], idx) => ({ seq: idx + 1, at_ms: idx * 10, type, frame, ...fields })),
  );
}
const opened = (frame, strategy = 'repl') => ['frame.opened', frame, { strategy, question: { text: 'q' } }];
const started = (frame, n) => ['call.started', frame, { call: `${frame}#${n}`, model: 'm', text: { text: '' } }];
const settled = (frame, n, cost = 0) => [
  'call.settled',
  frame,
  {
    call: `${frame}#${n}`,
    served: 'live',
    outcome: { is: 'replied', reply: { text: 'r' }, usage: { input_tokens: 10, output_tokens: 1, cost_microusd: cost } },
  },
];
const ran = (frame, cell, calls, children, took) => [
  'cell.ran',
  frame,
  { cell, calls, children, took_ms: took, code: { text: 'x' }, output: { text: '' }, outcome: { is: 'printed' } },
];
const shape = (twigs) => twigs.map(({ id, below }) => (below?.length > 0 ? [id, shape(below)] : id));

test('what a cell made is below it: not the turn that wrote it, nor a turn that wrote nothing', () => {
  const run = runOf(
    opened('0'),
    ...[started('0', 0), settled('0', 0), started('0', 1), settled('0', 1)],
    ...[started('0', 2), opened('0.0'), settled('0', 2), ran('0', 0, 1, 1, 35)],
    ...[started('0', 3), settled('0', 3), ran('0', 1, 0, 0, 5)],
    started('0', 4),
  );
  assert.deepEqual(shape(nested(run, '0')), ['0#0', '0#1', ['0:0', ['0#2', '0.0']], '0#3', '0:1', '0#4']);
});

test('a cell that was asked for two calls and made one has one', () => {
  // A typed call reserves a number for its correction.
  const run = runOf(opened('0'), started('0', 0), settled('0', 0), started('0', 1), settled('0', 1), ran('0', 0, 2, 0, 25));
  assert.deepEqual(shape(nested(run, '0')), ['0#0', ['0:0', ['0#1']]]);
});

test("a call of the user's own tool is below the cell that made it, and its state can be searched for", () => {
  const begun = ['effect.started', '0', { effect: '0!0', tool: 'book', class: 'once', arguments: { text: '{"seat":"7A"}' }, sent: true }];
  const ended = ['effect.settled', '0', { effect: '0!0', outcome: { is: 'failed', kind: 'ToolError', message: { text: 'full' } }, took_ms: 5 }];
  const run = runOf(opened('0'), started('0', 0), settled('0', 0), begun, ended, ran('0', 0, 0, 0, 25));
  assert.equal(run.nUnknown, 0);
  assert.deepEqual(shape(nested(run, '0')), ['0#0', ['0:0', ['0!0']]]);
  const kept = (words) => passing(run, branchSums(run), filterOf(words)).map((row) => row.id);
  assert.deepEqual(kept('book 7a state:failed'), ['0', '0:0', '0!0']);
});

test('a call that needs consent waits until it is decided, and a resumed run asks again', () => {
  const about = { effect: '0!0', tool: 'book', class: 'once', arguments: { text: '{"seat":"7A"}' } };
  const asked = ['effect.asked', '0', about];
  const waiting = runOf(opened('0'), asked);
  assert.deepEqual(pendingEffects(waiting).map(([id, { name }]) => [id, name]), [['0!0', 'book']]);
  assert.equal(effectState(waiting.effects.get('0!0')), 'waits for consent');
  const resumed = runOf(opened('0'), asked, ['run.resumed', '0', {}]);
  assert.deepEqual([pendingEffects(resumed), shape(nested(resumed, '0'))], [[], []]);
  const decided = runOf(opened('0'), asked, ['effect.decided', '0', { effect: '0!0', allowed: true }], ['effect.started', '0', { ...about, sent: true }]);
  assert.deepEqual([pendingEffects(decided), decided.effects.get('0!0').consent, decided.nUnknown], [[], 'allowed', 0]);
  assert.deepEqual(shape(nested(decided, '0')), ['0!0']);
});

test('frames that a tool opened are below it', () => {
  const tool = ['tool.ran', '0', { tool: 0, name: 'delegate', took_ms: 25, arguments: { text: '' }, output: { text: '' } }];
  const run = runOf(opened('0', 'agent'), started('0', 0), settled('0', 0), opened('0.0'), started('0.0', 0), tool);
  assert.deepEqual(shape(nested(run, '0')), ['0#0', ['0!0', ['0.0']]]);
});

test('a branch has its own sum and a total with its descendants', () => {
  const run = runOf(opened('0'), opened('0.0'), opened('0.0.0'), started('0.0.0', 0), settled('0.0.0', 0, 5), started('0', 0), settled('0', 0, 2));
  const sums = branchSums(run);
  assert.deepEqual(
    ['0', '0.0', '0.0.0'].map((id) => [sums.get(id).calls, sums.get(id).tokens, sums.get(id).cost]),
    [[2, 22, 7], [1, 11, 5], [1, 11, 5]],
  );
  const kept = (words) => passing(run, sums, filterOf(words)).map((row) => row.id);
  assert.deepEqual(kept('cost>0.000003'), ['0', '0.0', '0.0.0', '0.0.0#0']);
  assert.deepEqual(kept('state:replied 0#0'), ['0', '0.0', '0.0.0', '0.0.0#0', '0#0']);
  assert.deepEqual(kept('nothing like this'), []);
});

test('frames, calls and cells are bars, children below their parents, and open bars extend to now', () => {
  const run = runOf(opened('0'), started('0', 0), settled('0', 0), opened('0.0'), opened('0.1'), started('0.1', 0));
  const { bars, nLanes } = flameBars(run, 100);
  assert.deepEqual(
    bars.map(({ id, lane, start, end }) => [id, lane, start, end]),
    [['0', 0, 0, 100], ['0#0', 1, 10, 20], ['0.0', 2, 30, 100], ['0.1', 3, 40, 100], ['0.1#0', 4, 50, 100]],
  );
  assert.equal(nLanes, 5);
});
