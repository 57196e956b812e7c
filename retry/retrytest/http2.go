package retrytest

func (c *conn) serveHTTP2() {}
