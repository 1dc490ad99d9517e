// Detail: one frame, call, cell or tool in full. Texts are fetched when they are opened. Long ones are cut, with a button
// for the rest, so that a prompt of a megabyte does not block the page.

import { button, copyButton, el, fill, plain } from './dom.js';
import { highlighted } from './python.js';
import { textOf } from './api.js';
import { bytes, dollars, itemAddress, time, tokens, whole } from './units.js';
import { branchSums, callState, cellState, findCell, findTool, frameState, toolState } from './tree.js';
import { effectState } from './effects.js';
import { citationList } from './source.js';
import { prose } from './prose.js';

const CHARS_SHOWN = 20000;
const MESSAGES_MAX = 500;

/** The panel. `show(run, kind, id)` fills it. `refresh(run)` updates it during a run: the figures always, the texts when the
 * state of the item changes. */
export function detail({ origin, runId, openSource }) {
  const element = el(
    'aside',
    { class: 'detail', 'aria-label': 'Details', tabindex: '-1' },
    el('p', { class: 'empty' }, 'Select a frame, a call, a cell or a tool to see its details.'),
  );
  const context = { origin, runId, openSource };
  const makers = { call: callDetail, cell: cellDetail, frame: frameDetail, tool: toolDetail, effect: effectDetail };
  const live = el('div', {});
  let [item, state] = [null, ''];
  const show = (run, kind, id) => {
    const made = Object.hasOwn(makers, kind) ? makers[kind](context, run, id) : null;
    if (!made) return;
    [item, state] = [[kind, id], made.state];
    fill(live, made.live);
    fill(element, heading(context, made.title, kind, id), live, made.texts());
  };
  return {
    element,
    show,
    refresh(run) {
      if (!item) return;
      const made = makers[item[0]](context, run, item[1]);
      if (made?.state === state) fill(live, made.live);
      else show(run, ...item);
    },
  };
}

/** The name, and a button that copies a link to it. */
function heading({ runId }, title, kind, id) {
  const address = () => `${location.href.split('#')[0]}${itemAddress(runId, 'tree', kind, id)}`;
  return el('div', { class: 'detail-head' }, el('h2', {}, title), copyButton('Copy link', address));
}

function facts(pairs) {
  const filled = pairs.filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return el(
    'dl',
    { class: 'facts small' },
    filled.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))),
  );
}

function callDetail(context, run, id) {
  const call = run.calls.get(id);
  if (!call) return null;
  const usage = call.usage ?? {};
  const live = [
    facts([
      ['State', callState(call)],
      ['Model', call.model],
      ['Sent', call.usage ? `${tokens(whole(usage.input_tokens))} tokens` : ''],
      ['Cached by provider', usage.cached_tokens ? `${tokens(whole(usage.cached_tokens))} tokens` : ''],
      ['Written', call.usage ? `${tokens(whole(usage.output_tokens))} tokens` : ''],
      ['Cost', call.usage ? dollars(whole(usage.cost_microusd)) : ''],
      ['Took', call.settledActiveMs === null ? '' : time(call.settledActiveMs - call.startedActiveMs)],
      ['Stop reason', call.stop && call.stop !== 'finished' ? call.stop : ''],
      ['Retried after', call.retries.join(', ')],
    ]),
    call.message ? el('p', { class: 'failure' }, call.message) : null,
    call.state === 'open' && call.streamed
      ? el('section', {}, el('h3', {}, 'Reply so far'), el('pre', { class: 'code', tabindex: '0' }, call.streamed))
      : null,
  ];
  const texts = () => [
    call.state === 'replied' ? section('Reply', context, call.reply, true) : null,
    prompt(context, call.prompt),
  ];
  return { title: `Call ${id}`, state: call.state, live, texts };
}

