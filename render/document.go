// Package render holds the timeline document and shows it: JSON, JSONL, human
// timeline, notices and the live countdown. Everything is rendered from the
// document and nothing else.
package render

// Version of the document. Within it fields are only added.
const Version = 1

// Document is the JSON timeline of one operation (docs/timeline.schema.json).
// A value that does not exist is null: pointers are nil, never a made-up zero.
type Document struct {
	Version   int       `json:"version"`
	Bide      string    `json:"bide"`
	Operation Operation `json:"operation"`
	Policy    Policy    `json:"policy"`
	Attempts  []Attempt `json:"attempts"`
	Response  *Response `json:"response"`
	Outcome   *Outcome  `json:"outcome"`
}

// Operation says what was asked for.
type Operation struct {
	ID             string  `json:"id"`
	Index          int     `json:"index"`
	Page           *int    `json:"page"` // of --paginate, from 1; null without
	Label          *string `json:"label"`
	Method         string  `json:"method"`
	URL            string  `json:"url"`
	IdempotencyKey *string `json:"idempotency_key"`
	StartedAt      Time    `json:"started_at"`
	InitialWaitMS  MS      `json:"initial_wait_ms"`
}

// Policy is the retry policy in force.
type Policy struct {
	Attempts         *int     `json:"attempts"` // null: unlimited
	BaseMS           MS       `json:"base_ms"`
	CapMS            *MS      `json:"cap_ms"`
	JitterRatio      float64  `json:"jitter_ratio"`
	JitterMode       string   `json:"jitter_mode"`
	Backoff          string   `json:"backoff"`
	RetryAfterMode   string   `json:"retry_after_mode"`
	DeadlineMS       *MS      `json:"deadline_ms"`
	RetryMaxTimeMS   *MS      `json:"retry_max_time_ms"`
	AttemptReserveMS MS       `json:"attempt_reserve_ms"`
	MaxTimeMS        *MS      `json:"max_time_ms"`
	RetryOn          []string `json:"retry_on"`
	Idempotent       bool     `json:"idempotent"`
	SafeOn           []string `json:"safe_on"`
	Seed             *uint64  `json:"seed"`
}

// Attempt is one try.
type Attempt struct {
	Number           int               `json:"number"`
	Counted          bool              `json:"counted"`
	OffsetMS         MS                `json:"offset_ms"`
	DurationMS       MS                `json:"duration_ms"`
	Connections      []Connection      `json:"connections"`
	Hops             []Hop             `json:"hops"`
	Status           *int              `json:"status"`
	Class            *string           `json:"class"`
	Phase            string            `json:"phase"`
	Sent             string            `json:"sent"`
	Error            *string           `json:"error"`
	Headers          map[string]string `json:"headers"`
	SentBytes        int64             `json:"sent_bytes"`
	ReceivedBytes    int64             `json:"received_bytes"`
	ResumedFromBytes *int64            `json:"resumed_from_bytes"`
	Checksum         *Checksum         `json:"checksum"` // null: no whole body was held to one
	Until            *bool             `json:"until"`    // whether --until was true of the answer; null: it was not asked
	Server           Server            `json:"server"`
	Decision         Decision          `json:"decision"`
}

// Checksum is the digest of a whole body beside what --checksum asks for.
type Checksum struct {
	Algorithm string `json:"algorithm"` // sha256 or sha512
	Expected  string `json:"expected"`  // lower-case hex
	Actual    string `json:"actual"`
	Matches   bool   `json:"matches"`
}

// Connection is one address that was tried.
type Connection struct {
	Address   string  `json:"address"`
	Error     *string `json:"error"`
	ConnectMS *MS     `json:"connect_ms"`
}

// Hop is one request on the wire.
type Hop struct {
	Method           string  `json:"method"`
	URL              string  `json:"url"`
	RemoteAddress    *string `json:"remote_address"`
	Protocol         *string `json:"protocol"`
	TLS              *TLS    `json:"tls"`
	ConnectionReused bool    `json:"connection_reused"`
	DNSMS            *MS     `json:"dns_ms"`
	ConnectMS        *MS     `json:"connect_ms"`
	TLSMS            *MS     `json:"tls_ms"`
	SendMS           *MS     `json:"send_ms"`
	FirstByteMS      *MS     `json:"first_byte_ms"`
	BodyMS           *MS     `json:"body_ms"`
	TotalMS          MS      `json:"total_ms"`
	Status           *int    `json:"status"`
	Location         *string `json:"location"`
	WaitMS           *MS     `json:"wait_ms"`
}

// TLS describes a hop's TLS session.
type TLS struct {
	Version  string  `json:"version"`
	Cipher   string  `json:"cipher"`
	ALPN     *string `json:"alpn"`
	Issuer   string  `json:"issuer"`
	NotAfter Time    `json:"not_after"`
}

// Server is what the answer said about when to come back.
type Server struct {
	Header    *string `json:"header"`
	Raw       *string `json:"raw"`
	Kind      string  `json:"kind"`
	MinimumMS *MS     `json:"minimum_ms"`
	Clock     *string `json:"clock"`
	SkewMS    *MS     `json:"skew_ms"`
}

// Decision is what the engine decided after the attempt.
type Decision struct {
	Action      string  `json:"action"` // retry or stop
	Reason      *string `json:"reason"`
	Source      *string `json:"source"`
	LocalMS     *MS     `json:"local_ms"`
	FloorMS     *MS     `json:"floor_ms"`
	CeilingMS   *MS     `json:"ceiling_ms"`
	WaitMS      *MS     `json:"wait_ms"`
	WaitedMS    *MS     `json:"waited_ms"`
	WouldWaitMS *MS     `json:"would_wait_ms"`
}

// Response is the final answer; null when there was none.
type Response struct {
	Status     int         `json:"status"`
	Protocol   string      `json:"protocol"`
	Headers    [][2]string `json:"headers"`
	BodyBytes  int64       `json:"body_bytes"`
	Body       *string     `json:"body"`
	BodyBase64 *string     `json:"body_base64"`
	SavedTo    *string     `json:"saved_to"`
}

// Outcome is how the operation ended.
type Outcome struct {
	Reason           string   `json:"reason"`
	Class            *string  `json:"class"`
	ExitCode         int      `json:"exit_code"`
	Status           *int     `json:"status"`
	Message          *string  `json:"message"`
	Attempts         int      `json:"attempts"`
	Retries          int      `json:"retries"`
	Requests         int      `json:"requests"`
	ElapsedMS        MS       `json:"elapsed_ms"`
	WaitedMS         MS       `json:"waited_ms"`
	NextAttemptAt    *Time    `json:"next_attempt_at"`
	NextAttemptEpoch *float64 `json:"next_attempt_epoch"`
}
