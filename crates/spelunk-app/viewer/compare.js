// Compare: two runs side by side: their answers, costs and trees, and the findings of one or both.

import { el, fill, table } from './dom.js';
import { activeMs, answerOf, applyAll, cachedCalls, emptyRun, paidCalls, stateOf } from './fold.js';
import { bytes, dollars, head, itemAddress, shortName, time, tokens } from './units.js';
import { textOf } from './api.js';
import { findingKey } from './findings.js';
import { prose, spans } from './prose.js';
import { stateBadge } from './list.js';
import { tree } from './tree.js';

const FINDINGS_SHOWN = 300;

/** The page. */
export function comparison({ origin, runs, go }) {
  const body = el('div', {}, el('p', { class: 'empty' }, 'Loading both runs…'));
  const element = el(
    'section',
    { 'aria-labelledby': 'compare-title' },
    el('h1', { id: 'compare-title' }, 'Comparison of two runs'),
    body,
  );
  Promise.all(runs.map((id) => read(origin, id)))
    .then((sides) => {
      const treeViews = sides.map((side, idx) => tree({
        name: `tree-${idx}`,
        label: `Tree of ${shortName(side.id)}`,
        onOpen: (kind, item) => go(itemAddress(side.id, 'tree', kind, item)),
      }));
      fill(body, figures(sides), answers(sides), trees(sides, treeViews), findingsSection(sides));
      // A tree draws only its visible rows, so it must be in the page first.
      sides.forEach((side, idx) => treeViews[idx].show(side.run));
    })
    .catch((error) => fill(body, el('p', { class: 'failure', role: 'alert' }, error.message)));
  return { element, title: 'Compare', dispose: () => {} };
}

async function read(origin, id) {
  const [events, report] = await Promise.all([origin.events(id), origin.report(id).catch(() => null)]);
  const run = applyAll(emptyRun(), events);
  const text = (value) => textOf(origin, id, value).catch((error) => error.message);
  return { id, run, report, question: await text(run.question), answer: await text(answerOf(run)?.answer) };
}

function figures(sides) {
  const row = (name, show, n) => [
    name,
    ...sides.map((side) => show(side)),
    n ? difference(n(sides[0]), n(sides[1])) : '',
  ];
  const spent =
    (name) =>
    ({ run }) =>
      run.spent[name];
  return table(
    'Figures',
    ['Figure', ...sides.map((side) => shortName(side.id)), 'Difference'],
    [
      ['Run', ...sides.map((side) => el('a', { href: `#/run/${encodeURIComponent(side.id)}` }, 'Open')), ''],
      ['State', ...sides.map((side) => stateBadge(stateOf(side.run))), ''],
      row('Question', ({ question }) => head(question, 120)),
      row('Strategy', ({ run }) => run.strategy ?? ''),
      row('Model', ({ run }) => (run.model ? `${run.model.provider}/${run.model.name}` : '')),
      row('Read', ({ run }) => `${run.documents} files, ${bytes(run.corpusBytes)}`),
      row(
        'Calls',
        ({ run }) => String(paidCalls(run)),
        ({ run }) => paidCalls(run),
      ),
      row(
        'From cache',
        ({ run }) => String(cachedCalls(run)),
        ({ run }) => cachedCalls(run),
      ),
      row(
        'Cells',
        ({ run }) => String(run.nCells),
        ({ run }) => run.nCells,
      ),
      row('Input tokens', (side) => tokens(spent('input_tokens')(side)), spent('input_tokens')),
      row('Output tokens', (side) => tokens(spent('output_tokens')(side)), spent('output_tokens')),
      row('Cost', (side) => dollars(spent('cost_microusd')(side)), spent('cost_microusd')),
      row(
        'Time',
        ({ run }) => time(activeMs(run)),
        ({ run }) => activeMs(run),
      ),
      row(
        'Findings',
        ({ report }) => String(report?.findings?.length ?? 0),
        ({ report }) => report?.findings?.length ?? 0,
      ),
    ],
    { class: 'figures' },
  );
}

/** `+25 %`; empty if the first value is zero. */
function difference(a, b) {
  if (a === b) return 'same';
  if (a === 0) return '';
  const percent = Math.round(((b - a) / a) * 100);
  return percent === 0 ? 'about the same' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`;
}

function sideBySide(title, sides, className, content) {
  const article = (side, idx) => el('article', { class: className }, el('h3', {}, shortName(side.id)), content(side, idx));
  return el('section', {}, el('h2', {}, title), el('div', { class: 'pair wide' }, sides.map(article)));
}

function answers(sides) {
  const answer = (side) => (side.answer ? prose(side.answer) : el('p', { class: 'empty' }, 'No answer.'));
  return sideBySide('Answers', sides, 'card', answer);
}

function trees(sides, treeViews) {
  return sideBySide('Trees', sides, 'tree-side', (_, idx) => treeViews[idx].element);
}

function findingsSection(sides) {
  const maps = sides.map(({ report }) => new Map((report?.findings ?? []).map((item) => [findingKey(item), item])));
  if (maps.every((map) => map.size === 0)) return null;
  const only = (own, other) =>
    Array.from(own)
      .filter(([key]) => !other.has(key))
      .map(([, item]) => item);
  const both = Array.from(maps[0])
    .filter(([key]) => maps[1].has(key))
    .map(([, item]) => item);
  const group = (title, items) =>
    el(
      'article',
      { class: 'card' },
      el('h3', {}, title, ' ', el('span', { class: 'n' }, String(items.length))),
      items.length === 0
        ? el('p', { class: 'empty' }, 'None.')
        : el(
            'ul',
            { class: 'plain' },
            items
              .slice(0, FINDINGS_SHOWN)
              .map(({ finding, severity }) =>
                el(
                  'li',
                  {},
                  el('span', { class: `badge ${severity}` }, severity),
                  ' ',
                  spans(finding.summary),
                  ' ',
                  el(
                    'code',
                    {},
                    `${finding.location.file}${finding.location.line_start ? `:${finding.location.line_start}` : ''}`,
                  ),
                ),
              ),
          ),
    );
  return el(
    'section',
    {},
    el('h2', {}, 'Findings'),
    el(
      'div',
      { class: 'thirds' },
      group(`Only in ${shortName(sides[0].id)}`, only(maps[0], maps[1])),
      group('In both', both),
      group(`Only in ${shortName(sides[1].id)}`, only(maps[1], maps[0])),
    ),
  );
}
