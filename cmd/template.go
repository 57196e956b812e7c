package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/bidehttp/bide/cmd/internal/auth"
	"github.com/bidehttp/bide/cmd/internal/bounded"
	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/netrc"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/cmd/internal/until"
	"github.com/bidehttp/bide/cmd/internal/writeout"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry"
)

// netrcLookup gives a host's login and password; user narrows it.
type netrcLookup = func(host, user string) (login, password string, ok bool)

// prepared is what the operations of one group share: files and standard input
// named by its flags are read once, however many URLs it has.
type prepared struct {
	*flags.Group
	urls     request.Parser
	files    *request.Files
	client   *exchange.Client
	headers  []request.HeaderLine
	body     request.Body       // of -d, -F and their kin, nil none
	request  *request.Options   // of operations that have nothing of their own
	settings *exchange.Settings // the same
	query    string             // of --url-query and -G

	userAgent string
	lookup    netrcLookup
	sigV4     *auth.SigV4
	user      string // of -u
	password  string
	format    *writeout.Format // of -w, nil none

	contentType string // of the body, unless -H says otherwise

	described   sync.Once
	description render.Policy // see policy
	timeCond    timeCondition
	until       *until.Expr // nil none
}

// newPrepared is a group of which nothing is read yet.
func newPrepared(group *flags.Group) *prepared {
	return &prepared{Group: group, urls: request.Parser{DefaultScheme: group.ProtoDefault, PathAsIs: group.PathAsIs}}
}

// prepare reads what the group's flags name. Nothing has been sent yet.
func (r *run) prepare(ctx context.Context, group *flags.Group) (*prepared, error) {
	g := newPrepared(group)
	g.files, g.userAgent, g.until = r.files(ctx, group), userAgentOf(group), r.untils[group]
	var err error
	parse := request.ParseHeaders
	if group.AsCurl {
		parse = request.ParseHeadersAsCurl
	}
	if g.headers, err = parse(group.Headers, g.files); err != nil {
		return g, err
	}
	if err := r.prepareBody(g); err != nil {
		return g, err
	}
	g.timeCond = r.timeCondition(g.TimeCond)
	if err := errors.Join(checkETagFile(g), checkHeaderFile(g)); err != nil {
		return g, err
	}
	if err := r.compareETag(g); err != nil {
		return g, err
	}
	if g.lookup, err = abandonable(ctx, func() (netrcLookup, error) { return r.netrc(group) }); err != nil {
		return g, err
	}
	if group.WriteOut != "" {
		if g.format, err = abandonable(ctx, func() (*writeout.Format, error) { return r.writeOutFormat(group.WriteOut) }); err != nil {
			return g, err
		}
	}
	if err := g.credentials(); err != nil {
		return g, err
	}
	settings, err := r.settings(group)
	if err != nil {
		return g, err
	}
	g.client = r.newClient(settings)
	if !group.CookieEngine {
		g.client.Jar = nil // as in curl: --next ends what -b FILE and -c began
	}
	g.request = g.commonOptions()
	g.settings = g.commonSettings()
	return g, nil
}

// prepareBody reads what the group sends: a form, data, or a query.
func (r *run) prepareBody(g *prepared) (err error) {
	data := dataParts(g.Data)
	if slices.ContainsFunc(g.Data, func(d flags.DataArg) bool { return d.Kind == flags.DataJSON }) {
		g.headers = request.JSONHeaders(g.headers)
	}
	switch {
	case len(g.Form) > 0:
		err = r.prepareForm(g)
	case !g.Get && len(data) > 0:
		g.contentType = "application/x-www-form-urlencoded"
		g.body, err = request.FromData(data, g.files)
	}
	if err != nil {
		return err
	}
	if !g.Get {
		data = nil
	}
	g.query, err = prepareQuery(dataParts(g.URLQuery), data, g.files)
	return err
}

func (g *prepared) close() {
	if g.client != nil {
		g.client.Quiesce()
	}
	if g.body != nil {
		g.body.Close()
	}
}

// files is how the bodies of a group's requests are reached. A stream is kept
// only where the policy can ever need it twice (R8.1).
func (r *run) files(ctx context.Context, group *flags.Group) *request.Files {
	policy := group.Policy
	gate := policy.Idempotent || group.IdempotencyKey != "" || policy.SafeOn != (retry.Set{})
	for _, arg := range group.URLs {
		gate = gate || retry.IdempotentMethod(methodOf(group, arg))
	}
	return &request.Files{
		Context:   ctx,
		Stdin:     r.env.Stdin,
		TempDir:   r.env.Getenv("TMPDIR"),
		NoSpool:   group.NoSpool,
		MayReplay: policy.Attempts != 1 && gate || group.Follow || group.Digest || group.ProxyDigest || group.HasAWSSigV4 || group.Several(),
	}
}

