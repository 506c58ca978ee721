"""What joserfc takes to validate an ID token; the same conversation as jose/main.go's."""
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
    # The algorithm is the client's, not the header's; the benchmark sends one of these.
    algorithms = ["RS256", "ES256"]
    start = time.perf_counter_ns()
    for _ in range(int(count)):
        rules.validate(jwt.decode(token, key_set, algorithms=algorithms).claims)
    print("ok", time.perf_counter_ns() - start, 0, flush=True)
