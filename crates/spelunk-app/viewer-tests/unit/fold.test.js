// The page's fold against the engine's: the same journals must give the same totals. The engine's test writes the golden
// files (`UPDATE_EXPECT=1 cargo test -p spelunk-app viewer`).

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { activeMs, answerOf, apply, applyAll, cachedCalls, emptyRun, paidCalls, stateOf } from '../../viewer/fold.js';

const HERE = import.meta.dirname;
const FOLDERS = [path.join(HERE, '../../../../tests/compat/journals/v1'), path.join(HERE, '../journals')];

function read(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

function totals(run) {
  const state = (call) =>
    call.state === 'replied' ? `replied ${call.served}` : call.state === 'failed' ? `failed ${call.code}` : 'open';
  const pick = (map, show) => Object.fromEntries(Array.from(map, ([id, value]) => [id, show(value)]));
  const { byType, ...tasks } = run.tasks ?? {};
  return {
    seq_last: run.seqLast,
    outcome: run.outcome,
    documents: run.documents,
    corpus_bytes: run.corpusBytes,
    bytes_read: run.bytesRead,
    documents_read: run.documentsRead,
    skipped: run.skipped,
    spent: run.spent,
    active_ms: activeMs(run),
    paid_calls: paidCalls(run),
    cached_calls: cachedCalls(run),
    resumed: run.resumed,
    warnings: run.warnings.length,
    citations: run.citations.length,
    limits_reached: run.limitsReached.length,
    cells: run.nCells,
    answer_citations: answerOf(run)?.citations.length ?? null,
    tasks: run.tasks ? tasks : null,
    calls: pick(run.calls, (call) => ({ state: state(call), retries: call.retries, seq: call.seq })),
    frames: pick(run.frames, (frame) => ({ state: frame.state, strategy: frame.strategy, seq: frame.seq })),
  };
}

for (const folder of FOLDERS) {
  for (const name of readdirSync(folder)) {
    const events = read(path.join(folder, name));
    test(`${name} folds to what the engine makes of it`, () => {
      const golden = JSON.parse(readFileSync(path.join(HERE, '../golden', name.replace('.jsonl', '.json')), 'utf8'));
      assert.deepEqual(totals(applyAll(emptyRun(), events)), golden);
    });

    test(`${name}: every prefix gives a state, and saying an event twice changes nothing`, () => {
      const run = emptyRun();
      for (const event of events) {
        apply(run, event);
        const once = JSON.stringify(totals(run));
        apply(run, structuredClone(event));
        assert.equal(JSON.stringify(totals(run)), once);
        assert.equal(typeof stateOf(run), 'string');
      }
    });
  }
}

test('every request that was sent counts as a call', () => {
  const [call, frame, reserved] = ['0#0', '0', { input_tokens: 1 }];
  const started = { type: 'call.started', call, frame };
  const settled = (served) => ({ type: 'call.settled', call, served, outcome: { is: 'replied' } });
  const count = (events) => paidCalls(applyAll(emptyRun(), events.map((event, idx) => ({ seq: idx + 1, ...event }))));
  assert.equal(count([{ ...started, reserved }]), 1);
  assert.equal(count([{ ...started, reserved }, { type: 'call.retried', call }, settled('live')]), 2);
  assert.equal(count([{ ...started, reserved }, { ...started, reserved }, settled('live')]), 2);
  assert.equal(count([started, settled('cache')]), 0);
  assert.equal(count([started, { type: 'call.retried', call }, settled('live')]), 1);
});

test('no event is strange enough to break the fold', () => {
  const strange = [
    null,
    3,
    'x',
    [],
    {},
    { seq: 1 },
    { seq: 2, type: '__proto__' },
    { seq: 3, type: 'constructor' },
    { seq: 4, type: 'run.started' },
    { seq: 5, type: 'call.settled', call: '0#0' },
    { seq: 6, type: 'frame.closed', frame: '0' },
    { seq: 7, type: 'call.started', call: '0#0', frame: '0', at_ms: 'soon' },
    {
      seq: 8,
      type: 'call.settled',
      call: '0#0',
      outcome: { is: 'replied', usage: { input_tokens: -5, output_tokens: 'many' } },
    },
    { seq: 9, type: 'source.scanned', skipped: JSON.parse('{"__proto__": 1, "constructor": 2}'), bytes: 1e400 },
    { seq: 10, type: 'cell.ran', frame: '0', cell: -1 },
    { seq: 11, type: 'tasks.planned', tasks: {} },
    { seq: 12, type: 'tool.ran', frame: '0', tool: 'x', name: {}, files: 'all' },
    { seq: 13, type: 'tool.ran', frame: '0', files: [null, { path: 3 }] },
    { seq: 14, type: 'of.tomorrow' },
  ];
  const run = applyAll(emptyRun(), strange);
  assert.equal(run.seqLast, 14);
  assert.deepEqual(run.spent, {
    input_tokens: 0,
    cached_tokens: 0,
    cache_written_tokens: 0,
    output_tokens: 0,
    cost_microusd: 0,
  });
  assert.equal(run.nUnknown, 4);
  assert.equal({}.polluted, undefined);
  assert.deepEqual(Object.keys(run.skipped), ['__proto__', 'constructor']);
});

test('tool calls of an agent are in its frame, with the files that they changed', () => {
  const run = applyAll(emptyRun(), [
    { seq: 1, type: 'frame.opened', frame: '0', strategy: 'agent' },
    { seq: 2, type: 'tool.ran', frame: '0', tool: 0, name: 'Grep', arguments: { text: '{}' }, output: { text: 'a' } },
    { seq: 3, type: 'tool.ran', frame: '0', tool: 1, name: 'Write', files: [{ is: 'written', path: 'output/answer.md' }] },
    { seq: 4, type: 'tool.ran', frame: '0', tool: 2, name: 'Read', failed: true, took_ms: 7 },
  ]);
  assert.equal(run.nTools, 3);
  const shown = run.tools.get('0').map((tool) => [tool.id, tool.name, tool.paths, tool.hasFailed, tool.tookMs]);
  assert.deepEqual(shown, [
    ['0!0', 'Grep', [], false, 0],
    ['0!1', 'Write', ['output/answer.md'], false, 0],
    ['0!2', 'Read', [], true, 7],
  ]);
  assert.deepEqual(
    run.children.get('0').map((twig) => twig.kind),
    ['tool', 'tool', 'tool'],
  );
});
