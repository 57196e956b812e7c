// undici's RetryAgent for the comparison: one request to MOCK_URL, three attempts.
// With METHOD=POST it sends a body, with KEY an Idempotency-Key.
import { Agent, RetryAgent, request } from 'undici'

const { METHOD: method, KEY: key, MOCK_URL: url } = process.env
const methods = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']
const dispatcher = new RetryAgent(new Agent(), {
  maxRetries: 2, minTimeout: 1000, maxTimeout: 30000, timeoutFactor: 2,
  methods: key ? [...methods, 'POST'] : methods // with a key a POST may be sent again
})
try {
  const response = await request(url, {
    dispatcher, method, body: method === 'POST' ? 'amount=5' : undefined,
    headers: key ? { 'idempotency-key': key } : {}
  })
  for await (const _ of response.body);
  process.exit(response.statusCode < 400 ? 0 : 22)
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
