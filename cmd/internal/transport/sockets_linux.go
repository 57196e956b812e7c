package transport

// abstractSockets: Linux has names for unix sockets that are no paths.
const abstractSockets = true
