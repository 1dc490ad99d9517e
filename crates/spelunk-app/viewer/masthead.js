// Masthead: the header above the views of a run: its state, the question, spending against the limits, and the actions
// on it.

import { button, el, fill, setText } from './dom.js';
import { pendingEffects } from './effects.js';
import { activeMs, answerOf, cachedCalls, paidCalls, stateOf } from './fold.js';
import { bytes, count, dollars, head, listed, moment, shortName, time, tokens } from './units.js';
import { textOf } from './api.js';
import { stateBadge } from './list.js';

/** It has `element`, `show(run, link)`, `tick(run)` between events, and `fail(error)`. */
export function masthead({ origin, id, go }) {
  const [state, link, title] = [
    el('span', {}),
    el('span', { class: 'link', role: 'status' }),
    el('h1', {}, `Run ${shortName(id)}`),
  ];
  const question = el('p', { class: 'whole-question' });
  const [facts, meters, actions, files, fault] = [
    el('dl', { class: 'facts' }),
    el('div', { class: 'meters' }),
    el('div', { class: 'actions' }),
    el('div', { class: 'tools' }),
    el('p', { class: 'failure', role: 'alert', hidden: true }),
  ];
  const box = el('div', { class: 'more-facts', id: 'run-details', hidden: true }, question, facts, files);
  const toggle = button(
    'Details',
    () => {
      box.hidden = !box.hidden;
      toggle.setAttribute('aria-expanded', String(!box.hidden));
    },
    { class: 'quiet', 'aria-expanded': 'false', 'aria-controls': 'run-details' },
  );
  let questionShown = null;
  let drawn = '';
  let since = 0;
  const act = (work) => () =>
    work(id).catch((error) => {
      fault.hidden = false;
      setText(fault, error.message);
    });
  const gauges = (run, extraMs) => {
    const limits = run.limits ?? {};
    fill(
      meters,
      meter('Tokens', run.spent.input_tokens + run.spent.output_tokens, limits.tokens_max, tokens),
      meter('Cost', run.spent.cost_microusd, limits.cost_microusd_max, dollars),
      meter('Calls', paidCalls(run), limits.calls_max, String),
      meter('Time', activeMs(run) + extraMs, limits.run_ms_max, time),
    );
  };
  return {
    element: el(
      'header',
      { class: 'masthead' },
      el('div', { class: 'title-line' }, state, title, link, actions, toggle),
      meters,
      box,
      fault,
    ),
    fail: (error) => {
      fault.hidden = false;
      setText(fault, error.hint ? `${error.message}. ${error.hint}` : error.message);
    },
    tick: (run) => {
      const extraMs = since ? Math.min(performance.now() - since, 3600000) : 0;
      gauges(run, extraMs);
      return extraMs;
    },
    show(run, word) {
      since = performance.now();
      fill(state, stateBadge(run.outcome ? stateOf(run) : unfinished(run, word, origin.isExported)));
      setText(
        link,
        origin.isExported
          ? 'exported file'
          : run.outcome
            ? ''
            : ({
                live: 'live',
                connecting: 'connecting…',
                waiting: 'connection lost, trying again…',
                ended: 'not in progress',
                refused: 'not connected',
              }[word] ?? ''),
      );
      if (run.question && run.question !== questionShown) {
        questionShown = run.question;
        textOf(origin, id, run.question)
          .then((text) => {
            setText(title, text.trim());
            title.title = text.trim();
            setText(question, text.trim());
          })
          .catch((error) => setText(title, error.message));
      }
      gauges(run, 0);
      const next = JSON.stringify([
        word === 'ended',
        run.startedAtMs,
        run.documents,
        run.nCells,
        run.frames.size,
        run.resumed,
        run.nUnknown,
        stateOf(run),
        run.tasks,
      ]);
      if (next === drawn) return;
      drawn = next;
      fill(
        facts,
        factList(id, run).map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))),
      );
      if (origin.isExported) return;
      fill(actions, buttons(origin, run, act, id, go, word));
      fill(files, reports(origin, act, id));
    },
  };
}