// template freezes one operation's request (R7.3).
func (r *run) template(g *prepared, arg *flags.URLArg) (request.Template, error) {
	var none request.Template
	u, err := r.parseURL(g, arg.URL)
	if err != nil {
		return none, err
	}
	if u.Scheme == "tcp" {
		return request.Template{URL: u, Options: &request.Options{}}, nil // only the way to the server is used
	}
	u = g.client.Upgrade(u)
	if err := allowScheme(g.Protocols, u); err != nil {
		return none, err
	}
	if arg.HasUpload {
		u = u.WithUploadName(uploadName(arg.Upload))
	}
	if g.query != "" {
		if u, err = u.WithQuery(g.query); err != nil {
			return none, err
		}
	}
	if g.NoUserinfo && u.HasUser {
		return none, &request.Error{Class: retry.ClassRequest, Code: exitcode.Login, Err: curlsWords("Login denied; the URL holds a user name")}
	}
	o, err := r.requestOptions(g, arg, u)
	if err != nil {
		return none, err
	}
	return request.Template{URL: u, Options: o}, nil
}

// requestOptions are the group's, or for an operation that differs its own.
func (r *run) requestOptions(g *prepared, arg *flags.URLArg, u *request.URL) (*request.Options, error) {
	if !arg.HasUpload && !u.HasUser && !g.drawsKeys() {
		return g.request, nil
	}
	own := *g.request
	own.Auth = authOf(g, u.Authority)
	if arg.HasUpload {
		if err := addUpload(&own, g, arg); err != nil {
			return nil, err
		}
	}
	if g.drawsKeys() {
		own.KeyValue = r.newKey()
	}
	return &own, nil
}

// commonOptions are those of operations that have nothing of their own.
func (g *prepared) commonOptions() *request.Options {
	o := &request.Options{
		Method: methodOf(g.Group, flags.URLArg{}), MethodGiven: g.Method != "",
		Headers: g.headers, UserAgent: g.userAgent, Accept: "*/*",
		Range: g.Range, Compressed: g.Compressed, Body: g.body, ContentType: g.contentType,
		Cookies: strings.Join(g.Cookies, ";"), RequestTarget: g.RequestTarget,
		Follow: g.Follow, MaxRedirects: g.MaxRedirects,
		Post301: g.Post301, Post302: g.Post302, Post303: g.Post303, LocationTrusted: g.LocationTrusted,
		Conditions: g.timeCond.fields(), TE: g.TREncoding, SchemesRedir: redirectSchemes(g.Protocols, g.ProtocolsRedir),
		NoUserinfo: g.NoUserinfo, AsCurl: g.AsCurl, Auth: authOf(g, &request.Authority{}),
	}
	o.Referer, o.AutoReferer = strings.CutSuffix(g.Referer, ";auto")
	if g.IdempotencyKey != "" {
		o.KeyName, o.KeyValue = cmp.Or(g.IdempotencyHeader, "Idempotency-Key"), g.IdempotencyKey
	}
	return o
}

// commonSettings are those of every exchange of the group.
func (g *prepared) commonSettings() *exchange.Settings {
	return &exchange.Settings{
		Client:           g.client,
		RateLimitHeaders: g.RateLimitHeaders,
		MaxFileSize:      g.MaxFileSize,
		ExpectTimeout:    g.Expect100Timeout,
		IgnoreLength:     g.IgnoreContentLength,
		Raw:              g.Raw,
		AsCurl:           g.AsCurl,
		LimitRate:        g.LimitRate,
		LowSpeed:         exchange.LowSpeed{Limit: g.SpeedLimit, Time: g.SpeedTime},
		HeadOnly:         g.Head && g.request.Method != "HEAD",
		NoConnectBlocks:  g.SuppressConnectHeaders,
		HTTP09:           g.HTTP09,
		Poll:             g.Poll,
	}
}

// parseURL reads one URL as its group does.
func (r *run) parseURL(g *prepared, text string) (*request.URL, error) {
	if r.options.Global.Wait && flags.IsTCP(text) {
		return request.ParseTCP(text)
	}
	return g.urls.Parse(text)
}

