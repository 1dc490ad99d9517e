// Model: a scripted model on a loopback port, in the wire format of `/v1/chat/completions`. Rules are tried in order; the
// first one that matches the prompt answers.

import http from 'node:http';

/** Starts it. `rules` is a list, or a function from a prompt to one, of `{when, reply, last, paceMs, gate, status}`. */
export async function startModel(rules) {
  const prompts = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => answer(rules, prompts, body, response).catch(() => response.destroy()));
  });
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}/v1`,
    prompts,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function answer(rules, prompts, body, response) {
  if (body === '') {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ object: 'list', data: [{ id: 'scripted', object: 'model' }] }));
    return;
  }
  const { messages, model, stream } = JSON.parse(body);
  const prompt = messages.map((message) => message.content).join('\n');
  prompts.push(prompt);
  const last = messages[messages.length - 1].content;
  const rule = (typeof rules === 'function' ? rules(prompt) : rules).find(({ when, last: isLast }) =>
    when instanceof RegExp ? when.test(isLast ? last : prompt) : (isLast ? last : prompt).includes(when),
  );
  if (!rule || rule.status) {
    response.writeHead(rule?.status ?? 418, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'not in the script', type: 'server_error' } }));
    return;
  }
  if (rule.gate) await rule.gate();
  const text = typeof rule.reply === 'function' ? rule.reply(prompt) : rule.reply;
  const usage = { prompt_tokens: Math.ceil(prompt.length / 4), completion_tokens: Math.ceil(text.length / 4) };
  const envelope = { id: 'chatcmpl-1', created: 0, model };
  if (!stream) {
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify({
        ...envelope,
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
        usage,
      }),
    );
    return;
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const send = (choices, more = {}) =>
    response.write(`data: ${JSON.stringify({ ...envelope, object: 'chat.completion.chunk', choices, ...more })}\n\n`);
  for (const piece of text.match(/[\s\S]{1,40}/gu) ?? ['']) {
    send([{ index: 0, delta: { content: piece }, finish_reason: null }]);
    if (rule.paceMs)
      await new Promise((resolve) => {
        setTimeout(resolve, rule.paceMs);
      });
  }
  send([{ index: 0, delta: {}, finish_reason: 'stop' }]);
  send([], { usage });
  response.end('data: [DONE]\n\n');
}
