"""Issuers of tokens that other libraries sign: PyJWT of Debian's interpreter, and jose of node.

Each is a process with one JSON text a line in, one out."""

import base64
import hashlib
import hmac
import json
import os
import subprocess

PYTHON = r"""
import functools, json, sys
import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, ed448, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
curves = {"ES256": ec.SECP256R1, "ES384": ec.SECP384R1, "ES512": ec.SECP521R1}
keys = {}
@functools.cache
def rsa_key():  # one for all, because making one takes long
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)
def make(kid, algorithm):
    if algorithm in curves:
        key, kind = ec.generate_private_key(curves[algorithm]()), ECAlgorithm
    elif algorithm == "EdDSA":
        key, kind = ed25519.Ed25519PrivateKey.generate(), OKPAlgorithm
    else:
        key, kind = rsa_key(), RSAAlgorithm
    keys[kid] = key
    members = json.loads(kind.to_jwk(key.public_key()))
    members.pop("key_ops", None)
    if algorithm in curves:  # PyJWT drops leading zeros, which RFC 7518 section 6.2.1.2 requires
        numbers, size = key.public_key().public_numbers(), (key.curve.key_size + 7) // 8
        for name, value in (("x", numbers.x), ("y", numbers.y)):
            members[name] = jwt.utils.base64url_encode(value.to_bytes(size, "big")).decode()
    return {**members, "kid": kid, "use": "sig"}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "make":
        answer = make(asked["kid"], asked["algorithm"])
    else:
        answer = jwt.encode(asked["claims"], keys[asked["kid"]], algorithm=asked["algorithm"],
                            headers=asked["header"])
    print(json.dumps(answer), flush=True)
"""

NODE = r"""
const jose = require("jose"), readline = require("readline"), keys = {};
const rsaPair = jose.generateKeyPair("RS256");
async function answer(asked) {
  if (asked.do === "make") {
    const pair = await (/^[RP]S/.test(asked.algorithm) ? rsaPair :
                        jose.generateKeyPair(asked.algorithm, asked.curve ? {crv: asked.curve} : {}));
    keys[asked.kid] = pair.privateKey;
    return {...await jose.exportJWK(pair.publicKey), kid: asked.kid, use: "sig"};
  }
  return await new jose.SignJWT(asked.claims)
    .setProtectedHeader({alg: asked.algorithm, ...asked.header}).sign(keys[asked.kid]);
}
(async () => {
  for await (const line of readline.createInterface({input: process.stdin}))
    console.log(JSON.stringify(await answer(JSON.parse(line))));
})();
"""


class Issuer:
    """Makes keys and signs tokens with one of the libraries."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, **(environment or {})})

    def make_key(self, kid, algorithm, curve=None):
        """The public key as a JWK."""
        return self._ask(do="make", kid=kid, algorithm=algorithm, curve=curve)

    def token(self, kid, algorithm, claims, **header):
        return self._ask(do="sign", kid=kid, algorithm=algorithm, claims=claims,
                         header={"kid": kid, **header})

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def _ask(self, **asked):
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def pyjwt():
    return Issuer(["/usr/bin/python3", "-c", PYTHON])


def node_jose():
    return Issuer(["node", "-e", NODE], {"NODE_PATH": "/usr/share/nodejs"})


SECRET = "a secret of the tests, which is long enough"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(claims, secret=SECRET, **header):
    """A token with HS256, also one that no library would make: `claims` may be a text."""
    payload = claims if isinstance(claims, str) else json.dumps(claims)
    head = json.dumps({"alg": "HS256", **header})
    text = base64url(head.encode()) + "." + base64url(payload.encode())
    code = hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()
    return text + "." + base64url(code)
