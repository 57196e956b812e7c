package request

import "errors"

var (
	errBodyChanged   = errors.New("the request body has changed")
	errNotReplayable = errors.New("the request body cannot be sent again")
)
