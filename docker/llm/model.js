// A stand-in for an LLM, for the example beside it: it answers in the format of OpenAI's chat completions. A token is a
// word. It writes as many as max_tokens allows, 16 by default, so the usage of a request is known in advance.
//
//   POST /v1/chat/completions   {"messages": [...], "max_tokens": 40, "stream": true,
//                                "stream_options": {"include_usage": true}}
//
// Environment: PORT (9000), TOKEN_MS (20): the time for each token of a stream.
"use strict";
const http = require("node:http");

const port = Number(process.env.PORT ?? 9000);
const tokenMs = Number(process.env.TOKEN_MS ?? 20);

function words(messages) {
  return messages.reduce((sum, {content}) => sum + String(content).split(/\s+/).filter(Boolean).length, 0);
}

function usageOf(prompt, completion) {
  return {prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion};
}

function answerWhole(response, text, usage) {
  const body = {object: "chat.completion", choices: [{index: 0, message: {role: "assistant", content: text.join(" ")}}], usage};
  response.writeHead(200, {"Content-Type": "application/json"}).end(JSON.stringify(body) + "\n");
}

function answerStream(response, text, usage, includeUsage) {
  const send = (event) => response.write(`data: ${event}\n\n`);
  const chunk = (fields) => send(JSON.stringify({object: "chat.completion.chunk", ...fields}));
  response.writeHead(200, {"Content-Type": "text/event-stream"});
  let next = 0;
  const timer = setInterval(() => {
    if (next < text.length) {
      chunk({choices: [{index: 0, delta: {content: text[next++] + " "}}], ...(includeUsage && {usage: null})});
      return;
    }
    clearInterval(timer);
    if (includeUsage) chunk({choices: [], usage});
    send("[DONE]");
    response.end();
  }, tokenMs);
  response.on("close", () => clearInterval(timer));
}

const server = http.createServer((request, response) => {
  const fail = (status, message) =>
    response.writeHead(status, {"Content-Type": "application/json"}).end(JSON.stringify({error: {message}}) + "\n");
  if (request.method !== "POST" || request.url !== "/v1/chat/completions") return fail(404, "not found");
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    let asked;
    try {
      asked = JSON.parse(Buffer.concat(pieces));
    } catch {
      return fail(400, "the body is no JSON");
    }
    if (!Array.isArray(asked.messages)) return fail(400, "messages is missing");
    const text = Array.from({length: asked.max_tokens ?? 16}, (_, i) => `word${i + 1}`);
    const usage = usageOf(words(asked.messages), text.length);
    if (!asked.stream) return answerWhole(response, text, usage);
    return answerStream(response, text, usage, Boolean(asked.stream_options?.include_usage));
  });
});

server.listen(port, () => console.log(`model on port ${server.address().port}`));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