/** A prompt is a record that refers to its parts; each part is shown separately. */
function prompt(context, text) {
  const place = el('div', {}, el('p', { class: 'empty' }, 'Loading the prompt…'));
  textOf(context.origin, context.runId, text)
    .then((record) => {
      const parsed = JSON.parse(record);
      const messages = (Array.isArray(parsed.messages) ? parsed.messages : []).slice(0, MESSAGES_MAX);
      fill(
        place,
        section('System', context, parsed.system, false),
        messages.map((message, idx) => [
          section(speaker(message.speaker), context, message.text, idx + 1 === messages.length),
          (Array.isArray(message.parts) ? message.parts : []).map((part) => section('Tool', context, part, false)),
        ]),
      );
    })
    .catch((error) =>
      fill(
        place,
        el(
          'p',
          { class: 'failure' },
          error instanceof SyntaxError
            ? 'The prompt has a format that this page does not support.'
            : `Could not load the prompt: ${error.message}`,
        ),
      ),
    );
  return el('section', {}, el('h3', {}, 'Prompt'), place);
}

function speaker(word) {
  return word === 'assistant' ? 'Model' : word === 'user' ? 'User' : plain(word ?? 'Unknown');
}

/** A collapsible text, fetched when it is opened. */
function section(title, context, text, isOpen) {
  if (!text || (text.text === '' && !text.blob)) return null;
  const size = text.blob ? whole(text.bytes) : new Blob([text.text ?? '']).size;
  const body = el('div', {});
  const element = el(
    'details',
    { class: 'text' },
    el('summary', {}, title, ' ', el('span', { class: 'n' }, bytes(size))),
    body,
  );
  let isLoaded = false;
  const load = () => {
    if (isLoaded) return;
    isLoaded = true;
    textOf(context.origin, context.runId, text)
      .then((shown) => fill(body, long(shown)))
      .catch((error) => {
        isLoaded = false;
        fill(body, el('p', { class: 'failure' }, error.message));
      });
  };
  element.addEventListener('toggle', () => element.open && load());
  if (isOpen) element.open = true;
  return element;
}

/** Text in a box, cut if it is very long. */
export function long(text, className = 'code') {
  const beginning = text.slice(0, CHARS_SHOWN);
  const box = el(
    'pre',
    { class: className, tabindex: '0' },
    className.includes('python') ? highlighted(beginning) : beginning,
  );
  const boxed = el('div', { class: 'code-box' }, copyButton('Copy', () => text), box);
  if (text.length <= CHARS_SHOWN) return boxed;
  let shown = CHARS_SHOWN;
  const more = button(
    `Show more of ${bytes(text.length)}`,
    () => {
      box.append(document.createTextNode(plain(text.slice(shown, shown + CHARS_SHOWN * 5))));
      shown += CHARS_SHOWN * 5;
      if (shown >= text.length) more.remove();
    },
    { class: 'more' },
  );
  return [boxed, more];
}

function cellDetail(context, run, id) {
  const cell = findCell(run, id);
  if (!cell) return null;
  const live = facts([
    ['Ended', cellState(cell)],
    ['Took', time(cell.tookMs)],
    ['Calls', cell.calls || ''],
    ['Children', cell.children || ''],
  ]);
  return { title: `Cell ${id}`, state: cellState(cell), live, texts: () => cellTexts(context, cell) };
}

function toolDetail(context, run, id) {
  const tool = findTool(run, id);
  if (!tool) return null;
  const live = facts([
    ['Ended', toolState(tool)],
    ['Took', time(tool.tookMs)],
    ['Files', tool.paths.join(', ')],
  ]);
  return { title: `${tool.name} ${id}`, state: toolState(tool), live, texts: () => toolTexts(context, tool) };
}

function effectDetail(context, run, id) {
  const effect = run.effects.get(id);
  if (!effect) return null;
  const live = facts([
    ['Ended', effectState(effect)],
    ['Effect', effect.effect],
    ['Consent', effect.consent === 'asked' ? '' : effect.consent],
    ['Took', effect.outcome ? time(effect.tookMs) : ''],
  ]);
  const output = effect.outcome?.value ?? effect.outcome?.message ?? { text: '' };
  const texts = () => toolTexts(context, { arguments: effect.arguments, output });
  return { title: `${effect.name} ${id}`, state: effectState(effect), live, texts };
}