// addUpload makes -T's file the body.
func addUpload(o *request.Options, g *prepared, arg *flags.URLArg) error {
	body, err := request.FromUpload(arg.Upload, g.files)
	if err != nil {
		return err
	}
	if g.ContinueFile || g.ContinueAt > 0 {
		// What the server has is not asked for: "-C -" goes on from the start.
		if body, o.ContentRange, err = request.From(body, g.ContinueAt); err != nil {
			return err
		}
	}
	o.Method, o.Body, o.Upload, o.ContentType = methodOf(g.Group, *arg), body, true, ""
	return nil
}

// uploadName is the file name that -T puts at the end of a URL; streams have none.
func uploadName(name string) string {
	if name == "-" || name == "." {
		return ""
	}
	return name
}

// drawsKeys: each operation has an idempotency key of its own.
func (g *prepared) drawsKeys() bool { return g.IdempotencyKey == "auto" }

func (r *run) newKey() string { return r.newUUID(uuid.NewRandomFromReader) }

func authOf(g *prepared, u *request.Authority) request.Auth {
	auth := request.Auth{Bearer: g.Bearer, Lookup: g.lookup, Schemes: schemes(g.Basic, g.Digest), SigV4: g.sigV4}
	switch {
	case g.HasUser:
		auth.HasUser = true
		auth.User, auth.Password = g.user, g.password
	case u.HasUser && g.lookup != nil && !(g.NetrcOptional && u.HasPassword()):
		// .netrc is asked first, for this user; then the URL counts.
	case u.HasUser:
		auth.HasUser, auth.User, auth.Password, auth.OfURL = true, u.User, u.Password, true
	}
	return auth
}

// methodOf is the method that is sent first, by curl's rules.
func methodOf(g *flags.Group, arg flags.URLArg) string {
	switch {
	case g.Method != "":
		return g.Method
	case g.Head:
		return "HEAD"
	case arg.HasUpload:
		return "PUT"
	case len(g.Data) > 0 && !g.Get, len(g.Form) > 0:
		return "POST"
	}
	return "GET"
}

// netrc opens the .netrc file that -n, --netrc-optional or --netrc-file asks for.
func (r *run) netrc(g *flags.Group) (netrcLookup, error) {
	if !g.Netrc && !g.NetrcOptional && g.NetrcFile == "" {
		return nil, nil
	}
	name := cmp.Or(g.NetrcFile, r.env.Getenv("NETRC"))
	if name == "" {
		home := r.env.Getenv("HOME")
		if home == "" {
			return nil, nil // never the current directory's
		}
		name = filepath.Join(home, ".netrc")
	}
	file, err := netrc.Open(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && (g.NetrcFile == "" || g.NetrcOptional) {
			return nil, nil // as if it were empty; one that was named must be there
		}
		err = unreadable(name, err)
		if _, ok := errors.AsType[*request.Error](err); !ok { // what it holds is no .netrc
			err = &request.Error{Class: retry.ClassInput, Code: exitcode.Input, Err: err}
		}
		return nil, err
	}
	return file.Lookup, nil
}

// unreadable says once which file cannot be read, and why.
func unreadable(name string, err error) error {
	var cause error
	var path *fs.PathError
	var tooLarge *bounded.TooLargeError
	switch {
	case errors.As(err, &path):
		cause = path.Err
	case errors.As(err, &tooLarge):
		cause = tooLarge
	default:
		return err
	}
	return &request.Error{Class: retry.ClassInput, Code: exitcode.Input, Err: fmt.Errorf("cannot read %s: %w", render.Text(name), cause)}
}

// writeOutFormat compiles -w's text, "@file" read.
func (r *run) writeOutFormat(arg string) (*writeout.Format, error) {
	text, err := writeout.Load(arg, func(name string) (io.ReadCloser, error) {
		if name == "-" {
			return io.NopCloser(r.env.Stdin), nil
		}
		return os.Open(name)
	})
	if err != nil {
		return nil, unreadable(strings.TrimPrefix(arg, "@"), err)
	}
	return writeout.Parse(text)
}

// newID is the operation's id: a UUID of version 7, which sorts by time.
func (r *run) newID() string { return r.newUUID(uuid.NewV7FromReader) }

// newUUID draws from the injected source; it cannot fail with the system's.
func (r *run) newUUID(draw func(io.Reader) (uuid.UUID, error)) string {
	id, err := draw(r.env.Random)
	if err != nil {
		id = uuid.UUID{}
	}
	return id.String()
}