/** The state of a run without an outcome. While the connection is lost, the last known state is shown. */
function unfinished(run, link, isExported) {
  if (isExported || link === 'ended') return 'interrupted';
  if (pendingEffects(run).length > 0) return 'waiting';
  return run.nEvents > 0 ? 'running' : 'queued';
}

/** Whether the answer is complete. A partial answer counts as complete if no limit was reached that could be raised. */
function isComplete(run) {
  const answer = answerOf(run);
  if (run.outcome?.is === 'answered') return true;
  return answer !== null && (answer.grounding?.is !== 'partial' || run.limitsReached.length === 0);
}

/** The actions on a run. If the stream ends before the run does, no process is working on it. */
function buttons(origin, run, act, id, go, link) {
  const isIdle = run.outcome !== null || link === 'ended';
  const canResume = isIdle && !isComplete(run);
  return [
    isIdle ? null : button('Cancel', act(origin.cancel)),
    canResume
      ? button(
          'Resume',
          act((name) => origin.resume(name).then(() => go(`#/run/${encodeURIComponent(id)}?again=${Date.now()}`))),
        )
      : null,
  ];
}

function reports(origin, act, id) {
  return ['html', 'md', 'sarif', 'json'].map((format) =>
    button(
      `Report .${format}`,
      act(async () => save(await origin.download(origin.reportAddress(id, format)), `${shortName(id)}.${format}`)),
      { class: 'quiet' },
    ),
  );
}

function save(blob, name) {
  const address = URL.createObjectURL(blob);
  el('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

function factList(id, run) {
  const model = run.model ? `${run.model.provider}/${run.model.name}` : '';
  const facts = [
    ['Run', id],
    ['Started', moment(run.startedAtMs)],
    ['Model', model],
    ['Sub-model', run.subModel ? `${run.subModel.provider}/${run.subModel.name}` : ''],
    ['Strategy', run.strategy ?? ''],
    ['Focus', run.focus === 'general' ? '' : run.focus],
    ['Corpus', `${count(run.documents, 'file')}, ${bytes(run.corpusBytes)}`],
    ['Read', run.tasks ? `${run.documentsRead} of ${count(run.documents, 'file')}, ${bytes(run.bytesRead)}` : ''],
    ['Skipped files', head(listed(run.skipped), 120)],
    ['Redacted secrets', head(listed(run.redacted), 120)],
    ['From cache', cachedCalls(run) ? count(cachedCalls(run), 'call') : ''],
    ['Frames', run.frames.size > 1 ? String(run.frames.size) : ''],
    [
      'Tasks',
      run.tasks
        ? `${run.tasks.done} of ${run.tasks.planned}${run.tasks.failed ? `, ${run.tasks.failed} failed` : ''}`
        : '',
    ],
    ['Resumed', run.resumed ? count(run.resumed, 'time') : ''],
    ['Newer events', run.nUnknown ? `${run.nUnknown} not supported` : ''],
  ];
  return facts.filter(([, value]) => value !== '');
}

/** A number against its limit. */
function meter(name, value, max, show) {
  const share = max > 0 ? Math.min(1, value / max) : 0;
  const bar = el('span', { class: 'fill' });
  bar.style.setProperty('width', `${(share * 100).toFixed(2)}%`);
  return el(
    'div',
    { class: `meter${share > 0.9 ? ' full' : share > 0.7 ? ' high' : ''}` },
    el('span', { class: 'meter-name' }, name),
    el('span', { class: 'meter-value' }, show(value), max > 0 ? el('span', { class: 'of' }, ` of ${show(max)}`) : null),
    el(
      'span',
      {
        class: 'track',
        role: 'meter',
        'aria-label': `${name}: ${show(value)}${max > 0 ? ` of ${show(max)}` : ''}`,
        'aria-valuemin': '0',
        'aria-valuemax': String(max > 0 ? max : value),
        'aria-valuenow': String(Math.min(value, max > 0 ? max : value)),
      },
      bar,
    ),
  );
}
