package render

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func TestMS(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 12204 * time.Microsecond: "12.204", time.Second: "1000", 4350 * time.Microsecond: "4.35", 499: "0", 500: "0.001", -500: "-0.001", -499: "0",
		-1500 * time.Microsecond: "-1.5", math.MaxInt64: "9223372036854.776", math.MinInt64: "-9223372036854.776", 999999500: "1000",
	} {
		b, err := json.Marshal(MS(d))
		if err != nil || string(b) != want {
			t.Errorf("%d: %s, %v, want %s", d, b, err, want)
		}
	}
	for text, want := range map[string]MS{"12.204": 12204000, "4.35": 4350000, "-1.5": -1500000, "1e300": math.MaxInt64, "-1e999": math.MinInt64, "null": 0} {
		var m MS
		if err := json.Unmarshal([]byte(text), &m); err != nil || m != want {
			t.Errorf("%s: %d, %v, want %d", text, m, err, want)
		}
	}
	if err := new(MS).UnmarshalJSON([]byte(`"1"`)); err == nil {
		t.Error("a string was accepted")
	}
}

func FuzzMS(f *testing.F) {
	for _, n := range []int64{0, 1, -1, 999_999, 12_204_000, math.MaxInt64, math.MinInt64} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		b, err := json.Marshal(MS(n))
		if err != nil || !json.Valid(b) {
			t.Fatalf("%d: %s, %v", n, b, err)
		}
		var back MS
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if diff := math.Abs(float64(n) - float64(back)); diff > 500+math.Abs(float64(n))/(1<<51) {
			t.Errorf("%d became %s, %d", n, b, back)
		}
	})
}

func TestTime(t *testing.T) {
	at := Time{time.Date(2026, 7, 15, 12, 0, 0, 123_999_999, time.FixedZone("", 7200))}
	b, err := json.Marshal(at)
	if err != nil || string(b) != `"2026-07-15T10:00:00.123Z"` {
		t.Fatalf("%s, %v", b, err)
	}
	var back Time
	if err := json.Unmarshal(b, &back); err != nil || !back.Equal(at.Truncate(time.Millisecond)) || back.Location() != time.UTC {
		t.Errorf("%v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`"yesterday"`), &back); err == nil {
		t.Error("no error")
	}
	if back.Epoch() != 1784109600.123 {
		t.Error(back.Epoch())
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1: "0µs", time.Microsecond: "1µs", 850 * time.Microsecond: "850µs", 999600 * time.Nanosecond: "1ms", 12204 * time.Microsecond: "12.2ms",
		999600 * time.Microsecond: "1s", 3300 * time.Millisecond: "3.3s", 59960 * time.Millisecond: "1m", 90 * time.Second: "1m30s", time.Hour: "1h",
		59*time.Minute + 59900*time.Millisecond: "1h", 125 * time.Minute: "2h5m", 24 * time.Hour: "1d", 76 * time.Hour: "3d4h", -time.Second: "-1s",
		math.MaxInt64: "106752d", math.MinInt64: "-106752d",
	} {
		if got := Duration(d, false); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
	if got := Duration(time.Microsecond, true); got != "1us" {
		t.Error(got)
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 1 << 20: "1.0 MiB", 1<<20 - 1: "1.0 MiB", 10 << 30: "10.0 GiB", math.MaxInt64: "8.0 EiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
