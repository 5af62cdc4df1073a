"""Random configurations, and requests for their routes that carry some of their identities."""

from dataclasses import dataclass, field

from .issuers import SECRET, signed

HOSTS = ["a.test", "b.test", "x.c.test"]
HOST_PATTERNS = ["a.test", "b.test", "*.c.test"]
PATTERNS = ["/", "/a", "/a/b", "/a/*", "/a/**", "/users/{id}", "/users/{id}/x", "/B/", "/**"]
PATHS = ["/", "/a", "/a/b", "/a/b/c", "/A", "/a/", "//a", "/a//b", "/a/../a/b", "/a;v=1", "/a%2Fb",
         "/%61", "/a%3Fx", "/users/{n}", "/users/{n}/x", "/users/", "/B/", "/b", "/zz", "/%zz",
         "/a%00", "/a\\b", "/a%252e"]
IDENTITIES = {
    "client": {"client_address": {}},
    "key": {"header": "x-key"},
    "parameter": {"query": "key"},
    "last": {"query": "key", "repeated": "last"},
    "session": {"cookie": "sid"},
    "whole_path": {"path": {}},
    "any_key": {"any_of": [{"header": "x-key"}, {"query": "key"}]},
    "subject": {"jwt": {"provider": "idp", "claim": "sub"}},
    "tenant": {"all_of": [{"header": "x-tenant"}, {"client_address": {}}]},
}
ALSO_MATCH = ["letter_case", "trailing_slash", "repeated_slashes", "dot_segments", "parameters",
              "encoded_delimiters"]
ALGORITHMS = ["gcra", "token_bucket", "fixed_window", "sliding_window", "sliding_log",
              "leaky_bucket", "attributed_window", "concurrency"]
ATTRIBUTES = [["method"], ["header:user-agent"], ["query:key"], ["identity:key"]]
METHODS = ["GET", "GET", "GET", "GET", "POST", "PUT", "HEAD", "OPTIONS", "get", "TRACE"]


@dataclass
class Request:
    method: str
    target: str
    host: str
    peer: str
    fields: list = field(default_factory=list)
    body: bytes = b""


def policy(random):
    algorithm = random.choice(ALGORITHMS)
    rate = f"{random.choice([1, 3, 10, 600])}/{random.choice(['1s', '10s', '1m', '1h'])}"
    made = {"algorithm": algorithm, "rate": rate}
    if algorithm == "concurrency":
        made = {"algorithm": algorithm, "limit": random.choice([1, 3, 30])}
    if algorithm in ("gcra", "token_bucket") and random.random() < 0.5:
        made["burst"] = random.randint(1, 20)
    if algorithm in ("fixed_window", "attributed_window") and random.random() < 0.3:
        made["anchor"] = "clock"
    if algorithm in ("fixed_window", "sliding_log") and random.random() < 0.3:
        made["count_rejected"] = True
    if algorithm == "leaky_bucket" and random.random() < 0.7:
        made |= {"rate": "100/1s", "queue": random.randint(1, 5)}
    if algorithm == "sliding_window" and random.random() < 0.3:
        del made["rate"]
        made["rates"] = ["10/1s", "100/1m"]
    if algorithm == "attributed_window":
        made["attributes"] = random.choice(ATTRIBUTES)
    if random.random() < 0.35:
        made["mode"] = "shadow"
    if random.random() < 0.15:
        made["headers"] = False
    if random.random() < 0.15:
        made["status"] = 503
    return made


def limit(random, policies, identities):
    made = {"policy": random.choice(list(policies)), "key": random.choice(identities)}
    others = [name for name in identities if name != made["key"]]
    if random.random() < 0.3:
        made["otherwise"] = random.choice(others)
    elif random.random() < 0.15:
        made["required"] = True
    if random.random() < 0.4:
        made["cost"] = random.choice([0, 1, 2, 3, 5, 30, 30])
    algorithm = policies[made["policy"]]["algorithm"]
    if random.random() < 0.1 and algorithm not in ("leaky_bucket", "concurrency"):
        made["overdraft"] = True
    elif random.random() < 0.1 and algorithm != "concurrency":
        made["charge"] = random.choice([{"status": [200]}, {"status_not": ["500-599"]},
                                         {"grpc_status": [16]}])
    return made


