// Answer: the answer of a run with its evidence, warnings and errors. Until there is an answer, it shows the run's
// progress.

import { el, fill } from './dom.js';
import { answerOf, openCalls, stateOf } from './fold.js';
import { bytes, count, head, listed, total } from './units.js';
import { textOf } from './api.js';
import { prose } from './prose.js';
import { citationKey, citationList } from './source.js';

const TASKS_SHOWN = 12;

/** The panel. `take(report)` adds the errors from the report. */
export function answerPanel(context) {
  const [body, evidence, remarks, coverage] = [
    el('div', { class: 'card' }),
    el('section', { class: 'evidence', 'aria-label': 'Evidence' }),
    el('div', {}),
    el('div', {}),
  ];
  let shown = null;
  const write = (run, answer) => {
    // A row of a database has no source text to open.
    const lines = answer.citations.filter((citation) => citation.line > 0);
    const places = new Map(lines.map((citation) => [`${citation.document}:${citation.line}`, citation]));
    const open = (place) => context.openSource(places.get(place));
    textOf(context.origin, context.runId, answer.answer)
      .then((text) => fill(body, prose(text, new Set(places.keys()), open)))
      .catch((error) => fill(body, el('p', { class: 'failure' }, error.message)));
    const checked = new Map(run.citations.map(({ citation, found }) => [citationKey(citation), found]));
    fill(
      evidence,
      el('h2', {}, 'Evidence'),
      answer.citations.length > 0
        ? citationList(answer.citations, checked, context.openSource)
        : el('p', { class: 'empty' }, 'The answer has no citations.'),
    );
  };
  return {
    element: el('div', { class: 'answer-page' }, el('div', {}, el('h2', { class: 'unseen' }, 'Answer'), remarks, body, coverage), evidence),
    show({ run }) {
      const answer = answerOf(run);
      const name = answer
        ? `${answer.closedAtMs}`
        : `${run.seqLast} ${stateOf(run)} ${streamingCalls(run).reduce((sum, call) => sum + call.streamed.length, 0)}`;
      fill(remarks, warnings(run));
      if (name === shown) return;
      shown = name;
      if (answer) write(run, answer);
      else fill(body, progressView(run));
    },
    take(report) {
      const title = report.outcome?.is === 'failed' ? 'Errors ' : 'Recovered errors ';
      fill(
        coverage,
        (report.errors ?? []).length > 0
          ? el(
              'details',
              { class: 'text' },
              el('summary', {}, title, el('span', { class: 'n' }, String(report.errors.length))),
              el(
                'ul',
                { class: 'plain' },
                report.errors
                  .slice(0, 100)
                  .map((error) =>
                    el('li', {}, el('code', {}, error.call ?? error.frame), ` ${error.code}: ${error.message}`),
                  ),
              ),
            )
          : null,
      );
    },
  };
}

function progressView(run) {
  const { outcome, tasks } = run;
  if (outcome?.is === 'failed')
    return el('p', { class: 'failure' }, `The run failed: ${outcome.message || outcome.code}`);
  if (outcome) return el('p', { class: 'empty' }, 'There is no answer.');
  return [
    tasks
      ? tasksSoFar(run)
      : el(
          'p',
          { class: 'empty' },
          run.nEvents === 0 ? 'Waiting for the first event…' : `${count(openCalls(run), 'call')} in progress.`,
        ),
    run.progress ? el('p', { class: 'hint' }, progressText(run.progress)) : null,
    streamingCalls(run).map((call) =>
      el(
        'section',
        {},
        el('h3', {}, `Call ${call.id} says`),
        el('pre', { class: 'code stream', tabindex: '0' }, call.streamed),
      ),
    ),
  ];
}

/** The progress of a long operation, such as building an index. */
function progressText({ what, documents, done, total: all }) {
  const counted = documents ? `${documents[0]} of ${count(documents[1], 'document')} · ` : '';
  return `${what}: ${counted}${bytes(done)} of ${bytes(all)}`;
}

/** The progress of the analysts, and the latest results. */
function tasksSoFar(run) {
  const { done, failed, planned } = run.tasks;
  const describe = ({ findings: counts, relevant }) =>
    total(counts) > 0
      ? `${count(total(counts), 'finding')} (${listed(counts)})`
      : relevant
        ? 'nothing found'
        : 'not relevant';
  const openCallsNote = openCalls(run) > 0 ? `; ${count(openCalls(run), 'call')} in progress` : '';
  return [
    el('p', {}, `Analysts have read ${done} of ${count(planned, 'part')}${failed ? `; ${failed} failed` : ''}${openCallsNote}.`),
    el('progress', {
      max: String(Math.max(1, planned)),
      value: String(done + failed),
      'aria-label': 'Parts done, in progress and failed',
    }),
    el(
      'ul',
      { class: 'plain' },
      run.reported
        .slice(-TASKS_SHOWN)
        .reverse()
        .map((task) =>
          el('li', {}, el('code', {}, head(task.label, 120)), ' ', el('span', { class: 'hint' }, describe(task))),
        ),
    ),
  ];
}

/** The latest calls whose replies are being streamed. */
function streamingCalls(run) {
  return Array.from(run.calls.values())
    .filter((call) => call.state === 'open' && call.streamed)
    .slice(-3);
}

function warnings(run) {
  const stopped =
    run.outcome?.is === 'partial' ? [{ message: `This answer is partial: ${run.outcome.stopped_by}.`, hint: '' }] : [];
  return [...stopped, ...run.warnings].map(({ message, hint }) =>
    el('p', { class: 'warning' }, message, hint ? el('span', { class: 'hint' }, ` ${hint}`) : null),
  );
}
