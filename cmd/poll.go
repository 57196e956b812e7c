package cmd

import (
	"errors"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/retry"
)

// poll is --poll (R2.1b): a 202 is not the result, and says where to ask for it;
// so is, once one was accepted, an answer that --until is not content with.
// Errors are what they always are.
func (op *operation) poll(r *exchange.Response, o *retry.Outcome) {
	if !op.group.Poll || o.Stop != "" || o.Class != retry.ClassNone && o.Class != retry.ClassStatus || r.Status >= 400 {
		return
	}
	holds, asked := op.verdicts[r]
	if r.Status != 202 || asked && holds {
		o.Polling = op.polling && o.Unmet
		return
	}
	o.Class = retry.ClassStatus
	if err := op.exchange.Monitor(r, asked); err != nil {
		o.Err, o.Unmet = err, false
		var class retry.Classified
		if errors.As(err, &class) { // where it leads must not be asked
			r.Discard()
			o.Class = class.RetryClass()
		}
		return
	}
	op.polling, o.Polling = true, true
}
