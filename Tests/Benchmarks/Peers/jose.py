"""Measures the validation of an ID token by joserfc, with that command of jose/main.go."""
import base64
import json
import sys
import time

from joserfc import jwk, jwt

for line in sys.stdin:
    count, issuer, client, keys, token = line.split()
    key_set = jwk.KeySet.import_key_set(json.loads(base64.b64decode(keys)))
    rules = jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": client},
        exp={"essential": True},
        iat={"essential": True},
    )
    # The client chooses the algorithm, not the header; the benchmark uses one of these.
    algorithms = ["RS256", "ES256"]
    start = time.perf_counter_ns()
    for _ in range(int(count)):
        rules.validate(jwt.decode(token, key_set, algorithms=algorithms).claims)
    print("ok", time.perf_counter_ns() - start, 0, flush=True)