def route(random, number, policies, identities):
    pattern = random.choice(PATTERNS)
    match = {"path": pattern}
    if random.random() < 0.3:
        match["host"] = random.choice(HOST_PATTERNS)
    if random.random() < 0.25:
        match["methods"] = random.sample(["GET", "POST", "PUT"], random.randint(1, 2))
    if random.random() < 0.15:
        match["headers"] = {"x-beta": "1"}
    made = {"name": f"r{number}", "match": match}
    action = random.random()
    if action < 0.15:
        made["decide"] = True
    elif action < 0.5:
        made["upstream"] = "main"
    else:
        made["respond"] = {"status": random.choice([200, 200, 204, 403])}
    if random.random() < 0.15:
        made["encoded_slashes"] = "match_both"
    usable = [*identities, "user"] if "{id}" in pattern else identities
    limits = [limit(random, policies, usable) for _ in range(random.choice([0, 1, 1, 2, 3]))]
    # The loader rejects a limit that appears twice.
    made["limits"] = list({(one["policy"], one["key"]): one for one in limits}.values())
    return made


def configuration(random, upstream, log):
    chosen = random.sample(list(IDENTITIES), random.randint(2, 5))
    identities = {name: IDENTITIES[name] for name in chosen}
    identities.setdefault("key", IDENTITIES["key"])
    names = list(identities)
    identities["user"] = {"path": "id"}
    policies = {f"p{number}": policy(random) for number in range(random.randint(1, 4))}
    made = {
        "listen": [{"address": "127.0.0.1:0"}],
        "admin": "off",
        "access_log": {"path": str(log)},
        "workers": 1,
        "identity_secret": f"secret {random.random()}",
        "response_headers": {"partition_key": True},
        "upstreams": {"main": {"servers": [{"url": upstream}]}},
        "jwt_providers": {"idp": {"algorithms": ["HS256"], "secret": SECRET,
                                  "on_invalid": random.choice(["reject", "absent"])}},
        "identities": identities,
        "policies": policies,
        "routes": [route(random, number, policies, names)
                   for number in range(random.randint(1, 6))],
    }
    if random.random() < 0.6:  # else most requests find no route
        made["routes"].append({**route(random, len(made["routes"]), policies, names), "match": {}})
    if random.random() < 0.5:
        made["client_address"] = {"trusted_proxies": ["127.0.0.0/8"]}
    if random.random() < 0.3:
        made["paths"] = {"also_match": random.sample(ALSO_MATCH, random.randint(0, 3))}
    if random.random() < 0.2:
        made["downstream"] = {"max_body": 10, "max_target": 256}
    return made


def query(random, number):
    chance = random.random()
    if chance < 0.45:
        return ""
    if chance < 0.9:
        return f"?key=k{number}&page=1"
    return random.choice([f"?key=k{number}&key=l{number}", f"?Key=k{number}",
                          f"?a=1;key=k{number}", "?" + "x" * 300])


def credentials(random, number):
    """A valid token, or one of those that are not."""
    claims = {"sub": f"s{number}", "exp": 4_000_000_000}
    if random.random() < 0.7:
        return random.choice(["Bearer " + signed(claims),
                              "bearer " + signed({**claims, "sub": number})])
    return random.choice(["Bearer " + signed({**claims, "exp": 1}), "Bearer a b", "Basic YTpi",
                          "Bearer " + signed(claims, secret="invented")])


def request(random, number):
    """The number-th request: what it identifies its client by is no other request's."""
    path = random.choice(PATHS).replace("{n}", f"n{number}")
    made = Request(method=random.choice(METHODS), target=path + query(random, number),
                   host=random.choice([*HOSTS, "A.Test.", "other.test"]),
                   peer=f"127.1.{number // 250 % 250}.{number % 250 + 1}")
    forwarded_for = f"192.0.2.1, 10.9.{number // 250 % 250}.{number % 250 + 1}"
    for chance, name, value in (
            (0.6, "X-Key", f"k{number}"), (0.05, "X-Key", f"l{number}"),
            (0.02, "X_Key", "look-alike"), (0.3, "X-Beta", random.choice("112")),
            (0.4, "Cookie", f"a=b; sid=s{number}"), (0.4, "X-Tenant", f"t{number}"),
            (0.12, "Authorization", credentials(random, number)),
            (0.3, "User-Agent", "agent"), (0.3, "X-Forwarded-For", forwarded_for),
            (0.1, "X-Original-URI", f"/users/o{number}"), (0.1, "X-Original-Method", "POST"),
            (0.1, "X-Forwarded-Host", "b.test"), (0.05, "Connection", "x-key")):
        if random.random() < chance:
            made.fields.append((name, value))
    if made.method in ("POST", "PUT") and random.random() < 0.5:
        made.body = b"x" * random.choice([3, 30])
        made.fields.append(("Content-Length", str(len(made.body))))
    return made
