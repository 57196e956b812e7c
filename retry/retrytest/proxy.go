package retrytest

// relay is replaced below.
func (c *conn) relay(x *exchange, in *intake, out *http1Carrier) bool { return false }
