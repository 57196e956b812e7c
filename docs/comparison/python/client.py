# urllib3's client for the comparison: one request to MOCK_URL, three attempts.
# With METHOD=POST it sends a body, with KEY an Idempotency-Key.
import os
import sys

import urllib3

if sys.argv[1:] == ["--version"]:
    print(urllib3.__version__)
    sys.exit(0)
method, key = os.environ["METHOD"], os.environ.get("KEY")
retries = urllib3.Retry(
    total=2, backoff_factor=0.5, status_forcelist=[429, 500, 502, 503, 504],
    allowed_methods=None if key else urllib3.Retry.DEFAULT_ALLOWED_METHODS,  # with a key any method may be sent again
)
http = urllib3.PoolManager(retries=retries, timeout=urllib3.Timeout(connect=5, read=10))
try:
    r = http.request(
        method, os.environ["MOCK_URL"], body=b"amount=5" if method == "POST" else None,
        headers={"Idempotency-Key": key} if key else {},
    )
except urllib3.exceptions.HTTPError as e:
    print(e, file=sys.stderr)
    sys.exit(1)
sys.exit(0 if r.status < 400 else 22)
