package mock

import (
	"encoding/xml"
	"fmt"
	"io"
	"time"

	"github.com/bidehttp/bide/render"
)

// The JUnit XML that CI systems read: one suite, one case for each check or row.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Time     string      `xml:"time,attr"` // seconds
		Cases    []junitCase `xml:"testcase"`
		Out      string      `xml:"system-out,omitempty"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Failure *junitFailure `xml:"failure"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
	}
)

func newSuite(name string, took time.Duration) *junitSuites {
	return &junitSuites{Suite: junitSuite{Name: name, Time: fmt.Sprintf("%.3f", took.Seconds())}}
}

// add adds a case.
func (s *junitSuites) add(name string, ok bool, detail string) {
	c := junitCase{Name: name, Class: s.Suite.Name}
	s.Suite.Tests++
	if !ok {
		s.Suite.Failures++
		c.Failure = &junitFailure{Message: render.Text(detail)}
	}
	s.Suite.Cases = append(s.Suite.Cases, c)
}

// write writes the file.
func (s *junitSuites) write(w io.Writer) error {
	b, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(b)+"\n")
	return err
}

func (r *report) junit(w io.Writer) error {
	took := time.Duration(0)
	if r.end != nil {
		took = r.end.took
	}
	s := newSuite("bide mock", took)
	for _, c := range r.results {
		s.add(c.Check, c.OK, c.Detail)
	}
	s.Suite.Out = r.log.String()
	return s.write(w)
}