/** The arguments and the output of a tool call. */
export function toolTexts(context, tool) {
  const put = (text) => {
    const place = el('div', {});
    textOf(context.origin, context.runId, text)
      .then((shown) => fill(place, shown === '' ? el('p', { class: 'empty' }, 'Nothing.') : long(shown)))
      .catch((error) => fill(place, el('p', { class: 'failure' }, error.message)));
    return place;
  };
  return [el('p', { class: 'label' }, 'Arguments'), put(tool.arguments), el('p', { class: 'label' }, 'Outcome'), put(tool.output)];
}

/** The code of a cell and its output. */
export function cellTexts(context, cell) {
  const code = el('div', {});
  const output = el('div', {});
  const put = (place, text, className) =>
    textOf(context.origin, context.runId, text)
      .then((shown) =>
        fill(place, shown === '' ? el('p', { class: 'empty' }, 'No output.') : long(shown, className)),
      )
      .catch((error) => fill(place, el('p', { class: 'failure' }, error.message)));
  put(code, cell.code, 'code python');
  put(output, cell.output, 'code output');
  const errorText = cell.outcome.traceback ?? cell.outcome.message;
  return [
    el('p', { class: 'label' }, 'Code'),
    code,
    el('p', { class: 'label' }, 'Output'),
    output,
    errorText ? [el('p', { class: 'label' }, 'Error'), el('pre', { class: 'code failure', tabindex: '0' }, errorText)] : null,
  ];
}

function frameDetail(context, run, id) {
  const frame = run.frames.get(id);
  if (!frame) return null;
  const sum = branchSums(run).get(id);
  const isBranch = sum.calls > frame.nCalls;
  const live = [
    facts([
      ['State', frameState(frame)],
      ['Strategy', frame.strategy],
      ['Calls', ownAndTotal(frame.nCalls, sum.calls, isBranch, String)],
      ['Tokens', ownAndTotal(frame.tokens, sum.tokens, isBranch, tokens)],
      ['Cost', sum.calls ? ownAndTotal(frame.cost, sum.cost, isBranch, dollars) : ''],
      ['Took', frame.closedActiveMs === null ? '' : time(frame.closedActiveMs - frame.openedActiveMs)],
    ]),
    frame.message ? el('p', { class: 'failure' }, frame.message) : null,
  ];
  const texts = () => [
    section('Question', context, frame.question, true),
    section("Parent's note", context, frame.note, false),
    frame.answer ? el('section', {}, el('h3', {}, 'Answer'), frameAnswer(context, frame.answer)) : null,
    frame.citations.length > 0
      ? el('section', {}, el('h3', {}, 'Evidence'), citationList(frame.citations, new Map(), context.openSource))
      : null,
  ];
  return { title: `Frame ${id}`, state: frameState(frame), live, texts };
}

function frameAnswer(context, text) {
  const place = el('div', {});
  textOf(context.origin, context.runId, text)
    .then((shown) => fill(place, readable(shown)))
    .catch((error) => fill(place, el('p', { class: 'failure' }, error.message)));
  return place;
}

/** What a frame spent itself and, if its children spent something, the total with all descendants. */
function ownAndTotal(own, all, isBranch, show) {
  if (all === 0 && !isBranch) return '';
  return isBranch ? `${show(own)} own, ${show(all)} in all` : show(own);
}

/** Indents JSON, such as the reports of analysts; renders other text as prose. */
function readable(text) {
  if (!text.startsWith('{')) return prose(text.slice(0, CHARS_SHOWN * 5));
  try {
    return long(JSON.stringify(JSON.parse(text), null, 2));
  } catch {
    return prose(text.slice(0, CHARS_SHOWN * 5));
  }
}
