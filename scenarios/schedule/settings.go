package schedule

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"stet/sim"
)

// setting is one field of a structure under the name that schedules use: the path of the field in
// lower case, words joined by hyphens and levels by points, as "broker.topic.segment-bytes".
type setting struct {
	name  string
	value reflect.Value
}

// settings lists the fields of the structure that p points to which have a text form: truth values,
// integers, texts, durations and intervals, also those of embedded structures. Others stay as they
// are.
func settings(p any) []setting { return gather(nil, "", reflect.ValueOf(p).Elem()) }

func gather(out []setting, prefix string, v reflect.Value) []setting {
	for i := range v.NumField() {
		f, field := v.Type().Field(i), v.Field(i)
		name := prefix + kebab(f.Name)
		_, interval := field.Interface().(sim.Interval)
		switch k := field.Kind(); {
		case interval || k == reflect.Bool || k == reflect.String || field.CanInt() || field.CanUint():
			out = append(out, setting{name, field})
		case k == reflect.Struct && f.Anonymous:
			out = gather(out, prefix, field)
		case k == reflect.Struct:
			out = gather(out, name+".", field)
		}
	}
	return out
}

// kebab turns InFlight into in-flight and ID into id.
func kebab(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, c := range letters {
		upper := unicode.IsUpper(c)
		if upper && i > 0 && (unicode.IsLower(letters[i-1]) ||
			i+1 < len(letters) && unicode.IsLower(letters[i+1])) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[sim.Time]()
)

// text gives the value of a setting.
func (s setting) text() string {
	v := s.value
	if i, ok := v.Interface().(sim.Interval); ok {
		return span(i.Low) + ".." + span(i.High)
	}
	switch {
	case v.Type() == durationType || v.Type() == timeType:
		return time.Duration(v.Int()).String()
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10)
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool())
	}
	return strconv.Quote(v.String())
}

// set reads a value.
func (s setting) set(text string) error {
	v := s.value
	if _, ok := v.Interface().(sim.Interval); ok {
		low, high, found := strings.Cut(text, "..")
		a, err := parseSpan(low)
		b, err2 := parseSpan(high)
		if !found || err != nil || err2 != nil || a < 0 || a > b {
			return fmt.Errorf("%s=%s: give two times, as 1ms..5ms", s.name, text)
		}
		v.Set(reflect.ValueOf(sim.Interval{Low: a, High: b}))
		return nil
	}
	var err error
	var n int64
	var u uint64
	switch {
	case v.Type() == durationType || v.Type() == timeType:
		var d time.Duration
		if d, err = time.ParseDuration(text); err == nil {
			v.SetInt(int64(d))
		}
	case v.CanInt():
		if n, err = strconv.ParseInt(text, 10, v.Type().Bits()); err == nil {
			v.SetInt(n)
		}
	case v.CanUint():
		if u, err = strconv.ParseUint(text, 10, v.Type().Bits()); err == nil {
			v.SetUint(u)
		}
	case v.Kind() == reflect.Bool:
		var b bool
		if b, err = strconv.ParseBool(text); err == nil {
			v.SetBool(b)
		}
	default:
		var plain string
		if plain, err = strconv.Unquote(text); err == nil {
			v.SetString(plain)
		}
	}
	if err != nil {
		return fmt.Errorf("%s=%s: not a %s", s.name, text, v.Type())
	}
	return nil
}

// describe writes the settings of p as " name=value", without those that base has too, which may
// be nil.
func describe(p, base any) string {
	var b strings.Builder
	var same []setting
	if base != nil {
		same = settings(base)
	}
	for i, s := range settings(p) {
		if same == nil || same[i].text() != s.text() {
			b.WriteString(" " + s.name + "=" + s.text())
		}
	}
	return b.String()
}

// assign reads words "name=value" into the settings of p.
func assign(p any, words []string) error {
	all := settings(p)
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return fmt.Errorf("%q: give name=value", word)
		}
		found := false
		for _, s := range all {
			if s.name == name {
				found = true
				if err := s.set(value); err != nil {
					return err
				}
			}
		}
		if !found {
			return fmt.Errorf("%q: no such setting: there are %s", name, names(all))
		}
	}
	return nil
}

func names(all []setting) string {
	var list []string
	for _, s := range all {
		list = append(list, s.name)
	}
	return strings.Join(list, ", ")
}

func parseSpan(text string) (sim.Time, error) {
	d, err := time.ParseDuration(text)
	return sim.Time(d), err
}
