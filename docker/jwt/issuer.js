// A small issuer of tokens for the example beside it. Not for production: it gives a token to everybody.
//
//   GET  /.well-known/jwks.json       the public keys
//   POST /token?sub=alice&plan=gold   a token, valid for 10 minutes
//   POST /rotate                      a new key; the previous one stays published until the next rotation
//
// Environment: PORT (9000), ISSUER (https://issuer.example), ROTATE_S (300; 0: only on request).
"use strict";
const crypto = require("node:crypto");
const http = require("node:http");

const port = Number(process.env.PORT ?? 9000);
const issuer = process.env.ISSUER ?? "https://issuer.example";
const rotateSeconds = Number(process.env.ROTATE_S ?? 300);
const lifetimeSeconds = 600;

let keys = []; // the newest first: it signs

function rotate() {
  const pair = crypto.generateKeyPairSync("ec", {namedCurve: "P-256"});
  keys = [{id: crypto.randomUUID(), ...pair}, ...keys].slice(0, 2);
}

function keySet() {
  return {keys: keys.map(({id, publicKey}) => ({...publicKey.export({format: "jwk"}), kid: id, use: "sig", alg: "ES256"}))};
}

function token(claims) {
  const now = Math.floor(Date.now() / 1000);
  const encode = (part) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const text = encode({alg: "ES256", typ: "JWT", kid: keys[0].id}) + "." +
    encode({iss: issuer, aud: "api", iat: now, exp: now + lifetimeSeconds, ...claims});
  const signature = crypto.sign("sha256", Buffer.from(text), {key: keys[0].privateKey, dsaEncoding: "ieee-p1363"});
  return text + "." + signature.toString("base64url");
}

const server = http.createServer((request, response) => {
  const url = new URL(request.url, "http://issuer");
  const answer = (status, type, body) => response.writeHead(status, {"Content-Type": type}).end(body);
  if (request.method === "GET" && url.pathname === "/.well-known/jwks.json")
    return answer(200, "application/json", JSON.stringify(keySet()));
  if (request.method === "POST" && url.pathname === "/token")
    return answer(200, "text/plain", token(Object.fromEntries(url.searchParams)) + "\n");
  if (request.method === "POST" && url.pathname === "/rotate") {
    rotate();
    return answer(200, "text/plain", `${keys[0].id}\n`);
  }
  return answer(404, "text/plain", "not found\n");
});

rotate();
if (rotateSeconds > 0) setInterval(rotate, rotateSeconds * 1000);
server.listen(port, () => console.log(`issuer on port ${server.address().port}`));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
