package kafka

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write the tables of docs/SETTINGS.md anew")

const tablesFrom = "<!-- the tables below are made by go test ./core/kafka -rewrite -->\n"

// TestTheDocumentListsAllSettings compares docs/SETTINGS.md with the tables of this package.
func TestTheDocumentListsAllSettings(t *testing.T) {
	const path = "../../docs/SETTINGS.md"
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	text, tables, found := strings.Cut(string(content), tablesFrom)
	require.True(t, found)
	want := settingTables()
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(text+tablesFrom+want), 0o644))
		return
	}
	require.Equal(t, want, tables)
}

func settingTables() string {
	var out strings.Builder
	out.WriteString("\n## Brokers\n\n| setting | default | changed while it runs |\n|---|---|---|\n")
	for _, s := range BrokerSettings() {
		if s.topic.Name != "" && s.topic.set == nil {
			continue // stands with the topics
		}
		when := "no"
		switch {
		case s.WholeCluster:
			when = "for all brokers"
		case s.Dynamic:
			when = "for all brokers, or for one"
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", s.Name, s.Default, when)
	}
	out.WriteString("\n## Topics\n\n| setting | default | for all topics of a broker | obeyed |\n|---|---|---|---|\n")
	for _, s := range TopicSettings() {
		obeyed := "yes"
		if s.instead != "" {
			obeyed = "only this: Stet " + s.instead
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", s.Name, s.Default, s.BrokerName(), obeyed)
	}
	return out.String()
}
