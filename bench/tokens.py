"""Tokens for script/bench, signed by PyJWT of Debian's interpreter: python3-jwt."""

import functools
import json
import subprocess

SIGN = r"""
import json, sys, time
import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
algorithm, count = sys.argv[1], int(sys.argv[2])
if algorithm == "RS256":
    key, kind = rsa.generate_private_key(public_exponent=65537, key_size=2048), RSAAlgorithm
    jwk = json.loads(kind.to_jwk(key.public_key()))
else:
    key = ec.generate_private_key(ec.SECP256R1())
    numbers = key.public_key().public_numbers()
    point = {name: jwt.utils.base64url_encode(value.to_bytes(32, "big")).decode()
             for name, value in (("x", numbers.x), ("y", numbers.y))}
    jwk = {"kty": "EC", "crv": "P-256", **point}
jwk = {**{name: value for name, value in jwk.items() if name != "key_ops"}, "kid": "bench", "use": "sig"}
pem = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
now = int(time.time())
claims = {"iss": "https://issuer.example", "aud": "api", "iat": now, "exp": now + 86_400, "scope": "read write",
          "client_id": "bench"}
tokens = [jwt.encode({**claims, "sub": f"user-{number:06}"}, key, algorithm=algorithm, headers={"kid": "bench"})
          for number in range(count)]
print(json.dumps({"jwks": {"keys": [jwk]}, "pem": pem.decode(), "tokens": tokens}))
"""


@functools.cache
def signed(algorithm, count):
    """`jwks`, `pem` (the public key twice), and `count` different `tokens`."""
    made = subprocess.run(["/usr/bin/python3", "-c", SIGN, algorithm, str(count)], check=True, capture_output=True)
    return json.loads(made.stdout)


def write(algorithm, count, directory):
    """Writes jwks.json, key.pem and `tokens`, one a line."""
    made = signed(algorithm, count)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "jwks.json").write_text(json.dumps(made["jwks"]), encoding="utf-8")
    (directory / "key.pem").write_text(made["pem"], encoding="utf-8")
    (directory / "tokens").write_text("".join(f"{token}\n" for token in made["tokens"]), encoding="utf-8")
